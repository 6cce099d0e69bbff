// What a laboratory answers to an order message: ACK, ORL^O22 or ORR^O02. Source: HL7 version 2.5.1, 2.9.2, 4.4.4, 4.4.7; table 0119. Pure.
import { UnreadableMessage } from '../links/unreadable-message.ts'
import { readHl7, type Hl7Message, type Hl7Segment, type ReadOptions } from './hl7-message.ts'
import type { AcknowledgmentCode } from './acknowledgment.ts'

export interface OrderAnswer {
  code: AcknowledgmentCode
  /** The control id of the message that is answered. */
  control_id: string
  /** What the laboratory says of the message as a whole, in lines; may contain patient data. */
  text: string | null
  /** None in an acknowledgment. */
  orders: AnsweredOrder[]
}

interface AnsweredOrder {
  /** ORC-1 by table 0119: `OK`, `UA` unable to accept, `CR` cancelled as requested, `UC` unable to cancel, `XR` and `UX` for changes. */
  control: string
  placer: string
  filler: string
  group: string
  /** The laboratory's numbers of specimens. */
  accessions: string[]
  /** ORC-5 by table 0038. */
  status: string
  /** What the laboratory says of this order, in lines. */
  text: string | null
}

const CODES: readonly string[] = ['AA', 'AE', 'AR', 'CA', 'CE', 'CR'] satisfies AcknowledgmentCode[]

/** Reads an answer. Errors: UnreadableMessage no message, no MSA, or a code that table 0008 lacks. */
export const readOrderAnswer = (bytes: Uint8Array, options: ReadOptions = {}): OrderAnswer =>
  toOrderAnswer(readHl7(bytes, options))

/** The answer that a message is. Errors: as `readOrderAnswer`. */
export function toOrderAnswer(message: Hl7Message): OrderAnswer {
  const msa = message.find('MSA')
  const code = msa?.get(1).toUpperCase() ?? ''
  if (!msa || !CODES.includes(code)) throw new UnreadableMessage('The answer has no acknowledgment code')
  const groups = orderGroups(message)
  const head = message.segments.slice(0, groups[0] ? message.segments.indexOf(groups[0][0]!) : undefined)
  return {
    code: code as AcknowledgmentCode,
    control_id: msa.text(2),
    text: linesOf([msa.get(3), ...head.flatMap(errorTexts)]),
    orders: groups.map(readOrder),
  }
}

/**
 * Each ORC with the segments up to the next one. In ORL^O22 a specimen is before its orders: if one is before the first order, each is of the
 * orders behind it, else of the one before it.
 */
function orderGroups({ segments }: Hl7Message): Hl7Segment[][] {
  const groups: Hl7Segment[][] = []
  const first = segments.find(({ id }) => id === 'ORC' || id === 'SPM')
  let specimen: Hl7Segment[] = []
  for (const segment of segments)
    if (segment.id === 'SPM' && first?.id === 'SPM') specimen = [segment]
    else if (segment.id === 'ORC') groups.push([segment, ...specimen])
    else groups.at(-1)?.push(segment)
  return groups
}

function readOrder(group: Hl7Segment[]): AnsweredOrder {
  const orc = group[0]!
  const obr = group.find(({ id }) => id === 'OBR')
  const specimens = group.filter(({ id }) => id === 'SPM').map((spm) => spm.get(2, 2))
  return {
    control: orc.get(1).toUpperCase(),
    placer: orc.get(2) || (obr?.get(2) ?? ''),
    filler: orc.get(3) || (obr?.get(3) ?? ''),
    group: orc.get(4),
    accessions: [...new Set(specimens.filter((number) => number !== ''))],
    status: orc.get(5).toUpperCase(),
    text: linesOf([orc.get(16, 2) || orc.get(16), ...group.flatMap(errorTexts)]),
  }
}

/** The texts of an ERR, by version 2.5 or the older form, and of an NTE. */
function errorTexts(segment: Hl7Segment): string[] {
  if (segment.id === 'NTE') return segment.texts(3)
  if (segment.id !== 'ERR') return []
  const place = [1, 2, 3].map((component) => segment.get(2, component)).filter((part) => part !== '')
  const texts = [segment.get(8), segment.get(7), segment.get(5, 2), segment.get(3, 2) || segment.get(3)]
  const said = texts.find((text) => text !== '') ?? segment.get(1, 4, { subcomponent: 2 })
  return said === '' ? [] : [place.length > 0 ? `${place.join('-')}: ${said}` : said]
}

const LENGTH_MAX = 2000

function linesOf(texts: string[]): string | null {
  const lines = [...new Set(texts.map((text) => text.trim()).filter((text) => text !== ''))]
  return lines.join('\n').slice(0, LENGTH_MAX) || null
}
