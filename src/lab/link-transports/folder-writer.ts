// Writes messages to a folder of a laboratory: under a name that ends with `.tmp`, then renamed, so that the laboratory never reads half a file.
// A message has one name, so that repeating a write after a crash makes no second file.
import { createHash } from 'node:crypto'
import type { LinkProfile } from '../links/profile/link-profile.ts'
import { writeWhole, type FileStore } from './file-store.ts'

/** The ends of segments: CR by the standard, or what the laboratory reads. */
const CR = 0x0d
const LINE_ENDS: Record<LinkProfile['text']['line_end'], number[]> = { CR: [CR], CRLF: [CR, 0x0a], LF: [0x0a] }

/** Writes a message. Errors: FolderError the folder is missing, full or not writable. */
export async function writeMessageFile(
  store: FileStore,
  folder: string,
  { control_id, bytes }: { control_id: string; bytes: Uint8Array },
): Promise<void> {
  const path = `${folder}/${fileName(control_id)}`
  const existing = await store.stat(path)
  if (existing?.bytes === bytes.length) return
  await writeWhole(store, path, bytes)
}

/** A control id as the name of a file. Other characters than those of names are replaced, and a digest keeps such names apart. */
function fileName(control_id: string): string {
  if (/^[\w-]{1,100}$/u.test(control_id)) return `${control_id}.hl7`
  const digest = createHash('sha256').update(control_id).digest('hex').slice(0, 16)
  return `${control_id.replaceAll(/[^\w-]/gu, '_').slice(0, 60)}-${digest}.hl7`
}

/** A message with other ends of its segments. In all character sets of messages to laboratories the byte of CR means nothing else. */
export function withLineEnds(bytes: Uint8Array, line_end: LinkProfile['text']['line_end']): Uint8Array {
  if (line_end === 'CR') return bytes
  const result: number[] = []
  for (const byte of bytes)
    if (byte === CR) result.push(...LINE_ENDS[line_end])
    else result.push(byte)
  return Uint8Array.from(result)
}
