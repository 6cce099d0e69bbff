// Imports of files: what was uploaded for whom, how far it has been read, and what came of it. Owns the table file_import.
import type { Vault } from '../../platform/crypto/vault.ts'
import { dbNowPlus } from '../../platform/db/leases.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, conflict, invalidField, notFound, payloadTooLarge } from '../../platform/http/errors.ts'
import { defineJob, enqueue } from '../../platform/queue/outbox.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { getUser } from '../../people/users/users.ts'
import { countSkipped, readErrorText, type ReadErrorCode, type Skipped } from './reading.ts'
import { FILE_BYTES_MAX, FileImport, PART_BYTES_MIN, type Counts } from './schema.ts'
import { importKey, newImportKey, storeBytes } from './stored-file.ts'

/** Imports of a team that have not ended. */
const UNFINISHED_MAX = 5
const UPLOAD_S_MAX = 86_400
const KEPT_S = 90 * 86_400
const LISTED = 20
/** Reading takes as long as the file; the thread that reads it has a limit of its own. */
const TIMEOUT_S = 8 * 3600

/**
 * An import has a first turn, which is short, and as many further ones as it needs. A process runs one of each at once, each with a thread, so
 * that a small file waits for first turns only.
 */
export type Phase = 'first' | 'further'

/** Only the next import of a team's phase is queued, so that teams take turns in the order in which their jobs became due. */
const defineTurn = (name: string) =>
  defineJob(name, T.Object({ import_id: T.String() }), { timeout_s: TIMEOUT_S, running_max: 1 })
export const turnJobs = { first: defineTurn('file_imports.run'), further: defineTurn('file_imports.resume') } as const

const isOfPhase = { first: sql`turns = 0`, further: sql`turns > 0` }
const isUnfinished = sql`status in ('queued', 'importing')`

/** What an import has stored of one resource of a provider: the counts, and the range of the data. */
export interface Result extends Counts {
  provider: string
  /** Left out, as reasons for which records are skipped. */
  already_there: number
  paused: number
  oldest_ms: number | null
  newest_ms: number | null
}
/** By provider and resource, with a space between them. */
export type Results = Record<string, Result>

const Row = T.Object({
  ...T.Omit(FileImport, ['accepted', 'created', 'updated', 'dropped', 'resources']).properties,
  results: T.Unsafe<Results>({}),
  skipped: T.Unsafe<Skipped>({}),
  error: Nullable(T.Unsafe<ReadErrorCode>({ type: 'string' })),
})
const importColumns = sql`id, user_id, status, format, received_bytes, progress, results, skipped, error, created_at, finished_at`

const noCounts = (): Counts => ({ accepted: 0, created: 0, updated: 0, dropped: 0 })
export const countNames = Object.keys(noCounts()) as (keyof Counts)[]

function toFileImport({ results, error, ...row }: Static<typeof Row>): FileImport {
  const total = noCounts()
  const resources: Record<string, Counts> = {}
  for (const [key, result] of Object.entries(results)) {
    // The same resource of several providers, in an archive of files of several devices.
    const resource = (resources[key.slice(key.indexOf(' ') + 1)] ??= noCounts())
    for (const name of countNames) {
      total[name] += result[name]
      resource[name] += result[name]
    }
    const name = key.slice(key.indexOf(' ') + 1)
    for (const reason of ['already_there', 'paused'] as const)
      if (result[reason]) countSkipped(row.skipped, reason, name, result[reason])
  }
  const skipped = row.skipped as FileImport['skipped']
  return {
    ...row,
    ...total,
    resources,
    skipped,
    error: error && { code: error, message: readErrorText(error, total.accepted > 0) },
  }
}

/** Shows an import of a user. Errors: 404. */
export async function readImport(tx: Tx, user_id: string, id: string): Promise<FileImport> {
  await getUser(tx, user_id)
  const row = await tx.maybe(
    Row,
    sql`select ${importColumns} from file_import where team_id = ${tx.team} and id = ${id} and user_id = ${user_id}`,
  )
  if (!row) throw notFound('Import not found')
  return toFileImport(row)
}

/** Lists the newest imports of a user, newest first. Errors: 404 unknown user. */
export async function listImports(tx: Tx, user_id: string, limit = LISTED): Promise<{ data: FileImport[] }> {
  await getUser(tx, user_id)
  const rows = await tx.many(
    Row,
    sql`
    select ${importColumns} from file_import where team_id = ${tx.team} and user_id = ${user_id} order by id desc limit ${limit}`,
  )
  return { data: rows.map(toFileImport) }
}

const Count = T.Object({ n: T.Integer() })

function assertPart(bytes: Buffer | undefined, is_last: boolean): Buffer {
  if (!bytes?.length) throw invalidField(['body'], 'must be the bytes of a file')
  if (!is_last && bytes.length < PART_BYTES_MIN)
    throw invalidField(['body'], `must have at least ${PART_BYTES_MIN} bytes, unless it is the last part`)
  return bytes
}

/** Serializes, for a team, the check of the number of its imports and the choice of the next one. */
const lockImports = (tx: Tx): Promise<number> =>
  tx.locking.run(sql`select pg_advisory_xact_lock(hashtextextended(${`file_import ${tx.team}`}, 0))`)

/**
 * Begins an import with the first part of a file, or the whole. Writes file_import, file_import_part; queues the import if the file is whole.
 * Errors: 404 unknown user; 400 with 5 imports of the team that have not ended; 422 a part that is empty or too small.
 */
export async function beginImport(
  tx: Tx,
  vault: Vault,
  user_id: string,
  { file, is_last }: { file: Buffer | undefined; is_last: boolean },
): Promise<FileImport> {
  const bytes = assertPart(file, is_last)
  await getUser(tx, user_id)
  await lockImports(tx)
  const { n } = await tx.one(Count, sql`select count(*) as n from file_import where team_id = ${tx.team} and finished_at is null`)
  if (n >= UNFINISHED_MAX) throw badRequest(`A team has at most ${UNFINISHED_MAX} imports that have not ended`)
  const id = tx.uuid()
  const file_key = newImportKey(vault, id)
  const row = await tx.one(
    Row,
    sql`
    insert into file_import (team_id, id, user_id, status, file_key, received_bytes, created_at, expires_at)
    values (${tx.team}, ${id}, ${user_id}, ${is_last ? 'queued' : 'uploading'}, ${file_key}, ${bytes.length}, ${tx.now},
            case when ${is_last}::boolean then null else ${dbNowPlus(UPLOAD_S_MAX)} end)
    returning ${importColumns}`,
  )
  await storeBytes(tx, importKey(vault, id, file_key), id, 0, bytes)
  if (is_last) await queueIfNext(tx, id)
  return toFileImport(row)
}

const Upload = T.Object({
  status: T.String(),
  received_bytes: T.Integer(),
  last_start: T.Integer(),
  file_key: Nullable(T.String()),
})

/**
 * Adds a part to a file. The last part again succeeds and changes nothing, since its answer may have been lost. Writes file_import,
 * file_import_part; queues the import if the file is whole. Errors: 404; 409 the file is whole, or the part does not begin where the file
 * ends; 413 a file of more than 1 GiB; 422 a part that is empty or too small.
 */
export async function continueImport(
  tx: Tx,
  vault: Vault,
  { user_id, id }: { user_id: string; id: string },
  { file, offset, is_last }: { file: Buffer | undefined; offset: number; is_last: boolean },
): Promise<FileImport> {
  const bytes = assertPart(file, is_last)
  await getUser(tx, user_id)
  const upload = await tx.locking.maybe(
    Upload,
    sql`
    select status, received_bytes, last_start, file_key from file_import
    where team_id = ${tx.team} and id = ${id} and user_id = ${user_id} for update`,
  )
  if (!upload) throw notFound('Import not found')
  const { status, received_bytes, last_start, file_key } = upload
  const isRepeated = offset === last_start && offset + bytes.length === received_bytes && is_last === (status !== 'uploading')
  if (isRepeated) return readImport(tx, user_id, id)
  if (status !== 'uploading' || file_key === null) throw conflict('The file is complete')
  if (offset !== received_bytes) throw conflict(`The next part begins at ${received_bytes}`)
  if (received_bytes + bytes.length > FILE_BYTES_MAX) throw payloadTooLarge('The file is too large')
  await storeBytes(tx, importKey(vault, id, file_key), id, offset, bytes)
  const row = await tx.one(
    Row,
    sql`
    update file_import
    set received_bytes = ${offset + bytes.length}, last_start = ${offset}, status = ${is_last ? 'queued' : 'uploading'},
        expires_at = case when ${is_last}::boolean then null else expires_at end
    where team_id = ${tx.team} and id = ${id}
    returning ${importColumns}`,
  )
  if (is_last) {
    await lockImports(tx)
    await queueIfNext(tx, id)
  }
  return toFileImport(row)
}

const Next = T.Object({ id: T.String() })

const oldestUnfinished = (tx: Tx, phase: Phase) =>
  tx.maybe(
    Next,
    sql`
    select id from file_import
    where team_id = ${tx.team} and ${isUnfinished} and ${isOfPhase[phase]} order by id limit 1`,
  )

/** Queues an import if it is the oldest of its team in its phase; the imports of the team are locked. Writes job. */
async function queueIfNext(tx: Tx, id: string, phase: Phase = 'first'): Promise<void> {
  if ((await oldestUnfinished(tx, phase))?.id === id) enqueue(tx, turnJobs[phase], { import_id: id })
}

/** Queues the oldest import of the team in a phase that has not ended, if there is one. Writes job. */
async function queueNext(tx: Tx, phase: Phase): Promise<void> {
  await lockImports(tx)
  const next = await oldestUnfinished(tx, phase)
  if (next) enqueue(tx, turnJobs[phase], { import_id: next.id })
}

/**
 * Ends the turn of an import that has not ended: its next one comes after those of the teams that wait. Such a turn is not an interruption. After
 * a first turn the next import of the team has its own. Writes file_import, job.
 */
export async function endTurn(tx: Tx, id: string, phase: Phase): Promise<void> {
  await lockImports(tx)
  const ended = await tx.run(sql`
    update file_import set turns = turns + 1, attempts = 0
    where team_id = ${tx.team} and id = ${id} and ${isUnfinished} and ${isOfPhase[phase]}`)
  if (!ended) return
  await queueIfNext(tx, id, 'further')
  if (phase === 'first') await queueNext(tx, phase)
}

/** Ends an import and queues the next one of the team in its phase. Writes file_import, job. */
export async function endImport(
  tx: Tx,
  id: string,
  phase: Phase,
  end: { status: 'completed' | 'partial' | 'failed'; error: ReadErrorCode | null; skipped: Skipped; progress: number },
): Promise<void> {
  await lockImports(tx)
  await tx.run(sql`
    update file_import
    set status = ${end.status}, error = ${end.error}, skipped = ${JSON.stringify(end.skipped)}::jsonb, progress = ${end.progress},
        file_key = null, finished_at = ${tx.now}, expires_at = ${dbNowPlus(KEPT_S)}
    where team_id = ${tx.team} and id = ${id} and finished_at is null`)
  await queueNext(tx, phase)
}

const Claimed = T.Object({
  user_id: T.String(),
  file_key: Nullable(T.String()),
  received_bytes: T.Integer(),
  attempts: T.Integer(),
  batches: T.Integer(),
  results: T.Unsafe<Results>({}),
  reader: Nullable(T.String()),
  created_at: T.String(),
  turns: T.Integer(),
  is_behind: T.Boolean(),
})
export type ClaimedImport = Static<typeof Claimed>

/**
 * Claims an import for a turn, if it is the oldest of its team in this phase that has not ended: a team has one of each at a time. An import
 * that another version of the program has begun starts again from the beginning, with its counts, since its batches may be others.
 * `is_behind`: an older import of the same user has not ended; the two would write the same rows. Writes file_import.
 * @returns undefined if it must not be read now: then the end of the one before queues it again
 */
export async function claimImport(tx: Tx, id: string, phase: Phase, reader: string): Promise<ClaimedImport | undefined> {
  await lockImports(tx)
  const older = (condition: Sql) => sql`
    exists (select from file_import o where o.team_id = ${tx.team} and o.${isUnfinished} and o.id < f.id and o.${condition})`
  return tx.maybe(
    Claimed,
    sql`
    update file_import f
    set status = 'importing', attempts = attempts + 1, reader = ${reader},
        batches = case when reader = ${reader} then batches else 0 end,
        results = case when reader = ${reader} then results else '{}' end
    where team_id = ${tx.team} and id = ${id} and ${isUnfinished} and ${isOfPhase[phase]} and not ${older(isOfPhase[phase])}
    returning user_id, file_key, received_bytes, attempts, batches, results, reader, created_at, turns,
      ${older(sql`user_id = f.user_id`)} as is_behind`,
  )
}

/** What a batch has changed. */
export interface BatchState {
  batches: number
  results: Results
  skipped: Skipped
  format: string | null
  progress: number
}

/**
 * Records a batch, in its transaction; an import that makes progress may be interrupted again. Writes file_import.
 * @returns false if the import is no more there, or another process has recorded the batch
 */
export const recordBatch = async (tx: Tx, id: string, state: BatchState): Promise<boolean> =>
  (await tx.run(sql`
    update file_import
    set batches = ${state.batches}, attempts = 0, results = ${JSON.stringify(state.results)}::jsonb,
        skipped = ${JSON.stringify(state.skipped)}::jsonb, format = ${state.format}, progress = ${state.progress}
    where team_id = ${tx.team} and id = ${id} and status = 'importing' and batches = ${state.batches - 1}`)) === 1

/** Erases the imports of a user, with their files; the next one of the team is queued. Writes file_import, job; parts go with their import. */
export async function eraseImports(tx: Tx, user_id: string): Promise<void> {
  const erased = await tx.run(sql`delete from file_import where team_id = ${tx.team} and user_id = ${user_id}`)
  if (!erased) return
  await queueNext(tx, 'first')
  await queueNext(tx, 'further')
}
