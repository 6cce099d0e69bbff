// XML as a stream of elements, forgiving and bounded: nothing before the root is read, so that no DTD is parsed and no entity defined;
// characters that XML forbids become spaces; a fault spoils only the element that it is in.
import { SaxesParser } from 'saxes'
import { ReadError } from './reading.ts'
import { TextDecoder } from 'node:util'

/** How much may precede the root: Apple's own DTD takes 10 kB. */
const PROLOG_MAX = 1024 * 1024
/** Characters without the beginning or end of a tag: the parser holds them in memory. */
const PIECE_MAX = 1024 * 1024
const DEPTH_MAX = 64
/** A file with more faults is not XML. */
const FAULTS_MAX = 100_000

export interface XmlHandler {
  /** @param name without its prefix */
  open(name: string, attributes: Record<string, string>): void
  close(name: string): void
  text?(text: string): void
  /** The element that is open has a fault. */
  fault(): void
}

/** A name without its prefix. */
export const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

// oxlint-disable-next-line no-control-regex -- these are the characters that XML forbids
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g

/**
 * Reads a document in its encoding. Errors: ReadError `unknown_format` without the root, `truncated` if the root does not end, `damaged`
 * for what is not XML, `invalid_encoding`.
 * @param root finds the beginning of the root
 */
export async function readXml(
  blocks: AsyncIterable<Uint8Array>,
  root: RegExp,
  handler: XmlHandler,
  drain: () => Promise<void>,
): Promise<void> {
  const parser = new SaxesParser({ xmlns: false, position: false })
  let [depth, faults, isEnded] = [0, 0, false]
  parser.on('error', () => {
    if (isEnded) return
    if (++faults > FAULTS_MAX) throw new ReadError('damaged')
    handler.fault()
  })
  parser.on('opentag', ({ name, attributes }) => {
    if (++depth > DEPTH_MAX) throw new ReadError('damaged')
    handler.open(localName(name), attributes)
  })
  parser.on('closetag', ({ name }) => {
    handler.close(localName(name))
    if (--depth === 0) isEnded = true
  })
  if (handler.text) parser.on('text', (text) => handler.text!(text))

  let prolog: string | undefined = ''
  let piece = 0
  const write = (text: string) => {
    if (prolog !== undefined) {
      prolog += text
      const begin = root.exec(prolog)?.index
      if (begin === undefined) {
        if (prolog.length > PROLOG_MAX) throw new ReadError('unknown_format')
        return
      }
      text = prolog.slice(begin)
      prolog = undefined
    }
    const last = Math.max(text.lastIndexOf('<'), text.lastIndexOf('>'))
    piece = last === -1 ? piece + text.length : text.length - last
    if (piece > PIECE_MAX) throw new ReadError('damaged')
    parser.write(text.replace(FORBIDDEN, ' '))
  }
  for await (const text of textOf(blocks)) {
    if (isEnded) break
    write(text)
    await drain()
  }
  if (prolog !== undefined) throw new ReadError('unknown_format')
  if (!isEnded) throw new ReadError('truncated')
}

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
