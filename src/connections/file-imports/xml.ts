// XML as a stream of elements, forgiving and bounded: nothing before the root is read, so that no DTD is parsed and no entity defined;
// characters that XML forbids become spaces; a fault spoils only the element that it is in.
import { SaxesParser } from 'saxes'
import { ReadError } from './reading.ts'
import { textOf } from './xml-text.ts'

/** How much may precede the root: Apple's own DTD takes 10 kB. */
const PROLOG_MAX = 1024 * 1024
/** Characters without the beginning or end of a tag: the parser holds them in memory. */
const PIECE_MAX = 1024 * 1024
const DEPTH_MAX = 64
/** A file with more faults is no XML. */
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
 * for what is no XML, `invalid_encoding`.
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
