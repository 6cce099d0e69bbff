// What users cost whose phones synchronize each hour: processor time, the log of the database, bytes on disk. docs/SCALING.md computes
// installations from these figures.
import { report } from './measure.ts'
import { sampleProcessorTime } from './processor-time.ts'
import type { Bench } from './program.ts'

const USERS = Number(process.env.BENCH_USERS ?? 16)
const HOURS = 24
const CLIENTS = 8
const FIRST_MS = Date.UTC(2025, 0, 1)
const HOUR_MS = 3_600_000

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
const MINUTE = 60_000
/** From the middle of an hour to the middle of the next one, as phones do not wait for whole hours: a row of the database is begun and completed. */
const START_MS = 30 * MINUTE

const iso = (ms: number): string => new Date(ms).toISOString()
const sample = (value: number, from_ms: number, to_ms: number) => ({
  value,
  unit: '',
  start_date: iso(from_ms),
  end_date: iso(to_ms),
  source_bundle: 'com.apple.health.BENCH',
})
const bodyOf = (data: unknown[]) =>
  JSON.stringify({ stage: 'daily', time_zone: 'America/Phoenix', provider: 'apple_health_kit', data })

function bodiesOf(hour: number): [resource: string, body: string][] {
  const from_ms = FIRST_MS + hour * HOUR_MS + START_MS
  const rates = Array.from({ length: 60 }, (_, i) =>
    sample(60 + ((hour * 60 + i * 7) % 50), from_ms + i * MINUTE, from_ms + i * MINUTE),
  )
  return [
    ['heartrate', bodyOf(rates)],
    ...HOURLY.map((resource, i): [string, string] => [
      resource,
      bodyOf([sample(10 + ((hour + i) % 80), from_ms, from_ms + HOUR_MS)]),
    ]),
  ]
}

/** The tables that health data stays in, with their indexes; not those of events, which are deleted after their retention. */
const STORED = ['chunk', 'series', 'resource_state', 'day_record']

async function bytesOf({ db }: Bench): Promise<number> {
  for (const table of STORED) await db.query(`vacuum ${table}`)
  const { rows } = await db.query(
    `select sum(pg_total_relation_size(name::regclass))::float8 as bytes from unnest($1::text[]) name`,
    [STORED],
  )
  return rows[0].bytes
}
const logBytes = async ({ db }: Bench): Promise<number> =>
  Number((await db.query(`select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`)).rows[0].bytes)

/** A day of some users, with a synchronization each hour, in the order of the hours. */
export async function synchronizePhones(bench: Bench): Promise<void> {
  const { url, headers, api } = bench
  const users = await Promise.all(
    Array.from({ length: USERS }, async (_, i) => {
      const user = (await api('POST', '/v2/user', { client_user_id: `phone ${i} ${performance.now()}` })) as { user_id: string }
      return user.user_id
    }),
  )
  const before = { bytes: await bytesOf(bench), log: await logBytes(bench) }
  const began = performance.now()
  let posts = 0
  const used = await sampleProcessorTime(bench, async () => {
    for (let hour = 0; hour < HOURS; hour++) {
      const bodies = bodiesOf(hour)
      const waiting = users.flatMap((user) =>
        bodies.map(([resource, body]) => ({ path: `/v2/timeseries/${user}/${resource}`, body })),
      )
      posts += waiting.length
      const send = async () => {
        for (let next = waiting.pop(); next; next = waiting.pop()) {
          const response = await fetch(url + next.path, { method: 'POST', headers, body: next.body })
          const answer = await response.text()
          if (!response.ok) throw new Error(`a post of a phone: ${response.status} ${answer}`)
        }
      }
      await Promise.all(Array.from({ length: CLIENTS }, send))
    }
    return posts
  })
  const rate = posts / ((performance.now() - began) / 1000)
  const after = { bytes: await bytesOf(bench), log: await logBytes(bench) }
  const kB = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`
  report('posts of phones that synchronize each hour', `${rate.toFixed(0)}/s`, '', '', `${posts} posts of ${USERS} users`)
  report('  processor time of a post', `${(used.server_us / 1000).toFixed(2)} ms`, '', '', 'of the server')
  report('', `${(used.database_us / 1000).toFixed(2)} ms`, '', '', 'of the database')
  report('  log of the database for a post', kB((after.log - before.log) / posts), '', '', '')
  report("  on disk, of a user's day", kB((after.bytes - before.bytes) / USERS), '', '', 'samples and what is known of them')
}
