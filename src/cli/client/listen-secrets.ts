// The signing secrets of `listen`, one for each team key and address that events are forwarded to, so that a receiver is configured once.
// They are in the data folder, in a file that only its owner can read.
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newSecret } from '../../events/endpoints/signature.ts'
import { matchesSchema, T } from '../../platform/schema/schema.ts'

const Kept = T.Array(T.Object({ listener: T.String(), secret: T.String() }))
/** The secrets that were used last are kept. */
const KEPT_MAX = 100

/**
 * The secret for events of a team that are forwarded to an address; it is the same in every run. Without a data folder it is a new one.
 * Writes listen.json of the data folder.
 */
export function keptSecret(dataDir: string, { key, forward_to }: { key: string; forward_to: string }): string {
  if (!existsSync(dataDir)) return newSecret()
  const listener = createHash('sha256').update(`${key} ${forward_to}`).digest('hex')
  const path = join(dataDir, 'listen.json')
  const kept = readKept(path)
  const secret = kept.find((entry) => entry.listener === listener)?.secret ?? newSecret()
  const others = kept.filter((entry) => entry.listener !== listener)
  writeFileSync(`${path}.new`, `${JSON.stringify([{ listener, secret }, ...others].slice(0, KEPT_MAX), null, 2)}\n`, {
    mode: 0o600,
  })
  chmodSync(`${path}.new`, 0o600)
  renameSync(`${path}.new`, path)
  return secret
}

function readKept(path: string) {
  try {
    const kept: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return matchesSchema(Kept, kept) ? kept : []
  } catch {
    return []
  }
}
