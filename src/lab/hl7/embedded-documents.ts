// Documents within messages: in observations of the type ED, as texts in Base64, or in segments ZEF; in one piece or several. Source: HL7 version
// 2.5.1, 2.A.24. Pure.
import type { LinkDocument } from '../links/link-message.ts'
import { UnreadableMessage } from '../links/unreadable-message.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import type { Hl7Segment } from './hl7-message.ts'

const VALUE = 5
/** Most repetitions of one field. */
const PIECES_MAX = 10_000
const TEXT_TYPES = new Set(['ST', 'TX', 'FT', ''])

/** A piece of a document. */
export interface DocumentPiece {
  /** Of the observation. */
  code: string
  name: string
  type: string
  content: string
  /** The number and the code of the test that it is below. */
  filler?: string
  test?: string
  /** Of an observation that points to a document elsewhere, or with an encoding that is not known: there is no content. */
  isAbsent: boolean
}

/** Whether an observation contains a document by its type, its code or its text. */
export function isDocument(segment: Hl7Segment, { results }: LinkProfile): boolean {
  const type = segment.get(2)
  if (type === 'ED' || type === 'RP') return true
  if (!TEXT_TYPES.has(type)) return false
  return results.document_codes.includes(segment.get(3).trim()) || (results.documents === 'ST' && isPdfText(segment.raw(VALUE)))
}

/** A PDF in Base64 begins so. */
const PDF_START = 'JVBER'
const isPdfText = (text: string): boolean => text.startsWith(PDF_START) || text.trimStart().startsWith(PDF_START)

/** The pieces of an observation that is a document; usually one. */
export function readDocumentPieces(segment: Hl7Segment, names: { code: string; name: string }): DocumentPiece[] {
  if (segment.get(2) === 'RP') return [{ ...names, type: segment.get(VALUE, 3) || 'RP', content: '', isAbsent: true }]
  if (segment.get(2) !== 'ED') {
    const content = segment.texts(VALUE).join('').replaceAll(/\s/gu, '')
    return [{ ...names, type: isPdfText(content) ? 'PDF' : '', content, isAbsent: content === '' }]
  }
  const count = segment.rawRepetitions(VALUE).length
  if (count > PIECES_MAX) throw new UnreadableMessage(`OBX-5 of line ${segment.number} has more than ${PIECES_MAX} repetitions`)
  return segment.repetitions(VALUE).map((components) => ({ ...names, ...readEncapsulated(components) }))
}

type Content = Pick<DocumentPiece, 'type' | 'content' | 'isAbsent'>

/** Source, type, subtype, encoding, data. Some senders leave out one of the first three. */
function readEncapsulated(components: string[]): Content {
  const encodingAt = components.findIndex((text) => /^(?:base64|hex|a)$/iu.test(text))
  const last = components.at(-1) ?? ''
  const type = (components.slice(0, encodingAt < 0 ? -1 : encodingAt).findLast((text) => text !== '') ?? '').toUpperCase()
  if (encodingAt < 0) return isPdfText(last) ? { type, content: last, isAbsent: false } : { type, content: '', isAbsent: true }
  const encoding = components[encodingAt]!.toLowerCase()
  const data = components.slice(encodingAt + 1).join('')
  const content = encoding === 'base64' ? data : Buffer.from(data, encoding === 'hex' ? 'hex' : 'utf8').toString('base64')
  return { type, content, isAbsent: content === '' }
}

/** A segment ZEF: its number, and a PDF in Base64. */
export const readZefPiece = (segment: Hl7Segment): DocumentPiece => {
  const content = segment.texts(2).join('').replaceAll(/\s/gu, '')
  return { code: 'ZEF', name: '', type: 'PDF', content, isAbsent: content === '' }
}

/**
 * The documents of pieces that follow each other. A piece continues the document before it if both have the same code and it does not itself begin a
 * PDF.
 */
export function joinPieces(pieces: readonly DocumentPiece[]): LinkDocument[] {
  const groups: DocumentPiece[][] = []
  for (const piece of pieces) {
    const group = groups.at(-1)
    const continues = group !== undefined && isOfSameReport(group[0]!, piece) && !isPdfText(piece.content) && !piece.isAbsent
    if (continues) group.push(piece)
    else groups.push([piece])
  }
  return groups.map(([first, ...rest]) => {
    const { code, name, type, filler, test } = first!
    const report = { ...(filler && { filler }), ...(test && { test }) }
    return { ...report, code, name, type: type || 'PDF', content: joinBase64([first!, ...rest].map(({ content }) => content)) }
  })
}

const isOfSameReport = (a: DocumentPiece, b: DocumentPiece): boolean =>
  (['code', 'filler', 'test'] as const).every((field) => a[field] === b[field])

/** One text that was cut, or texts that were encoded each by itself. */
function joinBase64(texts: string[]): string {
  if (texts.length === 1) return texts[0]!
  const isEachWhole = texts.slice(0, -1).some((text) => text.endsWith('='))
  return isEachWhole ? Buffer.concat(texts.map((text) => Buffer.from(text, 'base64'))).toString('base64') : texts.join('')
}
