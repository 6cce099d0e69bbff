// A message as a person reads it. Pure.
import { describeMessage } from '../hl7/describe-message.ts'
import type { LinkProfile } from '../links/profile/link-profile.ts'

const JSON_START = /^[\s\uFEFF]*\{/u

/** The text of a message: JSON as it is, HL7 with its segments and fields named. */
export function showMessage(bytes: Uint8Array, profile: LinkProfile | undefined): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (JSON_START.test(buffer.subarray(0, 100).toString('utf8'))) return buffer.toString('utf8')
  const { charset, ignores_declared_charset: ignoresDeclaredCharset } = profile?.text ?? {}
  return describeMessage(bytes, {
    ...(charset !== undefined && { charset }),
    ...(ignoresDeclaredCharset !== undefined && { ignoresDeclaredCharset }),
  })
}
