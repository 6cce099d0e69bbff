// Records as their providers sent them. Source: users-wearables.md 9.
import { getUser } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'
import { notFound } from '../../platform/http/errors.ts'
import { Fields, Nullable, T, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { providerName } from '../../people/users/sources.ts'
import { wireSourceId } from '../resources/data-source.ts'
import type { RangeQuery } from '../resources/range-query.ts'
import { placeInRange, readRange } from './summaries.ts'

/** Records in one response. */
const READ_MAX = 5_000

const Source = Fields({ name: T.String(), slug: T.String(), logo: T.String() }, { title: 'RawSource' })
const Sport = Fields({ id: T.Integer(), name: T.String(), slug: T.String() }, { title: 'Sport' })
const common = {
  id: Uuid,
  user_id: Uuid,
  data: T.Record(T.String(), T.Unknown(), { description: 'As the provider sent it, without samples; empty if it was not kept.' }),
  source: Source,
  source_id: T.Integer(),
  priority_id: T.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
}
const dated = { ...common, timestamp: Timestamp, provider_id: T.String(), source_device_id: Nullable(Uuid) }
export const RawRecord = Fields(dated, { title: 'RawRecord' })
export const RawWorkout = Fields({ ...dated, sport_id: T.Integer(), sport: Sport }, { title: 'RawWorkout' })
export const RawProfile = Fields(common, { title: 'RawProfile' })

const Row = T.Object({
  id: T.String(),
  provider: T.String(),
  device_id: Nullable(T.String()),
  calendar_date: Nullable(T.String()),
  key: T.String(),
  raw: T.Unknown(),
  time_start: Nullable(T.String()),
  sport: T.Unknown(),
  created_at: T.String(),
  updated_at: T.String(),
})
const Listed = T.Object({ ...Row.properties, ...placeInRange })
type RawRow = Static<typeof Row>
const rawColumns = sql`id, provider, device_id, calendar_date, key, raw, coalesce(document ->> 'time_start', document ->> 'bedtime_start') as time_start,
  document -> 'sport' as sport, created_at, updated_at`

const toRawRecord = (user_id: string, { id, provider, raw, created_at, updated_at }: RawRow) => ({
  id,
  user_id,
  data: raw ?? {},
  source: { name: providerName(provider), slug: provider, logo: '' },
  source_id: wireSourceId(provider),
  priority_id: wireSourceId(provider),
  created_at,
  updated_at,
})

/**
 * Lists records of a user as their providers sent them, by day, oldest first. Errors: 404 unknown user; 422 an invalid date, or a range with
 * more than 5,000 records or 16 MB of them.
 */
export async function listRaw(
  tx: Tx,
  user_id: string,
  kind: 'activity' | 'body' | 'sleep' | 'workouts',
  query: RangeQuery,
): Promise<Record<string, unknown>[]> {
  const rows = await readRange(
    tx,
    { user_id, kind, query },
    { row: Listed, columns: rawColumns, content: sql`raw`, rows_max: READ_MAX, noun: 'records' },
  )
  return rows.map((row) => {
    const timestamp = row.time_start ?? `${row.calendar_date}T00:00:00+00:00`
    const record = { ...toRawRecord(user_id, row), timestamp, provider_id: row.key, source_device_id: row.device_id }
    return kind === 'workouts' ? { ...record, sport_id: (row.sport as { id: number }).id, sport: row.sport } : record
  })
}

/** Shows the profile of a user as its provider sent it, the newest of several. Errors: 404 unknown user, or no profile. */
export async function readRawProfile(tx: Tx, user_id: string, provider: string | undefined): Promise<Record<string, unknown>> {
  await getUser(tx, user_id)
  const ofProvider = provider ? sql`and provider = ${provider}` : sql``
  const row = await tx.maybe(
    Row,
    sql`
    select ${rawColumns} from summary
    where team_id = ${tx.team} and user_id = ${user_id} and kind = 'profile' ${ofProvider} order by updated_at desc, id desc limit 1`,
  )
  if (!row) throw notFound('The user has no profile')
  return toRawRecord(user_id, row)
}
