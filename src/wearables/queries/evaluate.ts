// Evaluating a continuous query for a user: the buckets of the days that changed are computed again, and what is new or different in the
// result is reported and exported. Source: users-wearables.md 15.1, 15.2 Q3, Q8; events.md 4.9, 5.
import { getUser, type UserIdentity } from '../../people/users/users.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { defineHandler, emit, type JobContext } from '../../platform/queue/outbox.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { periodOf, TooManyRows, type Row } from './align.ts'
import { addPeriods, floatingMs, truncate } from './buckets.ts'
import { compileQuery, dataTypeOf, tableOf, type CompiledQuery } from './compile.ts'
import type { Period, Query } from './query-language.ts'
import { isEvaluated, changedRows, rowKey, lockStored, readQuery, type StoredQuery } from './stored-results.ts'
import { exportChanges } from './export-results.ts'
import { ATTEMPTS_MAX, beginTask, endTask, evaluateQuery, scheduleUsers, startQuery } from './query-tasks.ts'
import { BASELINE_DAYS } from './readiness.ts'
import { chunksDuring } from './source-rows.ts'
import { alignResult, columnsOf, columnwise, limitTime, preferredProviders, queryRows, rowsMax } from './run-query.ts'
import { EARLIEST_MS, LATEST_MS, type Span } from './timeframe.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

/** Deadline of one statement. */
const TIMEOUT_MS = 20_000
/** Days of a timeseries that one statement reads. */
const PIECE_DAYS = 31
/** The smallest limit of a destination is 1 MiB; the rest of an event takes less than 2 kB. */
const EVENT_BYTES_MAX = 1024 * 1024 - 4096

/** The whole buckets that hold some days, and the buckets that depend on them. */
function findBuckets(query: Query, period: Period, { from_day, to_day }: { from_day: string; to_day: string }): Span {
  const later_ms = tableOf(query) === 'derived_readiness' ? BASELINE_DAYS * DAY_MS : 0
  const clamp = (ms: number) => Math.min(LATEST_MS, Math.max(EARLIEST_MS, ms))
  const last = truncate(Date.parse(`${to_day}T23:59:59Z`) + later_ms, period)
  return {
    from_ms: clamp(truncate(Date.parse(`${from_day}T00:00:00Z`), period)),
    to_ms: clamp(truncate(addPeriods(last, period, 1), period)),
  }
}

const Extent = T.Object({ first: Nullable(T.String()), last: Nullable(T.String()) })

/** Parts of a span that one statement reads each, the newest first. They end where buckets end. */
async function findPieces(tx: Tx, user_id: string, query: Query, period: Period, span: Span): Promise<Span[]> {
  const table = tableOf(query)
  if (typeof table !== 'object') return [span]
  const { first, last } = await tx.one(
    Extent,
    sql`select min(c.hour) as first, max(c.hour) as last from ${chunksDuring(table.timeseries, { team: tx.team, user_id }, span)}`,
  )
  if (first === null || last === null) return []
  const from_ms = Math.max(span.from_ms, truncate(Date.parse(first) - DAY_MS, period))
  const to_ms = Math.min(span.to_ms, Date.parse(last) + 2 * DAY_MS)
  const pieces: Span[] = []
  for (let at = from_ms; at < to_ms;) {
    const end = Math.min(span.to_ms, truncate(addPeriods(truncate(at + PIECE_DAYS * DAY_MS, period), period, 1), period))
    pieces.push({ from_ms: at, to_ms: end })
    at = end
  }
  return pieces.toReversed()
}

/**
 * Evaluates a query over some days and stores its result. Writes query_result. Emits continuous_query.result_table.changed.
 * @param isCurrent whether the query applies to the team; if not, its result only loses the rows of these days that have no data any more
 */
async function evaluate(
  tx: Tx,
  user: UserIdentity,
  storedQuery: StoredQuery,
  days: { from_day: string; to_day: string },
  isCurrent: boolean,
): Promise<void> {
  const { user_id } = user
  const { id: query_id, query, provider_priority_overrides } = storedQuery
  const period = periodOf(query.group_by!)!
  const rows_max = rowsMax(columnsOf(query))
  const providers = await preferredProviders(tx, dataTypeOf(query), provider_priority_overrides)
  await limitTime(tx, TIMEOUT_MS)
  const before = await lockStored(tx, user_id, query_id, isCurrent)
  const span = findBuckets(query, period, days)
  const compiled = compileQuery(query, { team: tx.team, user_id, span, providers, rows_max })
  const bucket = compiled.keys.find(({ isTruncated }) => isTruncated)!.position
  const bucketMs = (row: Row) => floatingMs(row[bucket] as string)
  const found: Row[] = []
  for (const piece of await findPieces(tx, user_id, query, period, span)) {
    const { rows } = await queryRows(tx, query, { user_id, span: piece, providers, rows_max, newestFirst: true })
    found.push(...rows)
    if (found.length > rows_max) break
  }
  const foundKeys = new Set(found.map((row) => rowKey(compiled, row)))
  const isKept = (row: Row) =>
    bucketMs(row) < span.from_ms || bucketMs(row) >= span.to_ms || (!isCurrent && foundKeys.has(rowKey(compiled, row)))
  const computed = [...before.computed.filter(isKept), ...(isCurrent ? found : [])]
    .toSorted((a, b) => bucketMs(a) - bucketMs(b))
    .slice(-rows_max)
  const shown = fill(query, compiled, computed, isCurrent ? tx.now.getTime() : before.evaluated_ms, rows_max)
  await tx.run(sql`
    update query_result set computed = ${JSON.stringify(computed)}, shown = ${JSON.stringify(shown)}
    where team_id = ${tx.team} and user_id = ${user_id} and query_id = ${query_id}`)
  if (!isCurrent) return
  if (storedQuery.data_events) emitChanges(tx, user, storedQuery, compiled, before.shown, shown)
  if (storedQuery.fhir_observations) await exportChanges(tx, user_id, storedQuery, compiled, before.computed, computed)
}

/** Fills gaps; the older half of the rows is left out as long as there would be too many. */
function fill(query: Query, compiledQuery: CompiledQuery, computedRows: Row[], now_ms: number, rows_max: number): Row[] {
  try {
    return alignResult(query, compiledQuery, computedRows, now_ms, rows_max)
  } catch (error) {
    if (!(error instanceof TooManyRows)) throw error
    if (computedRows.length < 2) throw badRequest(`Filling the gaps makes more than ${rows_max} rows`)
    return fill(query, compiledQuery, computedRows.slice(Math.ceil(computedRows.length / 2)), now_ms, rows_max)
  }
}

/** Emits the rows that are new or have another value. */
function emitChanges(
  tx: Tx,
  { user_id, client_user_id }: UserIdentity,
  { id: query_id, slug: query_slug }: StoredQuery,
  compiledQuery: CompiledQuery,
  previousRows: Row[],
  newRows: Row[],
): void {
  let batch: Row[] = []
  let bytes = 0
  const send = () => {
    const data = JSON.stringify([{ query_id, query_slug, data: columnwise(compiledQuery.columns, batch) }])
    emit(tx, { type: 'continuous_query.result_table.changed', object_id: query_id, user_id, client_user_id, data })
    batch = []
    bytes = 0
  }
  for (const row of changedRows(compiledQuery, previousRows, newRows)) {
    const size = Buffer.byteLength(JSON.stringify(row))
    if (batch.length && bytes + size > EVENT_BYTES_MAX) send()
    batch.push(row)
    bytes += size
  }
  if (batch.length) send()
}

const isUnavailable = (error: unknown): boolean => error instanceof Problem && error.status === 503

const GIVEN_UP = `The evaluation failed ${ATTEMPTS_MAX} times. The next one computes its days as well.`

async function runTask(context: JobContext, payload: { task_id: string; user_id: string; query_id: string }): Promise<void> {
  const { user_id, query_id } = payload
  // In a transaction of its own: what is committed before it ends is read by the next one, and what comes later makes a new task.
  const days = await context.tx((tx) => beginTask(tx, payload))
  if (!days) return
  const endFailed = () => context.tx((tx) => endTask(tx, payload, 'error', GIVEN_UP))
  // The last attempt ended with its process, or at its deadline.
  if (days.attempts > ATTEMPTS_MAX) return void (await endFailed())
  try {
    await context.tx(async (tx) => {
      const query = await readQuery(tx, query_id)
      if (!query) return void (await endTask(tx, payload, 'skipped'))
      const isCurrent = await isEvaluated(tx, query_id)
      await evaluate(tx, await getUser(tx, user_id), query, days, isCurrent)
      await endTask(tx, payload, isCurrent ? 'completed' : 'skipped')
    })
  } catch (error) {
    if (!(error instanceof Problem) || isUnavailable(error)) {
      if (days.attempts === ATTEMPTS_MAX) await endFailed()
      throw error
    }
    // The user is deleted, or the query exceeds a limit: trying again would not help.
    const [status, details] =
      error.status === 404
        ? (['skipped', null] as const)
        : (['error', String((error.body as { detail: unknown }).detail)] as const)
    await context.tx((tx) => endTask(tx, payload, status, details))
  }
}

export const handlers = [
  defineHandler(evaluateQuery, runTask),
  defineHandler(startQuery, (context, { query_id, after }) => context.tx((tx) => scheduleUsers(tx, query_id, after))),
]
