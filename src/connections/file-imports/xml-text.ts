// The text of an XML document in the encoding that its first bytes say.
import { TextDecoder } from 'node:util'
import { ReadError } from './reading.ts'

/** Within so many bytes a document declares its encoding. */
const DECLARATION_MAX = 1024
const DECLARATION = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]{1,40})["']/

/**
 * The name of the encoding: of the byte order mark, else of the width of the characters, else the declared one, else UTF-8. A document of
 * single bytes that declares an encoding of two is one in UTF-8: programs write so what they have made as text. ASCII is part of UTF-8.
 * Source: XML 1.0, appendix F.
 */
export function encodingOf(first: Buffer): string {
  const [a = 1, b = 1, c = 1, d = 1] = first
  if ((a === 0xff && b === 0xfe && c === 0 && d === 0) || (a === 0 && b === 0)) return 'utf-32'
  if (a === 0xff && b === 0xfe) return 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  if (b === 0) return c === 0 ? 'utf-32' : 'utf-16le'
  if (a === 0) return 'utf-16be'
  const declared = DECLARATION.exec(first.toString('latin1', 0, DECLARATION_MAX).replace(/^\xef\xbb\xbf/, ''))?.[1]?.toLowerCase()
  const isMark = a === 0xef && b === 0xbb && c === 0xbf
  return declared === undefined || isMark || /^(utf|ucs|iso-10646-ucs)-?(16|32|2|4)|^(us-)?ascii$/.test(declared)
    ? 'utf-8'
    : declared
}

function decoderOf(first: Buffer): TextDecoder {
  try {
    return new TextDecoder(encodingOf(first), { fatal: true })
  } catch {
    throw new ReadError('invalid_encoding')
  }
}

/**
 * The text of blocks of bytes, block by block. A character that the end cuts off is left out. Errors: ReadError `invalid_encoding` for an
 * encoding that is not known, and for bytes that are none of it; what precedes them in the blocks before has been read.
 */
export async function* textOf(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined
  let first: Buffer = Buffer.alloc(0)
  const decode = (bytes: Uint8Array): string => {
    try {
      decoder ??= decoderOf(first)
      return decoder.decode(bytes, { stream: true })
    } catch (error) {
      throw error instanceof ReadError ? error : new ReadError('invalid_encoding')
    }
  }
  let fault: unknown
  try {
    for await (const block of blocks) {
      if (decoder) yield decode(block)
      else {
        first = Buffer.concat([first, block])
        if (first.length >= DECLARATION_MAX) yield decode(first)
      }
    }
  } catch (error) {
    // A short document may end in a fault before its encoding was looked for.
    if (decoder || !(error instanceof ReadError)) throw error
    fault = error
  }
  if (!decoder) yield decode(first)
  if (fault) throw fault
}
