// Streams of workouts: lists of one length, by second. Owns the table workout_stream, with one row for a workout: its text is what is read.
// Source: users-wearables.md 11; events.md 4.3, 5.
import { notDeletedHere } from '../../people/users/users.ts'
import type { PlainTx, Tx } from '../../platform/db/transaction.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { notFound } from '../../platform/http/errors.ts'
import { yieldIfLong } from '../../platform/runtime/loop-work.ts'
import { Fields, Nullable, T } from '../../platform/schema/schema.ts'
import { wireSource, type DataSource } from '../resources/data-source.ts'
import { ExpiredData, type Expiry } from '../resources/expiry.ts'
import type { SourceType } from '../resources/timeseries.ts'

const numbers = (description: string) => T.Array(Nullable(T.Number()), { description })
const lists = {
  cadence: numbers('Revolutions or steps in a minute.'),
  altitude: numbers('m'),
  velocity_smooth: numbers('m/s'),
  heartrate: numbers('bpm'),
  lat: numbers('Degrees.'),
  lng: numbers('Degrees.'),
  distance: numbers('m since the beginning.'),
  power: numbers('W'),
  resistance: numbers('The setting of a machine.'),
  temperature: numbers('°C'),
}
export const WorkoutStream = Fields(
  { time: T.Array(T.Integer(), { description: 'Seconds since 1970, ascending.' }), ...lists },
  { title: 'WorkoutStream', description: 'Each list is as long as `time`, or empty.' },
)
export type StreamList = keyof typeof lists
const streamLists = Object.keys(lists) as StreamList[]

export interface IncomingStream {
  /** The provider's id of the workout. */
  key: string
  /** Seconds since 1970, ascending, without repetition. */
  time: number[]
  /** Each as long as `time`; others are not known. */
  lists: Partial<Record<StreamList, (number | null)[]>>
}

const EMPTY = JSON.stringify({ time: [], ...Object.fromEntries(streamLists.map((name) => [name, []])) })

/** A stream as it is read, made in slices. */
async function toJson({ time, lists: given }: IncomingStream): Promise<string> {
  const parts: string[] = []
  for (const [name, list] of [['time', time] as const, ...streamLists.map((name) => [name, given[name] ?? []] as const)]) {
    const turn = yieldIfLong()
    if (turn) await turn
    parts.push(`"${name}":${JSON.stringify(list)}`)
  }
  return `{${parts.join()}}`
}

const Workout = T.Object({
  key: T.String(),
  id: T.String(),
  source_type: T.String(),
  app_id: Nullable(T.String()),
  device_id: Nullable(T.String()),
  sport: T.Unknown(),
})
const Written = T.Object({ key: T.String(), is_new: T.Boolean() })

export interface WrittenStream {
  key: string
  is_new: boolean
  workout_id: string
  sport: unknown
  source: DataSource
}

/**
 * Writes the streams of workouts of a user, each as a whole. Streams of workouts that are not stored are left out. Writes workout_stream.
 * @returns the streams that have a workout, and the new or changed ones
 */
export async function writeStreams(
  tx: Tx,
  user_id: string,
  provider: string,
  streams: IncomingStream[],
): Promise<{ knownStreams: IncomingStream[]; writtenStreams: WrittenStream[] }> {
  const keys = streams.map(({ key }) => key)
  const workouts = new Map(
    (
      await tx.many(
        Workout,
        sql`
        select key, id, source_type, app_id, device_id, document -> 'sport' as sport from summary
        where team_id = ${tx.team} and user_id = ${user_id} and kind = 'workouts' and provider = ${provider} and key = any (${keys}::text[])`,
      )
    ).map((stream) => [stream.key, stream]),
  )
  // The last of several of one workout counts.
  const known = [...new Map(streams.map((stream) => [stream.key, stream])).values()].filter(({ key }) => workouts.has(key))
  if (!known.length) return { knownStreams: known, writtenStreams: [] }
  const texts: string[] = []
  for (const stream of known) texts.push(await toJson(stream))
  const rows = await tx.locking.many(
    Written,
    sql`
    insert into workout_stream as w (team_id, user_id, provider, key, samples, stream, created_at, updated_at)
    select ${tx.team}, ${user_id}, ${provider}, g.key, g.samples, g.stream, ${tx.now}, ${tx.now}
    from unnest(${known.map(({ key }) => key)}::text[], ${known.map(({ time }) => time.length)}::integer[],
                ${texts}::text[]) as g (key, samples, stream)
    order by g.key
    on conflict (team_id, user_id, provider, key) do update
    set samples = excluded.samples, stream = excluded.stream, updated_at = excluded.updated_at
    where w.samples <> excluded.samples or w.stream <> excluded.stream
    returning key, xmax = 0 as is_new`,
  )
  const written = rows.map(({ key, is_new }) => {
    const workout = workouts.get(key)!
    const source = wireSource(tx, provider, workout.source_type as SourceType, {
      app_id: workout.app_id,
      device_id: workout.device_id,
    })
    return { key, is_new, workout_id: workout.id, sport: workout.sport, source }
  })
  return { knownStreams: known, writtenStreams: written }
}

const Key = T.Object({ key: T.String() })

/** Which of the workouts with these keys have a stream. */
export const keysWithStream = async (tx: Tx, user_id: string, provider: string, keys: string[]): Promise<Set<string>> => {
  const rows = await tx.many(
    Key,
    sql`
    select key from workout_stream
    where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider} and key = any (${keys}::text[])`,
  )
  return new Set(rows.map(({ key }) => key))
}

const Text = T.Object({ stream: T.String() })

/** The heart rates in the stream of a workout; empty lists without one. */
export async function heartRatesOfStream(
  tx: Tx,
  user_id: string,
  provider: string,
  key: string,
): Promise<{ time: number[]; heartrate: (number | null)[] }> {
  const row = await tx.maybe(
    Text,
    sql`
    select stream from workout_stream
    where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider} and key = ${key}`,
  )
  return JSON.parse(row?.stream ?? EMPTY) as { time: number[]; heartrate: (number | null)[] }
}

const Row = T.Object({ user_id: T.String(), stream: Nullable(T.String()) })

/**
 * The stream of a workout as JSON; empty lists if it has none. Errors: 404 unknown workout.
 * @param only_of a workout of another user is unknown
 */
export async function readWorkoutStream(tx: Tx, workout_id: string, only_of?: string): Promise<string> {
  const row = await tx.maybe(
    Row,
    sql`
    select s.user_id, w.stream from summary s
    left join workout_stream w on w.team_id = s.team_id and w.user_id = s.user_id and w.provider = s.provider and w.key = s.key
    where s.team_id = ${tx.team} and s.id = ${workout_id} and s.kind = 'workouts' and ${notDeletedHere(tx, sql`s.user_id`)}`,
  )
  if (!row || (only_of !== undefined && row.user_id !== only_of)) throw notFound('Workout not found')
  tx.concerns(row.user_id)
  return row.stream ?? EMPTY
}

/** Deletes streams whose retention has ended; those of workouts that were deleted are gone. Writes workout_stream. @returns how many */
export const deleteExpiredStreams = (tx: PlainTx, expiry: Expiry): Promise<number> =>
  tx.run(sql`
    delete from workout_stream where team_id = ${expiry.team_id} and ctid = any (array(select w.ctid ${expiredStreams(expiry)} limit ${expiry.rows_max}))`)

/** Counts streams that `deleteExpiredStreams` would delete, up to `rows_max` of them. */
export const countExpiredStreams = (tx: PlainTx, expiry: Expiry): Promise<ExpiredData[]> =>
  tx.many(
    ExpiredData,
    sql`
    select 'workout_stream' as resource, (extract(epoch from min(calendar_date)) * 1000)::bigint as from_ms,
      (extract(epoch from max(calendar_date)) * 1000)::bigint as to_ms, count(*) as rows
    from (select s.calendar_date ${expiredStreams(expiry)} limit ${expiry.rows_max}) expired having count(*) > 0`,
  )

function expiredStreams({ team_id, user_ids, now, days }: Expiry): Sql {
  const kept = days(sql`'workout_stream'`, sql`s.provider`)
  return sql`
      from workout_stream w
      join summary s on s.team_id = w.team_id and s.user_id = w.user_id and s.kind = w.kind and s.provider = w.provider and s.key = w.key,
        lateral (select ${kept} as days) d
      where w.team_id = ${team_id} and w.user_id = any (${user_ids}::uuid[])
        and s.calendar_date < (${now} at time zone 'UTC')::date - d.days`
}
