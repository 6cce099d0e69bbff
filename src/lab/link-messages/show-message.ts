// A message as a person reads it. Pure.
import { decodeText } from '../hl7/charsets.ts'
import { readHl7 } from '../hl7/hl7-message.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'

const JSON_START = /^[\s\uFEFF]*\{/u

/** The text of a message, a line for each segment. Bytes that are not of the character set are never shown as other characters. */
export function showMessage(bytes: Uint8Array, profile: LinkProfile | undefined): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (JSON_START.test(buffer.subarray(0, 100).toString('utf8'))) return buffer.toString('utf8')
  try {
    const message = readHl7(bytes, profile ? { charset: profile.text.charset } : {})
    return decodeText(bytes, message.charset).replaceAll(/\r\n?/gu, '\n').trim()
  } catch (error) {
    return `The message cannot be shown as text: ${(error as Error).message}. Its bytes can be downloaded.`
  }
}
