// Text of bytes that come from outside. `Buffer.toString` and `TextDecoder` replace what is not UTF-8 by U+FFFD, so that two texts become
// one; here each text has its own bytes.
import { isUtf8 } from 'node:buffer'

/** A byte that is not UTF-8 is this half of a surrogate pair, plus the byte. Python calls it surrogateescape (PEP 383). */
const HALF = 0xdc00
const NOT_ASCII = /[\x80-\xff]+/g

/**
 * The text of bytes in UTF-8. A byte that is not UTF-8 becomes half a surrogate pair, U+DC80 to U+DCFF, which every check of texts
 * (`isWellFormed`) refuses. A byte order mark stays.
 */
export function decodeUtf8(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return isUtf8(buffer) ? buffer.toString('utf8') : textOfLatin1(buffer.toString('latin1'))
}

/** The same for bytes that a reader holds as text, one character for each byte. */
export const textOfLatin1 = (latin1: string): string => latin1.replace(NOT_ASCII, textOfRun)

/** The bytes of a text that `decodeUtf8` returns. */
export function encodeUtf8(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text, 'utf8')
  const parts = text.split(/([\uDC80-\uDCFF])/u)
  return Buffer.concat(parts.map((part, i) => (i % 2 ? Buffer.of(part.charCodeAt(0) - HALF) : Buffer.from(part, 'utf8'))))
}

/** Whether a form or a query names bytes, by `%XX`, that are not UTF-8. */
export const hasForeignEscapes = (text: string): boolean =>
  (text.match(/(?:%[\da-f]{2})+/gi) ?? []).some((run) => !isUtf8(Buffer.from(run.replaceAll('%', ''), 'hex')))

/** Text of bytes from 0x80 on: their characters, and half a surrogate pair for each invalid byte. */
function textOfRun(run: string): string {
  const bytes = Buffer.from(run, 'latin1')
  if (isUtf8(bytes)) return bytes.toString('utf8')
  let text = ''
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at]!
    const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
    const character = bytes.subarray(at, at + length)
    const isCharacter = character.length === length && isUtf8(character)
    text += isCharacter ? character.toString('utf8') : String.fromCharCode(HALF + first)
    at += isCharacter ? length : 1
  }
  return text
}
