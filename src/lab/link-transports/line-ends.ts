// The ends of segments in files: CR by the standard, or what the laboratory reads. Pure.
import type { LinkProfile } from '../links/profile/link-profile.ts'

const CR = 0x0d
const LINE_ENDS: Record<LinkProfile['text']['line_end'], number[]> = { CR: [CR], CRLF: [CR, 0x0a], LF: [0x0a] }

/** A message with other ends of its segments. In all character sets of messages to laboratories the byte of CR means nothing else. */
export function withLineEnds(bytes: Uint8Array, line_end: LinkProfile['text']['line_end']): Uint8Array {
  if (line_end === 'CR') return bytes
  const result: number[] = []
  for (const byte of bytes)
    if (byte === CR) result.push(...LINE_ENDS[line_end])
    else result.push(byte)
  return Uint8Array.from(result)
}
