// Messages of HL7 for tests: segments by the numbers of their fields, and messages with results.
import assert from 'node:assert/strict'
import { readMessage } from '../../src/lab/hl7/read-message.ts'
import type { LinkMessage } from '../../src/lab/links/link-message.ts'
import type { ProfileOptions } from '../../src/lab/links/profile/link-profile.ts'
import { profileWith, toProfile } from './link-messages.ts'

/** `OBR|1|4711` of `line('OBR', { 1: '1', 2: '4711' })`. Texts are written as they are. */
export function line(id: string, fields: Record<number, string> = {}): string {
  const count = Math.max(0, ...Object.keys(fields).map(Number))
  return [id, ...Array.from({ length: count }, (_, i) => fields[i + 1] ?? '')].join('|')
}

export const RESULT_HEADER = 'MSH|^~\\&|LIS|LAB|APP|CLINIC|20300104101500-0500||ORU^R01^ORU_R01|C1|P|2.5.1||||||UNICODE UTF-8'
export const RESULT_PATIENT = 'PID|1||77^^^LAB||Samplewoman&&Samplewoman^Testina^Q||19850314|F'
export const RESULT_ORDER = 'ORC|RE|4711|F-1||CM'
export const RESULT_REQUEST = line('OBR', {
  1: '1',
  2: '4711',
  3: 'F-1',
  4: '100^Lipid panel^L',
  7: '20300103083000',
  22: '20300104100000',
  24: 'LAB',
  25: 'F',
})

/** The neutral messages of a text or of bytes. */
export const readLinkMessages = (text: string | Buffer, options: ProfileOptions = {}): LinkMessage[] => {
  const message = readMessage(typeof text === 'string' ? Buffer.from(text) : text, toProfile(profileWith(options)))
  assert(message.kind === 'results')
  return message.messages
}
/** The only neutral message of segments behind a header and a patient. */
export const readLinkMessage = (lines: string[], options: ProfileOptions = {}): LinkMessage => {
  const messages = readLinkMessages([RESULT_HEADER, RESULT_PATIENT, ...lines].join('\r'), options)
  assert.equal(messages.length, 1)
  return messages[0]!
}
