// Reads what a link received, in either format that links have: HL7 version 2, or a LinkMessage as JSON. The first bytes tell which. Pure.
import { readJsonHeader, readJsonMessage, type LinkMessage } from '../links/link-message.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { UnsupportedMessage } from '../links/unreadable-message.ts'
import { splitBatch, type Batch } from './batch.ts'
import { readHl7, type Hl7Message, type ReadOptions } from './hl7-message.ts'
import { readHl7Header } from './message-header.ts'
import { readOrderAnswer, type OrderAnswer } from './order-answer.ts'
import { nameSender, readResults } from './read-results.ts'

/** `results`: results or statuses, a message for each order. `answer`: to a message of ours. */
export type ReadMessage = { kind: 'results'; messages: LinkMessage[] } | { kind: 'answer'; answer: OrderAnswer }

/** Types of messages that links read, by MSH-9.1. */
const resultCodes: readonly string[] = ['ORU', 'OUL', 'ORM', 'OSU']
const answerCodes: readonly string[] = ['ACK', 'ORL', 'ORR']

/**
 * Reads one message, not a batch. Errors: UnsupportedMessage another type; UnreadableMessage a message without a meaning for the link.
 */
export function readMessage(bytes: Uint8Array, profile: LinkProfile): ReadMessage {
  if (isJson(bytes)) return { kind: 'results', messages: [readJsonMessage(bytes)] }
  const message = readHl7(bytes, charsetOptions(profile))
  const code = message.get('MSH-9')
  if (resultCodes.includes(code)) return { kind: 'results', messages: readResults(message, profile) }
  if (answerCodes.includes(code) || (code === 'MCF' && message.find('MSA')))
    return { kind: 'answer', answer: readOrderAnswer(bytes, charsetOptions(profile)) }
  throw new UnsupportedMessage(`Messages of the type ${typeOf(message)} are not supported`)
}

/** A type that is not one of the standard's could be anything. */
function typeOf(message: Hl7Message): string {
  const type = [message.get('MSH-9'), message.get('MSH-9.2')].filter(Boolean).join('^')
  return /^[A-Z]{3}(?:\^[A-Z]\d{2})?$/u.test(type) ? type : 'in MSH-9'
}

/** The messages of what a link received, and what is wrong with a batch. Errors: UnreadableMessage no message, more than 1,000. */
export const splitMessages = (bytes: Uint8Array): Pick<Batch, 'messages' | 'faults'> =>
  isJson(bytes) ? { messages: [Buffer.from(bytes)], faults: [] } : splitBatch(bytes)

/** How the characters of a link's messages are read. */
export const charsetOptions = ({ text }: LinkProfile): ReadOptions => ({
  charset: text.charset,
  ignoresDeclaredCharset: text.ignores_declared_charset,
})

/** Who sent a message, and what it is. */
export interface MessageHeader {
  sender: string
  control_id: string
  /** Such as `ORU^R01`; null if the format has no types. */
  message_type: string | null
}

const ID_LENGTH_MAX = 200
/** In this set every byte is a character. */
const ANY_BYTES = { charset: '8859/1', ignoresDeclaredCharset: true }

/** The sender, the control id and the type of a message; undefined if these cannot be read, whatever the characters of the message. */
export function readHeader(bytes: Uint8Array): MessageHeader | undefined {
  if (isJson(bytes)) {
    const header = readJsonHeader(bytes)
    return header && { ...header, message_type: null }
  }
  for (const options of [{ charset: 'UNICODE UTF-8' }, ANY_BYTES])
    try {
      const { sendingApplication, sendingFacility, controlId, messageCode, triggerEvent } = readHl7Header(bytes, options)
      return {
        sender: nameSender(sendingApplication, sendingFacility),
        control_id: controlId.slice(0, ID_LENGTH_MAX),
        message_type: [messageCode, triggerEvent].filter(Boolean).join('^').slice(0, ID_LENGTH_MAX) || null,
      }
    } catch {
      // Characters of another set, or no header.
    }
  return undefined
}

/** Links get JSON objects, which HL7 never begins as. */
function isJson(bytes: Uint8Array): boolean {
  const start = bytes
    .subarray(0, BLANK_BYTES_MAX)
    .findIndex((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf)
  return bytes[start] === '{'.charCodeAt(0)
}

const BLANK_BYTES_MAX = 10_000
