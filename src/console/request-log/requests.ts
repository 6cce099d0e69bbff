// The requests of a team, as its people look through them.
import { cleanup } from '../../platform/queue/retention.ts'
import { joinConditions, sql, type Sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { invalidField, notFound } from '../../platform/http/errors.ts'
import { Pages, uuidKey } from '../../platform/http/list-pages.ts'
import { addSeconds, iso, minUuidAt, wireTime } from '../../platform/runtime/clock.ts'
import { DAY_S } from '../../platform/runtime/durations.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { COUNT_STEP_S } from './recorder.ts'
import { LoggedTeamRequest, type Outcome, type RequestCountQuery, type RequestCounts, type RequestQuery } from './schema.ts'

const COUNTS_RETENTION_S = 30 * DAY_S

/** Deletes requests after some days, and their counts after 30. Deletes from request_log and request_count. */
export const requestCleanups = (days: number) => [
  cleanup({ table: 'request_log', column: 'at', retention_s: days * DAY_S }),
  cleanup({ table: 'request_count', column: 'bucket_start', retention_s: COUNTS_RETENTION_S }),
]

const Row = T.Object({ row_id: T.String(), ...LoggedTeamRequest.properties })

const columns = sql`
  r.id as row_id, request_id as id, date_trunc('second', r.at) as at, method, path, operation, status, duration_ms, key_id, member_id, error`

function toWire({ row_id: _id, ...request }: Static<typeof Row>): LoggedTeamRequest {
  return { ...request, duration_ms: Math.round(request.duration_ms * 10) / 10 }
}

/** A page of the team's requests, newest first. Errors: 400 a cursor of another list. */
export async function listRequests(tx: Tx, query: RequestQuery) {
  const { limit: _, next_cursor: __, ...filters } = query
  const list = `requests ${tx.team} ${JSON.stringify(Object.entries(filters).toSorted())}`
  // Not `id`, which is the id of the response in the result.
  const pages = new Pages(list, query, [uuidKey(sql`r.id`)])
  const rows = await tx.many(
    Row,
    sql`
    select ${columns} from request_log r
    where team_id = ${tx.team} and ${joinConditions([pages.afterCursor, ...filterConditions(query)])} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ row_id }) => [row_id])
  return { data: page.map(toWire), next_cursor }
}

function filterConditions({ operation, method, outcome, status, key, member, since, until }: RequestQuery): Sql[] {
  const conditions: Sql[] = []
  if (operation?.length) conditions.push(sql`operation = any (${operation})`)
  if (method !== undefined) conditions.push(sql`method = ${method}`)
  if (outcome !== undefined) conditions.push(isOutcome[outcome])
  if (status !== undefined) conditions.push(status >= 400 ? sql`status = ${status} and status >= 400` : sql`status = ${status}`)
  if (key !== undefined) conditions.push(sql`key_id = ${key}`)
  if (member !== undefined) conditions.push(sql`member_id::text = ${member.toLowerCase()}`)
  if (since !== undefined) conditions.push(sql`r.id >= ${minUuidAt(new Date(since))}::uuid`)
  if (until !== undefined) conditions.push(sql`r.id < ${minUuidAt(new Date(until))}::uuid`)
  return conditions
}

/** An index has the errors. */
const isOutcome: Record<Outcome, Sql> = {
  success: sql`status < 400`,
  client_error: sql`status >= 400 and status < 500`,
  server_error: sql`status >= 400 and status >= 500`,
}

/** A request by the id that its response had. Errors: 404 unknown, of another team, or no longer stored. */
export async function getRequest(tx: Tx, request_id: string): Promise<LoggedTeamRequest> {
  const row = await tx.maybe(
    Row,
    sql`select ${columns} from request_log r where team_id = ${tx.team} and request_id = ${request_id} order by r.id desc limit 1`,
  )
  if (!row) throw notFound('Request not found')
  return toWire(row)
}

const STEPS_S = [COUNT_STEP_S, 900, 3600, 6 * 3600, DAY_S]
const INTERVALS_MAX = 288

const Bucket = T.Object({ at_s: T.Integer(), outcome: T.String(), n: T.Integer(), duration_ms: T.Number() })

/**
 * The number of requests over time, at most 288 intervals; the last day if the request names no time. Errors: 422 a span that ends before it
 * begins, or of more than 30 days.
 */
export async function countRequests(tx: Tx, { since, until }: RequestCountQuery): Promise<RequestCounts> {
  const now = addSeconds(tx.now, -tx.tenant.clock_offset_s)
  const end = until === undefined ? now : new Date(until)
  const start = since === undefined ? addSeconds(end, -DAY_S) : new Date(since)
  const span_s = (end.getTime() - start.getTime()) / 1000
  if (span_s < 0) throw invalidField(['query', 'until'], 'must not be before since')
  if (span_s > COUNTS_RETENTION_S) throw invalidField(['query', 'since'], 'must be at most 30 days before until')
  const step_s = STEPS_S.find((step) => span_s / step < INTERVALS_MAX) ?? DAY_S
  const floor = (date: Date) => Math.floor(date.getTime() / 1000 / step_s) * step_s
  const buckets = await tx.many(
    Bucket,
    sql`
    select floor(extract(epoch from bucket_start) / ${step_s}::int)::bigint * ${step_s}::int as at_s, outcome, sum(requests)::bigint as n,
           sum(duration_ms) as duration_ms
    from request_count where team_id = ${tx.team} and bucket_start >= ${iso(new Date(floor(start) * 1000))} and bucket_start <= ${iso(end)}
    group by 1, 2`,
  )
  const data: RequestCounts['data'] = []
  for (let at_s = floor(start); at_s <= floor(end); at_s += step_s) {
    const own = buckets.filter((bucket) => bucket.at_s === at_s)
    const countOf = (outcome: Outcome) => own.find((bucket) => bucket.outcome === outcome)?.n ?? 0
    const total = own.reduce((sum, { n }) => sum + n, 0)
    const duration_ms = own.reduce((sum, bucket) => sum + bucket.duration_ms, 0)
    data.push({
      at: wireTime(at_s * 1000),
      success: countOf('success'),
      client_error: countOf('client_error'),
      server_error: countOf('server_error'),
      mean_duration_ms: total ? Math.round((duration_ms / total) * 10) / 10 : null,
    })
  }
  return { step_s, data }
}
