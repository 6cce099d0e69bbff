// Files and frames with several messages: FHS, BHS, messages, BTS, FTS. The bytes are cut before any of them is decoded, so that one message that
// cannot be read does not stop the others. Source: HL7 version 2.5.1, 2.10.3. Pure.
import { decodeText, detectUnicode } from './charsets.ts'
import { UnreadableMessage } from '../links/unreadable-message.ts'

/** Most messages of one batch. */
const BATCH_MESSAGES_MAX = 1000

export interface Batch {
  /** Each from its MSH on. */
  messages: Buffer[]
  /** Whether there are batch headers, or several messages. */
  isBatch: boolean
  /** What is wrong with the batch itself, such as counts that differ. The messages are whole all the same. */
  faults: string[]
}

/** What begins a part: a batch header, a message, a batch trailer. */
const PART_IDS = new Set(['MSH', 'FHS', 'BHS', 'BTS', 'FTS'])

interface Part {
  id: string
  bytes: Buffer
}

/**
 * The messages of bytes; one that is no batch is its only one. Errors: UnreadableMessage bytes that begin with neither a header nor a batch header, more
 * than 1,000 messages.
 */
export function splitBatch(bytes: Uint8Array): Batch {
  const parts = splitParts(toAsciiBased(bytes))
  const messages = parts.filter(({ id }) => id === 'MSH')
  if (parts.length === 0 || (parts[0]!.id !== 'MSH' && messages.length === 0))
    throw new UnreadableMessage(parts.length === 0 ? 'The message does not begin with a header' : 'The batch contains no message')
  if (messages.length > BATCH_MESSAGES_MAX)
    throw new UnreadableMessage(`The batch has ${messages.length} messages, more than ${BATCH_MESSAGES_MAX}`)
  return { messages: messages.map((part) => part.bytes), isBatch: parts.length > 1, faults: findFaults(parts) }
}

/** Forms of Unicode with zeros become UTF-8, in which ends of lines are single bytes. */
function toAsciiBased(bytes: Uint8Array): Buffer {
  const unicode = detectUnicode(bytes)
  if (unicode === undefined) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Buffer.from(`\uFEFF${decodeText(bytes, unicode)}`, 'utf8')
}

const MARK = Buffer.from('\uFEFF', 'utf8')

function splitParts(bytes: Buffer): Part[] {
  const hasMark = bytes.subarray(0, MARK.length).equals(MARK)
  const starts = findStarts(bytes, hasMark ? MARK.length : 0)
  return starts.map((start, i) => {
    const part = bytes.subarray(start, starts[i + 1] ?? bytes.length)
    const id = part.subarray(0, 3).toString('latin1')
    // Every message of a text with a mark must still show that it is UTF-8.
    return { id, bytes: hasMark && id === 'MSH' ? Buffer.concat([MARK, part]) : part }
  })
}

/** Positions of segments that begin a part. */
function findStarts(bytes: Buffer, begin: number): number[] {
  let position = begin
  while (position < bytes.length && bytes[position]! <= 0x20) position++
  const field = bytes[position + 3]
  const isPart = (start: number): boolean =>
    PART_IDS.has(bytes.subarray(start, start + 3).toString('latin1')) && bytes[start + 3] === field
  if (!isPart(position)) return []
  const starts = [position]
  for (const [first, end] of [
    [CR, LF],
    [LF, CR],
  ] as const) {
    for (let at = bytes.indexOf(first, position); at >= 0; at = bytes.indexOf(first, at + 1)) {
      const start = bytes[at + 1] === end ? at + 2 : at + 1
      if (isPart(start)) starts.push(start)
    }
  }
  return [...new Set(starts)].sort((a, b) => a - b)
}

const CR = 0x0d
const LF = 0x0a

/** Counts of BTS-1 and FTS-1 against what came, and trailers that are absent, because then the end of a file may be absent. */
function findFaults(parts: Part[]): string[] {
  const count = (id: string) => parts.filter((part) => part.id === id).length
  const faults: string[] = []
  const trailers = { BHS: 'BTS', FHS: 'FTS' } as const
  for (const [header, trailer] of Object.entries(trailers))
    if (count(header) !== count(trailer))
      faults.push(`${count(header)} ${header} and ${count(trailer)} ${trailer}: the file may be incomplete`)
  let messages = 0
  for (const part of parts) {
    if (part.id === 'BHS') messages = 0
    if (part.id === 'MSH') messages++
    if (part.id === 'BTS') faults.push(...compareCount(part, messages, 'messages'))
    if (part.id === 'FTS') faults.push(...compareCount(part, Math.max(count('BHS'), count('BTS')), 'batches'))
  }
  return faults
}

function compareCount({ id, bytes }: Part, count: number, things: string): string[] {
  const text = /^[^\r\n]*/u.exec(bytes.toString('latin1'))![0]
  const announced = text.split(text.charAt(3))[1]?.trim() ?? ''
  return announced === '' || Number(announced) === count
    ? []
    : [`${id}-1 announces ${/^\d{1,9}$/u.test(announced) ? announced : 'an invalid number of'} ${things}, and ${count} came`]
}
