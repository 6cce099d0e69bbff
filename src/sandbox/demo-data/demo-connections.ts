// Demo connections: users of a sandbox with made-up data, 30 days at once and more every two hours of the team's clock. What is written
// depends on seed, zone and clock alone. Owns demo_connection. Source: users-wearables.md 1, 2.4.
import { eraseTablesOfUser } from '../../platform/db/erasure.ts'
import { isEuropean } from '../../settings/cells.ts'
import { deleteUser, findUser } from '../../people/users/users.ts'
import type { User } from '../../people/users/schema.ts'
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { defineHandler, defineJob, enqueue, enqueueAgain } from '../../platform/queue/outbox.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { completeHistory, ingestSamples, ingestSummaries } from '../../wearables/ingestion/ingest.ts'
import { ingestWorkoutStreams } from '../../wearables/ingestion/ingest-streams.ts'
import { summaryIds, type IncomingSummary } from '../../wearables/summaries/summaries.ts'
import { connect } from '../../connections/connections/connections.ts'
import { connectionTo } from '../../connections/connections/demo.ts'
import type { DemoSources } from '../../connections/link/demo-sources.ts'
import { resourceNameOf } from '../../wearables/resources/timeseries.ts'
import { assertSandbox, hasSandbox } from '../clock/team-clock.ts'
import { localDay, createPerson, workoutKey, type Day } from './person.ts'
import { demoProviders, devices, type DemoProvider } from './demo-devices.ts'
import { OPEN_DAYS } from './known.ts'
import { nightKey, createStages, createSummaries } from './daily-summaries.ts'
import { createSamples } from './demo-samples.ts'
import { createStreams } from './demo-streams.ts'
import type { DemoConnection } from './schema.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

const SLOT_MS = 2 * 3_600_000
export const HISTORY_DAYS = 30
/** Days that one transaction writes. */
const DAYS_AT_ONCE = 10
/** Users with a demo connection are deleted after this time. */
const EXPIRES_S = 7 * 86_400

const Payload = T.Object({ user_id: T.String(), provider: T.Unsafe<DemoProvider>({ type: 'string' }) })
const writeDemoData = defineJob('demo_data.write', Payload)
const expireDemoUser = defineJob('demo_data.expire_user', T.Object({ user_id: T.String() }))

const Row = T.Object({
  seed: T.String(),
  zone: T.String(),
  has_timeseries: T.Boolean(),
  connected_at: T.String(),
  next_day: Nullable(T.Integer()),
  written_until: T.String(),
})
type Row = Static<typeof Row>

/** Data changes at multiples of two hours, so that it does not depend on when a job runs. */
const slotOf = (time: Date): number => Math.floor(time.getTime() / SLOT_MS) * SLOT_MS

const timeZone = (tx: Tx, { fallback_time_zone }: User): string =>
  fallback_time_zone?.id ?? (isEuropean(tx.tenant.cell) ? 'Europe/Berlin' : 'America/New_York')

/**
 * Connects a user of a sandbox to a provider whose data is made up from the user's client user id: 30 days of history, then more every two
 * hours of the team's clock. A connection that is there stays as it is. Writes connection, demo_connection, "user". Emits
 * provider.connection.created. Queues demo_data.write and demo_data.expire_user.
 * Errors: 400 the user has other connections; 404 unknown user, or no sandbox. Source: users-wearables.md 2.4.
 */
export async function connectDemo(tx: Tx, { user_id: given, provider, timeseries = true }: DemoConnection) {
  assertSandbox(tx.tenant)
  const user = await findUser(tx, given)
  if (!user) throw notFound('User not found')
  const { user_id, client_user_id } = user
  const { connection_id, began } = await connect(tx, user_id, provider, {
    external_user_id: null,
    granted_permissions: null,
    is_demo: true,
  })
  if (began) {
    const zone = timeZone(tx, user)
    const slot = slotOf(tx.now)
    await tx.run(sql`
      insert into demo_connection (
        team_id, user_id, provider, connection_id, seed, zone, has_timeseries, connected_at, next_day, written_until)
      values (${tx.team}, ${user_id}, ${provider}, ${connection_id}, ${client_user_id}, ${zone}, ${timeseries}, ${tx.now},
              ${localDay(zone, slot) - HISTORY_DAYS}, ${new Date(slot)})
      on conflict (team_id, user_id, provider) do update
      set connection_id = excluded.connection_id, seed = excluded.seed, zone = excluded.zone, has_timeseries = excluded.has_timeseries,
          connected_at = excluded.connected_at, next_day = excluded.next_day, written_until = excluded.written_until`)
    enqueue(tx, writeDemoData, { user_id, provider })
    enqueueAgain(tx, expireDemoUser, { user_id }, addSeconds(tx.now, EXPIRES_S))
  }
  return { success: true, detail: `Connected user ${user_id} to provider ${provider}` }
}

const noResources: ReturnType<DemoSources['resourcesByProvider']> = new Map()
const hasStreams = (provider: DemoProvider): boolean => devices[provider].summaries.includes('workouts')
const streamNames = (provider: DemoProvider) => (hasStreams(provider) ? (['workout_stream'] as const) : [])
const resourcesOf = new Map(
  demoProviders.map((name) => {
    const { summaries, timeseries } = devices[name]
    return [name as string, [...summaries, ...streamNames(name), ...timeseries.map(resourceNameOf)]]
  }),
)

/** For the link page. */
export const demoSources: DemoSources = {
  resourcesByProvider: (tenant) => (hasSandbox(tenant) ? resourcesOf : noResources),
  connect: (tx, user_id, provider) => connectDemo(tx, { user_id, provider: provider as DemoProvider }),
}

interface Range {
  firstDay: Day
  lastDay: Day
  known_ms: number
  /** What was known then is stored. */
  stored_ms?: number
  historical: boolean
}

/** Stores what is known of days at an instant. Emits daily.data.* for what is new or has changed. */
async function writeDays(
  tx: Tx,
  user: User,
  provider: DemoProvider,
  row: Row,
  { firstDay, lastDay, known_ms, stored_ms, historical }: Range,
): Promise<void> {
  const person = createPerson(row.seed, row.zone)
  const days = Array.from({ length: lastDay - firstDay + 1 }, (_, i) => firstDay + i)
  const summaries = days.map((day) => createSummaries(person, provider, day, known_ms))
  for (const kind of devices[provider].summaries) {
    const records =
      kind === 'sleep_cycle'
        ? await stagesWithIds(
            tx,
            user.user_id,
            provider,
            days.map((day) => [day, createStages(person, provider, day, known_ms)]),
          )
        : summaries.flatMap((ofDay) => ofDay.get(kind) ?? [])
    if (records.length) await ingestSummaries(tx, user, kind, { provider, records, historical })
  }
  if (!row.has_timeseries) return
  const streams = hasStreams(provider) ? days.flatMap((day) => createStreams(person, day, known_ms)) : []
  if (streams.length) await ingestWorkoutStreams(tx, user, { provider, streams, historical })
  const ids = await summaryIds(tx, user.user_id, 'workouts', provider, days.map(workoutKey))
  const knownAt = (ms: number) => days.map((day) => createSamples(person, provider, day, ms, ids.get(workoutKey(day))))
  const samples = knownAt(known_ms)
  const before = stored_ms === undefined ? [] : knownAt(stored_ms)
  for (const resource of devices[provider].timeseries) {
    const ofDays = samples.flatMap((ofDay) => ofDay.get(resource) ?? [])
    // Most timeseries have nothing new within two hours.
    const stored = before.flatMap((ofDay) => ofDay.get(resource) ?? [])
    if (ofDays.length && JSON.stringify(ofDays) !== JSON.stringify(stored))
      await ingestSamples(tx, user, resource, { provider, samples: ofDays, historical })
  }
}

/** Stages name the night they belong to, which has an id once it is stored. */
async function stagesWithIds(
  tx: Tx,
  user_id: string,
  provider: DemoProvider,
  nights: [day: Day, stages: IncomingSummary<'sleep_cycle'> | undefined][],
): Promise<IncomingSummary[]> {
  const keys = nights.flatMap(([day, stages]) => (stages ? [nightKey(day)] : []))
  const ids = keys.length ? await summaryIds(tx, user_id, 'sleep', provider, keys) : new Map<string, string>()
  return nights.flatMap(([day, stages]) => {
    const sleep_id = ids.get(nightKey(day))
    return stages && sleep_id !== undefined ? [{ ...stages, document: { ...stages.document, sleep_id } }] : []
  })
}

/** Writes the next part of the history. Returns whether it is complete. */
async function writeHistory(tx: Tx, user: User, provider: DemoProvider, row: Row, firstDay: Day): Promise<boolean> {
  const known_ms = slotOf(new Date(row.connected_at))
  const last = localDay(row.zone, known_ms)
  const lastDay = Math.min(firstDay + DAYS_AT_ONCE - 1, last)
  await writeDays(tx, user, provider, row, { firstDay: firstDay, lastDay, known_ms, historical: true })
  const isComplete = lastDay === last
  if (isComplete) {
    const range = { from_ms: (last - HISTORY_DAYS) * DAY_MS, to_ms: known_ms, is_whole: true }
    const { summaries, timeseries } = devices[provider]
    for (const resource of [...summaries, ...(row.has_timeseries ? [...streamNames(provider), ...timeseries] : [])])
      await completeHistory(tx, user, resource, { provider, ...range })
  }
  await tx.run(sql`
    update demo_connection set next_day = ${isComplete ? null : lastDay + 1}
    where team_id = ${tx.team} and user_id = ${user.user_id} and provider = ${provider}`)
  return isComplete
}

/** Writes what is known now. After a long pause of the program some days at once. Returns until when it has written. */
async function writeNews(tx: Tx, user: User, provider: DemoProvider, row: Row): Promise<number> {
  const written_ms = Date.parse(row.written_until)
  const until_ms = Math.min(slotOf(tx.now), written_ms + DAYS_AT_ONCE * DAY_MS)
  if (until_ms <= written_ms) return written_ms
  const [from, to] = [localDay(row.zone, written_ms) - OPEN_DAYS, localDay(row.zone, until_ms)]
  await writeDays(tx, user, provider, row, {
    firstDay: from,
    lastDay: to,
    known_ms: until_ms,
    stored_ms: written_ms,
    historical: false,
  })
  await tx.run(sql`
    update demo_connection set written_until = ${new Date(until_ms)}
    where team_id = ${tx.team} and user_id = ${user.user_id} and provider = ${provider}`)
  return until_ms
}

/** The fictional person behind a demo connection, and whether its history is written; undefined without the connection. */
export async function demoPerson(tx: Tx, user_id: string, provider: DemoProvider) {
  const row = await tx.maybe(
    T.Pick(Row, ['seed', 'zone', 'has_timeseries', 'next_day']),
    sql`
    select seed, zone, has_timeseries, next_day from demo_connection
    where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider}`,
  )
  if (!row) return undefined
  return { of: createPerson(row.seed, row.zone), has_timeseries: row.has_timeseries, is_complete: row.next_day === null }
}

/** One step of a demo connection: a part of the history, or what is new. Queues the next step. Ends with the connection. */
async function step(tx: Tx, user_id: string, provider: DemoProvider): Promise<void> {
  const user = await findUser(tx, user_id)
  const connection = await connectionTo(tx, user_id, provider)
  const row = await tx.locking.maybe(
    Row,
    sql`
    select seed, zone, has_timeseries, connected_at, next_day, written_until from demo_connection
    where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider} for update`,
  )
  if (!user || !row) return
  if (!connection?.is_demo) return void (await eraseDemoConnections(tx, user_id, provider))
  const payload = { user_id, provider }
  if (connection.status === 'connected') {
    if (row.next_day !== null) {
      if (!(await writeHistory(tx, user, provider, row, row.next_day))) return enqueue(tx, writeDemoData, payload)
    } else if ((await writeNews(tx, user, provider, row)) < slotOf(tx.now)) return enqueue(tx, writeDemoData, payload)
  }
  enqueueAgain(tx, writeDemoData, payload, new Date(slotOf(tx.now) + SLOT_MS))
}

/** Deletes a user whose demo connection is seven days old, if it is still there. */
async function expire(tx: Tx, user_id: string): Promise<void> {
  if (!(await findUser(tx, user_id))) return
  const rows = await tx.many(
    T.Pick(Row, ['connected_at']),
    sql`
    select connected_at from demo_connection
    where team_id = ${tx.team} and user_id = ${user_id} order by connected_at limit ${demoProviders.length}`,
  )
  const connected = await Promise.all(demoProviders.map((provider) => connectionTo(tx, user_id, provider)))
  if (!rows[0] || !connected.some((connection) => connection?.is_demo)) return
  const at = addSeconds(new Date(rows[0].connected_at), EXPIRES_S)
  if (at > tx.now) enqueueAgain(tx, expireDemoUser, { user_id }, at)
  else await deleteUser(tx, user_id)
}

export const demoHandlers = [
  defineHandler(writeDemoData, (context, { user_id, provider }) => context.tx((tx) => step(tx, user_id, provider))),
  defineHandler(expireDemoUser, (context, { user_id }) => context.tx((tx) => expire(tx, user_id))),
]

/** Erases what is known of a user's demo connections, or of one. Writes demo_connection. */
export const eraseDemoConnections = eraseTablesOfUser('demo_connection')
