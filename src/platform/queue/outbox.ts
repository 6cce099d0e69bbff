// The outbox of a transaction: events, which are reported to the team, and jobs, which run after the commit. Both commit with
// the rows of the transaction or not at all.
import type { Static, TSchema } from 'typebox'
import { systemNow, addSeconds } from '../runtime/clock.ts'
import { DAY_S } from '../runtime/durations.ts'
import { yieldIfLong } from '../runtime/loop-work.ts'
import type { PlainTx, Queries, Tenant, Tx } from '../db/transaction.ts'
import { hookPoint } from '../db/hooks.ts'
import { dbNow, dbNowPlus } from '../db/leases.ts'
import { T } from '../schema/schema.ts'
import { arrayLiteral, join, sql, type Sql } from '../db/sql.ts'
import { runByTeam } from './by-team.ts'

export interface Event {
  /** The type as on the wire, `labtest.order.updated`. */
  type: string
  /** The object of the event; events are listed by it. */
  object_id: string
  /** The user of the event; null if the user is not known. */
  user_id: string | null
  client_user_id: string | null
  /** The payload, as JSON text. */
  data: string
  /**
   * The event reports a record from before its connection was created. Only pipelines that request historical events receive
   * it.
   */
  historical?: boolean
}

/**
 * Types of events that expire: of health data and connections, which the API has. Events of orders, results and reports stay as they are,
 * as proof of what was sent.
 */
const EXPIRING_TYPES = /^(daily|historical|raw|continuous_query|provider)\./
/** For how long an event that expires is listed: as long as deliveries are. Source: events.md 6.7. */
const EVENT_RETENTION_S = 30 * DAY_S

/**
 * Appends an event. The whole body is serialized now and stored as text: every delivery sends the same bytes. A body without a
 * user has no user field. Writes event, event_body.
 * Source: events.md 1.1.
 */
export function emit(tx: Tx, event: Event): void {
  const { data } = event
  const user =
    event.user_id === null ? '' : `,"user_id":"${event.user_id}","client_user_id":${JSON.stringify(event.client_user_id)}`
  const before = `{"event_type":${JSON.stringify(event.type)},"data":`
  const after = `,"team_id":"${tx.team}"${user}}`
  const id = tx.uuid()
  const body = `${before}${data}${after}`
  const isExpiring = EXPIRING_TYPES.test(event.type)
  tx.deferBatched({ ...event, id, body: isExpiring ? null : body }, insertEvents)
  if (isExpiring) tx.deferBatched({ id, body }, insertBodies)
  enqueueFanOut(tx, id)
}

/** How much of the bodies one statement stores: a few milliseconds. */
const STATEMENT_LENGTH = 4 * 1024 * 1024

/** Emits any number of events, in slices. Their bodies are sent some megabytes at a time. Writes event, event_body. */
export async function emitEach(tx: Tx, events: Iterable<Event> | AsyncIterable<Event>): Promise<void> {
  let length = 0
  for await (const event of events) {
    const turn = yieldIfLong()
    if (turn) await turn
    emit(tx, event)
    length += event.data.length
    if (length < STATEMENT_LENGTH) continue
    await tx.sendBatched(insertBodies)
    length = 0
  }
}

/** One statement for all events of a transaction: its parts are planned and run one by one. */
const insertEvents = (tx: Tx, events: (Event & { id: string; body: string | null })[]): Sql => {
  const rows = events.map(
    ({ id, type, object_id, user_id, body, historical = false }) =>
      sql`(${id}, ${tx.team}, ${type}, ${object_id}, ${user_id}::uuid, ${tx.now}, ${body}::text, ${historical},
           ${dbNow} + make_interval(secs => ${body === null ? EVENT_RETENTION_S : null}::float8))`,
  )
  return sql`
    insert into event (id, team_id, type, object_id, user_id, created_at, body, historical, expires_at) values ${join(rows, ', ')}`
}

const insertBodies = (tx: Tx, bodies: { id: string; body: string }[]): Sql => sql`
  insert into event_body (team_id, event_id, retained_from, body)
  values ${join(
    bodies.map(({ id, body }) => sql`(${tx.team}, ${id}, ${dbNow}, ${body})`),
    ', ',
  )}`

/**
 * An expression: the body of an event `e`; null: it has been deleted.
 * @param team_id of the event; an expression where events of several teams are read
 */
export const eventBody = (team_id: string | Sql): Sql => sql`
  coalesce(e.body, (select b.body from event_body b where b.team_id = ${team_id} and b.event_id = e.id))`

/**
 * Inserts one outbox entry for all events of a transaction if the team is subscribed. A new subscription covers what commits
 * after it.
 */
function enqueueFanOut(tx: Tx, event_id: string): void {
  tx.deferBatched(event_id, insertOutboxEntry)
  tx.notifyDelivery()
}

/** A team stays subscribed: if it is known to be, the statement need not look. */
const insertOutboxEntry = (tx: Tx, event_ids: string[]): Sql =>
  tx.tenant.has_subscribed
    ? sql`insert into event_outbox (team_id, event_ids) values (${tx.team}, ${arrayLiteral(event_ids)}::uuid[])`
    : sql`
      insert into event_outbox (team_id, event_ids)
      select team_id, ${event_ids}::uuid[] from event_subscribed_team where team_id = ${tx.team}`

/**
 * Subscribes the team: from now on its events get outbox entries, permanently. It has, or had, a receiver. Writes
 * event_subscribed_team.
 */
export const subscribeTeam = (tx: Queries, team_id: string): Promise<number> =>
  tx.run(sql`insert into event_subscribed_team (team_id) values (${team_id}) on conflict (team_id) do nothing`)

/** Whether a team is subscribed. */
export const isSubscribed = (team_id: string): Sql => sql`exists (select from event_subscribed_team where team_id = ${team_id})`

const TeamId = T.Object({ team_id: T.String() })
const TeamWithEntries = T.Object({ team_id: T.String(), n: T.Integer() })
const WaitingEntry = T.Object({ id: T.Integer(), team_id: T.String(), events: T.Integer(), position: T.Integer() })
type WaitingEntry = Static<typeof WaitingEntry>
const OutboxEntry = T.Object({ id: T.Integer(), team_id: T.String(), event_ids: T.Array(T.String()) })

/** Factor by which more outbox entries are read than considered, so that a team can use what others leave of their shares. */
const READ_PER_LOOKED_AT = 4

/** Number of entries that are read to find their teams. */
const FEW_ENTRIES = 1000

/** The limits of one round; the oldest outbox entry is taken in any case. */
export interface Portion {
  /** Outbox entries considered: the first of each team, then the second of each, and so on. */
  entries: number
  events: number
  /** Deliveries: each event counts as often as its team weighs. The last outbox entry may exceed this limit. */
  deliveries: number
}

/**
 * Takes outbox entries. It considers the oldest entries of every team, so that the backlog of one team does not hide those of
 * others. The entries of a team are taken in the order of their numbers. Across teams, entries with fewer deliveries, counted
 * together with earlier entries of the same team, come first, so that no team waits behind the whole backlog of another. The
 * entries are deleted when the transaction commits. Writes event_outbox.
 * One transaction at a time takes entries in a cell, so that deliveries keep that order; a second one gets none.
 * @param weigh the number of deliveries for an event of each of these teams
 * @returns the entries taken, and whether there are more
 */
export async function takeOutboxEntries(
  tx: PlainTx,
  limits: Portion,
  weigh: (teams: string[]) => Promise<ReadonlyMap<string, number>>,
): Promise<{ entries: { team_id: string; event_ids: string[] }[]; isMore: boolean }> {
  const { locked } = await tx.locking.one(
    T.Object({ locked: T.Boolean() }),
    sql`select pg_try_advisory_xact_lock(hashtextextended('event_outbox ' || current_schema(), 0)) as locked`,
  )
  if (!locked) return { entries: [], isMore: false }
  const teams = await listTeamsWithEntries(tx)
  // Each entry has an event.
  const entries_max = Math.max(1, Math.min(limits.entries, limits.events))
  const share = Math.min(entries_max, 1 + Math.floor((READ_PER_LOOKED_AT * entries_max) / Math.max(teams.length, 1)))
  const [oldest, weights] = await Promise.all([listOldest(tx, teams, share, entries_max), weigh(teams)])
  const chosen = choose(oldest, weights, limits)
  const entries = await runByTeam(chosen, (team_id, ofTeam) =>
    tx.many(
      OutboxEntry,
      sql`
      delete from event_outbox where team_id = ${team_id} and id = any (${arrayLiteral(ofTeam.map(({ id }) => id))}::bigint[])
      returning id, team_id, event_ids`,
    ),
  )
  const isCut = oldest.length >= entries_max || oldest.some(({ position }) => position >= share)
  return { entries: entries.sort((a, b) => a.id - b.id), isMore: isCut || oldest.length > entries.length }
}

/**
 * The teams of all entries, if these are few. Reading more would take long behind the backlog of one team: then each subscribed team is asked,
 * by the order of its entries, since a plan without statistics would read the table.
 */
async function listTeamsWithEntries(tx: PlainTx): Promise<string[]> {
  const first = await tx.many(
    TeamWithEntries,
    sql`
    select team_id, count(*) as n from (select team_id from event_outbox order by team_id limit ${FEW_ENTRIES}) o group by team_id`,
  )
  const teams =
    first.reduce((sum, { n }) => sum + n, 0) < FEW_ENTRIES
      ? first
      : await tx.many(
          TeamId,
          sql`
          select s.team_id from event_subscribed_team s
          cross join lateral (select from event_outbox where team_id = s.team_id order by id limit 1) o`,
        )
  return teams.map(({ team_id }) => team_id)
}

/** The oldest entries of each team, at most `share`: the first of each, then the second of each, and so on. */
const listOldest = (tx: PlainTx, teams: string[], share: number, entries_max: number): Promise<WaitingEntry[]> =>
  tx.many(
    WaitingEntry,
    sql`
    select o.id, s.team_id, o.events, o.position from event_subscribed_team s
    cross join lateral (
      select id, cardinality(event_ids) as events, row_number() over (order by id) as position
      from event_outbox where team_id = s.team_id order by id limit ${share}) o
    where s.team_id = any (${teams}::uuid[]) order by o.position, o.id limit ${entries_max}`,
  )

/** The entries within the limits, and the oldest in any case. */
function choose(oldest: WaitingEntry[], weights: ReadonlyMap<string, number>, limits: Portion): WaitingEntry[] {
  const first = Math.min(...oldest.map(({ id }) => id))
  const sums = new Map<string, number>()
  const queued = oldest.map((entry) => {
    const deliveries = entry.events * weights.get(entry.team_id)!
    const ofTeam = (sums.get(entry.team_id) ?? 0) + deliveries
    sums.set(entry.team_id, ofTeam)
    return { entry, deliveries, ofTeam }
  })
  let [events, deliveries] = [0, 0]
  const chosen: WaitingEntry[] = []
  for (const { entry, ...counted } of queued.sort((a, b) => a.ofTeam - b.ofTeam || a.entry.id - b.entry.id)) {
    events += entry.events
    if (entry.id === first || (events <= limits.events && deliveries < limits.deliveries)) chosen.push(entry)
    deliveries += counted.deliveries
  }
  return chosen
}

/** A kind of job: its name, the schema of its payload, its number of attempts and the timeout of each handler. */
export interface Job<S extends TSchema = TSchema> {
  name: string
  payload: S
  /** Infinity: the job is retried until it completes, for work that must not fail permanently, such as erasing patient data. */
  attempts_max: number
  timeout_s: number
  /** How many jobs of this name a process runs at once in a cell: work that takes long must not take all slots. Infinity: as many as there are slots. */
  running_max: number
}

/** With pauses of 2, 4, 8, … seconds and at most an hour: about 19 hours. */
const ATTEMPTS_MAX = 30
const TIMEOUT_S = 60

export const defineJob = <S extends TSchema>(
  name: string,
  payload: S,
  {
    attempts_max = ATTEMPTS_MAX,
    timeout_s = TIMEOUT_S,
    running_max = Infinity,
  }: Partial<Pick<Job, 'attempts_max' | 'timeout_s' | 'running_max'>> = {},
): Job<S> => ({ name, payload, attempts_max, timeout_s, running_max })

/**
 * Enqueues a job for after the commit. `instant` is an instant of the team's clock. The due time is sent to the database as a
 * distance from now, so that workers start the job in time even if the clock of this process is wrong. The distance is in whole
 * seconds, rounded up: team time has no fractions, and a job for some seconds from now must not run sooner. A job for now is due
 * now, so that jobs are due in the order in which they were queued.
 */
export function enqueue<S extends TSchema>(tx: Tx, job: Job<S>, payload: Static<S>, instant: Date = tx.now): void {
  tx.defer(
    sql`insert into job (id, team_id, name, payload, run_at, due_at) values (${buildJobRow(tx, job, JSON.stringify(payload), instant)})`,
  )
  if (instant <= tx.now) tx.notifyWorker()
}

/**
 * Like `enqueue` for an instant after now, unless the same job is already queued for an instant after now and not after `instant`. A
 * job that enqueues itself therefore does so once, however often it runs.
 */
export const enqueueAgain = <S extends TSchema>(tx: Tx, job: Job<S>, payload: Static<S>, instant: Date): void =>
  enqueueUnlessQueued(tx, job, payload, instant, sql`run_at > ${tx.now} and run_at <= ${instant}`)

/** Like `enqueue`, unless the same job is queued for this instant. Many jobs of a team for one instant make it slow. */
export const enqueueOnce = <S extends TSchema>(tx: Tx, job: Job<S>, payload: Static<S>, instant: Date): void =>
  enqueueUnlessQueued(tx, job, payload, instant, sql`run_at = ${instant}`)

function enqueueUnlessQueued<S extends TSchema>(tx: Tx, job: Job<S>, payload: Static<S>, instant: Date, isInTime: Sql): void {
  const text = JSON.stringify(payload)
  tx.defer(sql`
    insert into job (id, team_id, name, payload, run_at, due_at)
    select ${buildJobRow(tx, job, text, instant)}
    where not exists (
      select from job
      where team_id = ${tx.team} and ${isInTime} and name = ${job.name} and payload = ${text} and failed_at is null)`)
}

function buildJobRow(tx: Tx, { name }: Job, payload: string, instant: Date): Sql {
  const left_s = (addSeconds(instant, -tx.tenant.clock_offset_s).getTime() - systemNow().getTime()) / 1000
  const due_in_s = instant > tx.now ? Math.ceil(left_s) : instant < tx.now ? left_s : 0
  return sql`${tx.uuid()}::uuid, ${tx.team}::uuid, ${name}::text, ${payload}::text, ${instant}::timestamptz, ${dbNowPlus(due_in_s)}`
}

/**
 * Applies `offset_s`, the new offset of the team's clock, to its waiting jobs, except jobs that wait for a retry. Writes job.
 */
export const rescheduleJobs = (tx: Tx, offset_s: number): Promise<number> =>
  tx.run(sql`
    with waiting as (
      select id, run_at - make_interval(secs => ${offset_s}) as due_at from job
      where team_id = ${tx.team} and failed_at is null and attempts = 0)
    update job set due_at = waiting.due_at from waiting
    where job.team_id = ${tx.team} and job.id = waiting.id and job.failed_at is null and job.attempts = 0`)

/** The context of a running job: transactions of its team, each at the instant of the job. */
export interface JobContext {
  readonly tenant: Tenant
  tx<R>(work: (tx: Tx) => Promise<R>): Promise<R>
  /** Whether a job of this name waits that belongs to another team, so that a long one may end its turn. A worker's jobs have it. */
  othersWait?(): Promise<boolean>
}

export interface Handler {
  job: Job
  // oxlint-disable-next-line typescript/no-explicit-any -- `handle` ties payload and job together
  run: (context: JobContext, payload: any) => Promise<void>
  /** In place of the job's, where a setting says it. Asked when a worker is created. */
  running_max?: () => number
}

/** Names of the jobs that are retried until they complete. */
export const unlimitedJobs = (handlers: readonly Handler[]): string[] => [
  ...new Set(handlers.filter(({ job }) => job.attempts_max === Infinity).map(({ job }) => job.name)),
]

/** Binds a handler to a job. `run` may be called more than once for the same payload and must be idempotent. */
export const defineHandler = <S extends TSchema>(
  job: Job<S>,
  run: (context: JobContext, payload: Static<S>) => Promise<void>,
): Handler => ({
  job: job,
  run,
})

/** Runs after events were erased, with their ids. */
export const eventsErased = hookPoint<[event_ids: string[]]>('event.erased')

/**
 * Erases the events about a user, or events `e` that meet a condition. No code but this and `eraseObjectEvents` changes or deletes an event,
 * and the retention (event-retention.ts). Writes event, event_body.
 */
export const eraseEvents = (tx: Tx, user_id: string, condition: Sql = sql`true`): Promise<number> =>
  erase(tx, sql`delete from event e where e.team_id = ${tx.team} and e.user_id = ${user_id} and ${condition} returning e.id`)

/** Erases the events of objects whose events name no user. @param objects a select of their ids */
export const eraseObjectEvents = (tx: Tx, objects: Sql): Promise<number> =>
  erase(
    tx,
    sql`
    with about as materialized (${objects})
    delete from event e using about where e.object_id = about.id and e.team_id = ${tx.team} returning e.id`,
  )

const ErasedEvent = T.Object({ id: T.String() })

async function erase(tx: Tx, erasure: Sql): Promise<number> {
  const ids = (await tx.many(ErasedEvent, erasure)).map(({ id }) => id)
  if (ids.length === 0) return 0
  await tx.run(sql`delete from event_body where team_id = ${tx.team} and event_id = any (${ids}::uuid[])`)
  await tx.notify(eventsErased, ids)
  return ids.length
}

const LatestEvent = T.Object({ id: T.String(), object_id: T.String() })

/**
 * Appends the latest event of each object again: the same body under a new id. Only events that do not expire. Writes event.
 * @returns the objects that had an event, in the order given
 */
export async function reemitLatestEvents(tx: Tx, object_ids: string[]): Promise<string[]> {
  if (object_ids.length === 0) return []
  const rows = await tx.many(
    LatestEvent,
    sql`
    insert into event (id, team_id, type, object_id, user_id, created_at, body)
    select given.event_id, ${tx.team}, latest.type, latest.object_id, latest.user_id, ${tx.now}, latest.body
    from unnest(${object_ids}::uuid[], ${object_ids.map(() => tx.uuid())}::uuid[]) as given (object_id, event_id)
    cross join lateral (
      select type, object_id, user_id, body from event
      where object_id = given.object_id and team_id = ${tx.team} and body is not null order by id desc limit 1) latest
    returning id, object_id`,
  )
  for (const id of rows.map((row) => row.id).sort()) enqueueFanOut(tx, id)
  const found = new Set(rows.map((row) => row.object_id))
  return object_ids.filter((id) => found.has(id))
}
