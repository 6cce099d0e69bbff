// Parts of every message of the simulated laboratory. Pure.
import type { MessageHeader } from '../../lab/hl7/message-header.ts'
import type { Hl7Fields } from '../../lab/hl7/writer.ts'

export interface MessageContext {
  controlId: string
  /** As HL7 writes times, with an offset: `20300102081500+0000`. */
  time: string
}

/** `20300102081500+0000`. */
export const toHl7Time = (time: Date): string => `${time.toISOString().slice(0, 19).replaceAll(/[-:T]/gu, '')}+0000`

/** MSH of a message to the sender of an order, in its version. */
export const headerSegment = (header: MessageHeader, type: readonly string[], { controlId, time }: MessageContext): Hl7Fields => [
  'MSH',
  toName(header.receivingApplication, header),
  toName(header.receivingFacility, header),
  toName(header.sendingApplication, header),
  toName(header.sendingFacility, header),
  time,
  undefined,
  type,
  controlId,
  header.processingId || 'T',
  header.version || '2.5.1',
  undefined,
  undefined,
  undefined,
  undefined,
  undefined,
  'UNICODE UTF-8',
]

const toName = (text: string, { delimiters: { component } }: MessageHeader): string | string[] =>
  component && text.includes(component) ? text.split(component) : text
