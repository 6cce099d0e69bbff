// Writes messages to a folder of a laboratory: under a name that ends with `.tmp`, then renamed, so that the laboratory never reads half a file.
// A message has one name, so that repeating a write after a crash makes no second file.
import { createHash } from 'node:crypto'
import { writeWhole, type FileStore } from './file-store.ts'

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
