// A day of a user of docs/SCALING.md, as a phone posts it, and the bytes that each table grows by. For the test of that page and for the
// bench.

/** What a phone sends once an hour: one sample of each, and heart rates by the minute. */
const HOURLY = [
  'steps',
  'distance',
  'floors_climbed',
  'calories_active',
  'calories_basal',
  'heartrate_variability',
  'blood_oxygen',
  'respiratory_rate',
  'stand_duration',
  'daylight_exposure',
] as const
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const FIRST_MS = Date.UTC(2025, 0, 1)
/** From the middle of an hour to the middle of the next one, as phones do not wait for whole hours: a row of the database is begun and completed. */
const START_MS = 30 * MINUTE_MS
export const HOURS = 24

export interface PhonePost {
  path: string
  body: string
}

const iso = (ms: number): string => new Date(ms).toISOString()
const sample = (value: number, from_ms: number, to_ms: number) => ({
  value,
  unit: '',
  start_date: iso(from_ms),
  end_date: iso(to_ms),
  source_bundle: 'com.apple.health.BENCH',
})
const bodyOf = (data: unknown) =>
  JSON.stringify({ stage: 'daily', time_zone: 'America/Phoenix', provider: 'apple_health_kit', data })

/** The posts of a user with the samples of an hour, counted from the first of January 2025. */
export function samplePosts(user_id: string, hour: number): PhonePost[] {
  const from_ms = FIRST_MS + hour * HOUR_MS + START_MS
  const rates = Array.from({ length: 60 }, (_, i) =>
    sample(60 + ((hour * 60 + i * 7) % 50), from_ms + i * MINUTE_MS, from_ms + i * MINUTE_MS),
  )
  return [
    { path: `/v2/timeseries/${user_id}/heartrate`, body: bodyOf(rates) },
    ...HOURLY.map((resource, i) => ({
      path: `/v2/timeseries/${user_id}/${resource}`,
      body: bodyOf([sample(10 + ((hour + i) % 80), from_ms, from_ms + HOUR_MS)]),
    })),
  ]
}

/** The posts of a user with the summaries of a day: the day, the night with its stages, a workout, and a weight. */
export function summaryPosts(user_id: string, day: number): PhonePost[] {
  const from_ms = FIRST_MS + day * HOURS * HOUR_MS
  const at = (hours: number) => iso(from_ms + hours * HOUR_MS)
  const source = { source_bundle: 'com.apple.health.BENCH', product_type: 'Watch6,1' }
  const stage = (first: number, last: number) => ({ value: 1, unit: '', start_date: at(first), end_date: at(last) })
  const day_summary = {
    calendar_date: at(12).slice(0, 10),
    steps_sum: 8000,
    distance_walking_running_sum: 6100,
    active_energy_burned_sum: 450,
    basal_energy_burned_sum: 1600,
    floors_climbed_sum: 9,
    exercise_time: 31,
    high_intensity: 10,
    medium_intensity: 30,
    low_intensity: 200,
  }
  const night = {
    id: `night ${day}`,
    start_date: at(5),
    end_date: at(13),
    ...source,
    heart_rate_mean: 55,
    heart_rate_minimum: 48,
    heart_rate_maximum: 81,
    hrv_mean_sdnn: 44.5,
    sleep_stages: {
      deep_sleep_samples: [stage(6, 7), stage(9, 9.5)],
      light_sleep_samples: [stage(5, 6), stage(7, 8), stage(9.5, 11)],
      rem_sleep_samples: [stage(8, 9), stage(11, 12)],
      awake_sleep_samples: [stage(12, 13)],
    },
  }
  const workout = {
    id: `workout ${day}`,
    start_date: at(15),
    end_date: at(16),
    ...source,
    sport: 'Running',
    distance: 5200,
    calories: 380,
    heart_rate_mean: 140,
    heart_rate_maximum: 171,
  }
  const weight = { value: 71, unit: 'kg', start_date: at(14), end_date: at(14), ...source }
  return [
    { path: `/v2/summary/activity/${user_id}`, body: bodyOf([{ day_summary }]) },
    { path: `/v2/summary/sleep/${user_id}`, body: bodyOf([night]) },
    { path: `/v2/summary/workouts/${user_id}`, body: bodyOf([workout]) },
    { path: `/v2/summary/body/${user_id}`, body: bodyOf({ body_mass: [weight] }) },
  ]
}

type Query = (text: string) => Promise<{ rows: { name: string; bytes: number }[] }>

/** Frees the room of old versions of rows in the tables of a schema that have rows. */
export async function vacuumTables(query: Query, schema: string): Promise<void> {
  const { rows } = await query(`
    select c.relname as name, 0 as bytes from pg_class c
    where c.relnamespace = '${schema}'::regnamespace and c.relkind = 'r' and pg_relation_size(c.oid) > 0`)
  await query(`vacuum (skip_locked) ${rows.map(({ name }) => `${schema}."${name}"`).join(', ')}`)
}

/** The bytes of each table of a schema with its indexes and its compressed values, after a vacuum. Days of the access log are one table. */
export async function measureTables(query: Query, schema: string): Promise<Map<string, number>> {
  await vacuumTables(query, schema)
  const { rows } = await query(`
    select coalesce(p.relname, c.relname) as name, sum(pg_total_relation_size(c.oid))::float8 as bytes
    from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
    where c.relnamespace = '${schema}'::regnamespace and c.relkind = 'r' group by 1`)
  return new Map(rows.map(({ name, bytes }) => [name, bytes]))
}

/** Tables that grow with teams and with time, not with users; those of requests have a limit for each team. */
export const NOT_OF_USERS = new Set(['request_log', 'request_count', 'delivery_attempt_count', 'event_outbox', 'job'])

/** What tables have grown by, for each user: the largest first. */
export const growth = (first: Map<string, number>, last: Map<string, number>, users: number): Map<string, number> =>
  new Map(
    [...last]
      .map(([name, bytes]): [string, number] => [name, (bytes - (first.get(name) ?? 0)) / users])
      .filter(([, bytes]) => bytes > 0)
      .sort(([, a], [, b]) => b - a),
  )

/** The bytes of all tables that grow with users. */
export const sumOf = (tables: Map<string, number>): number =>
  [...tables].reduce((sum, [name, bytes]) => (NOT_OF_USERS.has(name) ? sum : sum + bytes), 0)
