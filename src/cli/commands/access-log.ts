// The access log by command: export it for an archive or an auditor, and verify it.
import { ALL_CELLS, UsageError, type Call } from '../command-tree.ts'
import { cellWord, chosenCells, optionalId, requireCell, whenLogged } from '../command-input.ts'
import { leaveCommand } from '../../platform/access-log/access-line.ts'
import { exportLines, verifyLog, type Verification } from '../../platform/access-log/access-archive.ts'
import type { Position } from '../../platform/access-log/log-days.ts'
import { StorageUnavailable } from '../../platform/stored-files/file-storage.ts'
import { openStorages } from '../../platform/stored-files/open-storages.ts'
import { StoredFiles } from '../../platform/stored-files/stored-files.ts'
import { appendLines } from '../../platform/access-log/access-log.ts'
import { recordCheck } from '../../tenancy/audit/log-check.ts'
import { FormatError, formats } from '../../platform/schema/formats.ts'

/**
 * `access-log export`. Writes access_line: the log records the export, too. The output is printed in pieces; the next one is produced after
 * the reader has read the one before. Errors: LogFileFault, `StorageUnavailable` for a file of archived days.
 */
export async function exportLog(
  call: Call<{ cell?: string; from?: string; until?: string; user?: string; team?: string }>,
): Promise<string> {
  const { values, write } = call
  const { db } = requireCell(call)
  const user = optionalId(values.user, '--user')
  const team = optionalId(values.team, '--team')
  const selection = { firstDay: day(values.from, '--from'), lastDay: day(values.until, '--until'), user, team }
  const about = { ...(team !== undefined && { team }), ...(user !== undefined && { users: [user] }) }
  await whenLogged(
    db,
    db.plainTx(async (tx) => leaveCommand(tx, { actor: call.actor, operation: 'access-log export' }, about)),
  )
  const files = storedFilesOf(call)
  try {
    for await (const text of exportLines(db, files, selection)) await write(text)
  } finally {
    await files.close()
  }
  return ''
}

const storedFilesOf = ({ config }: Call): StoredFiles =>
  new StoredFiles({ kind: () => config.report_storage, storages: () => openStorages(config) })

function day(text: string | undefined, name: string): string | undefined {
  if (text !== undefined && formats.date!(text) instanceof FormatError)
    throw new UsageError(`${name} must be a day like 2026-01-31.`)
  return text
}

function position(text: string): Position {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text) ?? []
  if (!seq || !hash) throw new UsageError('--known must be the number of a line and its hash, with a colon between them.')
  return { seq: Number(seq), hash: hash.toLowerCase() }
}

/**
 * `access-log verify`. Writes access_log_check, unless only some days are checked and intact. Errors: Error with the first invalid line or
 * file of each cell whose log has been changed, and with the cells whose files cannot be read.
 */
export async function verify(call: Call<{ cell?: string; from?: string; known?: string[] }>): Promise<string> {
  const known = (call.values.known ?? []).map(position)
  if (known.length && cellWord(call) === ALL_CELLS) throw new UsageError('--known needs one cell: each has a log of its own.')
  const firstDay = day(call.values.from, '--from')
  const broken: string[] = []
  const unread: string[] = []
  const files = storedFilesOf(call)
  try {
    for (const { name, db } of chosenCells(call)) {
      await appendLines(db)
      const verification = await verifyLog(db, files, known, firstDay).catch(returnIfUnread)
      if (verification instanceof StorageUnavailable) {
        unread.push(`${name}: ${verification.message}`)
        continue
      }
      const { fault } = verification
      // A check of some days does not replace what a check of all has found.
      if (firstDay === undefined || fault !== undefined) await recordCheck(db.queries, verification)
      if (fault !== undefined) broken.push(`${name}: ${fault}`)
      else await call.write(`${name}  ${describeIntact(verification)}\n`)
    }
  } finally {
    await files.close()
  }
  const problems = [
    ...(broken.length ? [`The access log has been changed. ${broken.join('; ')}.`] : []),
    ...(unread.length ? [`Files of the access log cannot be read, so it is not checked. ${unread.join('; ')}.`] : []),
  ]
  if (problems.length) throw new Error(problems.join(' '))
  return ''
}

function returnIfUnread(error: unknown): StorageUnavailable {
  if (error instanceof StorageUnavailable) return error
  throw error
}

const describeIntact = ({ lines, oldestDay, head }: Verification): string =>
  `${lines} lines${oldestDay === null ? '' : ` since ${oldestDay}`}, none changed; the last is ${head.seq}:${head.hash}`
