// Messages that answer others. Pure.
import { readHl7, type Hl7Message } from '../hl7/hl7-message.ts'
import { readHl7Header, type MessageHeader } from '../hl7/message-header.ts'

/** MSH-9.1 of messages whose meaning is an answer. Results with an MSA are results. */
const ANSWER_CODES = new Set(['ACK', 'ORL', 'ORR', 'MCF'])
/** In this set every byte is a character; control ids are ASCII. */
const ANY_BYTES = { charset: '8859/1', ignoresDeclaredCharset: true }

/** Whether a message may be an answer. */
export const hasAnswerCode = ({ messageCode }: MessageHeader): boolean => ANSWER_CODES.has(messageCode)

/** The control id of the message that a message answers, MSA-2; undefined if it is no answer, or none that can be read. */
export function answeredId(bytes: Uint8Array): string | undefined {
  let message: Hl7Message
  try {
    if (!hasAnswerCode(readHl7Header(bytes, ANY_BYTES))) return undefined
    message = readHl7(bytes, ANY_BYTES)
  } catch {
    return undefined
  }
  // No message of ours has a control id with NUL.
  return message.find('MSA')?.get(2).replaceAll('\0', '') || undefined
}
