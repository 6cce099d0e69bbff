// When continuous queries are evaluated: tasks for a query and a user, and their history. Owns query_task. Source: users-wearables.md 15.1.
import { addSeconds } from '../../platform/runtime/clock.ts'
import { notFound } from '../../platform/http/errors.ts'
import { hasFeature } from '../../platform/http/feature-flags.ts'
import { instantKey, Pages, uuidKey } from '../../platform/http/list-pages.ts'
import { raw, sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { defineJob, enqueue } from '../../platform/queue/outbox.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { getUser } from '../../people/users/users.ts'
import type { Resource } from '../resources/resources.ts'
import { continuousQueries } from './features.ts'
import { Task } from './schema.ts'
import { EARLIEST_MS, LATEST_MS } from './timeframe.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

/** Between two evaluations of a query for one user, in seconds. */
const GAP_S = 1800
/** Posts come in bursts: an evaluation waits for the rest of one. */
const BURST_S = 30

/** Attempts to evaluate a task. */
export const ATTEMPTS_MAX = 8

/** Evaluates a query for a user. The task limits the attempts, and so that it always ends, the job is retried until it completes. */
export const evaluateQuery = defineJob(
  'queries.evaluate',
  T.Object({ task_id: T.String(), user_id: T.String(), query_id: T.String() }),
  { attempts_max: Infinity, timeout_s: 120 },
)
/** Has a new query evaluated for all users who have data that it reads. */
export const startQuery = defineJob('queries.start', T.Object({ query_id: T.String(), after: T.String() }))

/** The local days that changed, both included; null: all. */
export type ChangedDays = { from_ms: number; to_ms: number } | null

/** A query, and what decides when it is evaluated. */
export const ActiveQuery = T.Object({
  id: T.String(),
  resource_dependencies: T.Array(T.String()),
  minimum_gap_duration_second: Nullable(T.Integer()),
})
export type ActiveQuery = Static<typeof ActiveQuery>

/** The key of a team's cached queries. */
export const ACTIVE_QUERIES = 'active continuous queries'

/** The queries that apply to the team: its own, and those of its organization whose slug no active one of its own has. */
export const activeQueries = (tx: Tx) => (): Promise<ActiveQuery[]> =>
  tx.many(
    ActiveQuery,
    sql`
    select q.id, q.resource_dependencies, q.minimum_gap_duration_second from continuous_query q
    where q.org_id = ${tx.tenant.org} and (q.team_id = ${tx.team} or q.team_id is null) and q.status = 'active'
      and (q.team_id is not null or not exists (
        select from continuous_query own where own.team_id = ${tx.team} and own.slug = q.slug and own.status = 'active'))
    order by q.id`,
  )

const Scheduled = T.Object({ id: T.String(), query_id: T.String(), user_id: T.String(), scheduled_at: T.String() })

const dayText = (ms: number): string => new Date(Math.min(LATEST_MS, Math.max(EARLIEST_MS, ms))).toISOString().slice(0, 10)

/**
 * Schedules the evaluation of every query of the team that reads a resource of a user. A task that already waits gets the days added, and
 * stays locked until this transaction ends, so that no evaluation begins that would miss what this transaction writes. Teams without
 * queries cost one cached look-up. Writes query_task, job.
 */
export async function scheduleEvaluations(tx: Tx, user_id: string, resource: Resource, days: ChangedDays): Promise<void> {
  if (!hasFeature(tx.tenant, continuousQueries)) return
  const queries = await tx.readCached(ACTIVE_QUERIES, activeQueries(tx))
  const concerned = queries?.filter(({ resource_dependencies }) => resource_dependencies.includes(resource)) ?? []
  await scheduleTasks(
    tx,
    concerned.map((query) => ({ user_id, query, days })),
  )
}

/** What is to be evaluated: at most one for a query and user. */
export interface Evaluation {
  user_id: string
  query: ActiveQuery
  days: ChangedDays
}

/** Schedules evaluations, or extends the days of waiting ones. Writes query_task, job. */
export async function scheduleTasks(tx: Tx, evaluations: readonly Evaluation[]): Promise<void> {
  if (!evaluations.length) return
  const given = evaluations.map(({ user_id, query, days }) => {
    const { from_ms, to_ms } = days ?? { from_ms: EARLIEST_MS, to_ms: LATEST_MS }
    const [from_day, to_day] = [dayText(from_ms - DAY_MS), dayText(to_ms + DAY_MS)]
    const gap_s = Math.max(GAP_S, query.minimum_gap_duration_second ?? GAP_S)
    return { user_id, query_id: query.id, id: tx.uuid(), gap_s, from_day, to_day }
  })
  const rows = await tx.locking.many(
    Scheduled,
    sql`
    insert into query_task (team_id, user_id, query_id, id, status, scheduled_at, from_day, to_day)
    select ${tx.team}, g.user_id, g.query_id, g.id, 'scheduled', greatest(${addSeconds(tx.now, BURST_S)}::timestamptz, (
        select max(t.started_at) from query_task t
        where t.team_id = ${tx.team} and t.user_id = g.user_id and t.query_id = g.query_id) + make_interval(secs => g.gap_s)),
      g.from_day, g.to_day
    from jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
      as g (user_id uuid, query_id uuid, id uuid, gap_s integer, from_day date, to_day date)
    order by g.user_id, g.query_id
    on conflict (team_id, user_id, query_id) where status = 'scheduled' do update
    set from_day = least(query_task.from_day, excluded.from_day), to_day = greatest(query_task.to_day, excluded.to_day)
    returning id, query_id, user_id, scheduled_at`,
  )
  const made = new Set(given.map(({ id }) => id))
  for (const { id: task_id, query_id, user_id, scheduled_at } of rows)
    if (made.has(task_id)) enqueue(tx, evaluateQuery, { task_id, user_id, query_id }, new Date(scheduled_at))
}

const START_PAGE = 200
const NO_USER = '00000000-0000-0000-0000-000000000000'
const UserRow = T.Object({ user_id: T.String() })

/** Has a query evaluated for the users of the team who have its data. Writes job. */
export const startEvaluations = (tx: Tx, query_id: string): void => enqueue(tx, startQuery, { query_id, after: NO_USER })

/** Has every query that applies to the team evaluated for all users who have its data. Writes job. */
export async function restartEvaluations(tx: Tx): Promise<void> {
  if (!hasFeature(tx.tenant, continuousQueries)) return
  for (const { id } of await activeQueries(tx)()) startEvaluations(tx, id)
}

/** Schedules the evaluation of a query for the next users after one, over all their data. Writes query_task, job. */
export async function scheduleUsers(tx: Tx, query_id: string, last_user_id: string): Promise<void> {
  const query = (await activeQueries(tx)()).find(({ id }) => id === query_id)
  if (!query) return
  const users = await tx.many(
    UserRow,
    sql`
    select distinct user_id from resource_state
    where team_id = ${tx.team} and user_id > ${last_user_id}::uuid and resource = any (${query.resource_dependencies}::text[])
    order by user_id limit ${START_PAGE}`,
  )
  if (!users.length) return
  const ids = users.map(({ user_id }) => user_id)
  await scheduleTasks(
    tx,
    ids.map((user_id) => ({ user_id, query, days: null })),
  )
  if (ids.length === START_PAGE) enqueue(tx, startQuery, { query_id, after: ids.at(-1)! })
}

const Started = T.Object({ from_day: T.String(), to_day: T.String(), attempts: T.Integer() })

/**
 * Begins a task, or begins it again after an attempt that was interrupted; undefined if it has ended or was erased. Its days include those of
 * tasks that have used all of their attempts since the last task that completed. Writes query_task.
 */
export function beginTask(
  tx: Tx,
  { user_id, task_id, query_id }: { user_id: string; task_id: string; query_id: string },
): Promise<Static<typeof Started> | undefined> {
  const ofQuery = sql`team_id = ${tx.team} and user_id = ${user_id} and query_id = ${query_id}`
  return tx.locking.maybe(
    Started,
    sql`
    update query_task t set status = 'started', started_at = ${tx.now}, attempts = t.attempts + 1,
      from_day = least(t.from_day, f.from_day), to_day = greatest(t.to_day, f.to_day)
    from (
      select min(from_day) as from_day, max(to_day) as to_day from query_task
      where ${ofQuery} and status = 'error' and attempts >= ${ATTEMPTS_MAX} and started_at >= coalesce(
        (select max(started_at) from query_task where ${ofQuery} and status = 'completed'), '-infinity')) f
    where t.team_id = ${tx.team} and t.user_id = ${user_id} and t.query_id = ${query_id} and t.id = ${task_id}
      and t.status in ('scheduled', 'started')
    returning t.from_day, t.to_day, t.attempts`,
  )
}

/** Ends a task. Writes query_task. */
export const endTask = (
  tx: Tx,
  { user_id, task_id }: { user_id: string; task_id: string },
  status: 'completed' | 'error' | 'skipped',
  error_details: string | null = null,
): Promise<number> =>
  tx.run(sql`
    update query_task set status = ${status}, ended_at = ${tx.now}, error_details = ${error_details}
    where team_id = ${tx.team} and user_id = ${user_id} and id = ${task_id}`)

const QueryId = T.Object({ id: T.String() })

/** A query that applies to the team, by id or slug; an archived one if none of the slug is active. Errors: 404 */
export async function findQuery(tx: Tx, id_or_slug: string): Promise<string> {
  const row = await tx.maybe(
    QueryId,
    sql`
    select id from continuous_query where org_id = ${tx.tenant.org} and (team_id = ${tx.team} or team_id is null)
      and (id::text = ${id_or_slug.toLowerCase()} or slug = ${id_or_slug})
    order by slug = ${id_or_slug}, status <> 'active', team_id is null limit 1`,
  )
  if (!row) throw notFound('Continuous query not found')
  return row.id
}

/** Lists the tasks of a query for a user, newest first. Errors: 400 a cursor of another list; 404 unknown user or query. */
export async function listTasks(
  tx: Tx,
  { user_id, query_id_or_slug }: { user_id: string; query_id_or_slug: string },
  query: { next_cursor?: string | undefined; limit?: number | undefined },
) {
  await getUser(tx, user_id)
  const query_id = await findQuery(tx, query_id_or_slug)
  const pages = new Pages(`query tasks ${user_id} ${query_id}`, query, [instantKey(raw('scheduled_at')), uuidKey(raw('id'))])
  const rows = await tx.many(
    T.Object({ id: T.String(), ...Task.properties }),
    sql`
    select id, query_id, user_id, status, scheduled_at, started_at, ended_at, error_details from query_task
    where team_id = ${tx.team} and user_id = ${user_id} and query_id = ${query_id} and ${pages.afterCursor} ${pages.order}`,
  )
  const { page, next_cursor } = pages.cut(rows, ({ scheduled_at, id }) => [scheduled_at, id])
  return { data: page.map(({ id: _id, ...shown }) => shown), next_cursor }
}
