// Health data: posting samples beside one row for each of them, their bytes on disk, and reading them.
import { randomUUID } from 'node:crypto'
import { Agent, get, type IncomingMessage } from 'node:http'
import autocannon from 'autocannon'
import pg from 'pg'
import { median, medianMs, rate, report, WARM_UPS } from './measure.ts'
import { sampleProcessorTime } from './processor-time.ts'
import type { Bench } from './program.ts'

const CLIENTS = 4
const BATCH = 10_000
/** Posts of each client in a round. */
const POSTS = Number(process.env.BENCH_POSTS ?? 12)
/** The same where each sample is a statement: that takes so long that a round has one. */
const STATEMENT_POSTS = 1
const ROUNDS = 3
const DAY_S = 86_400
const FIRST_MS = Date.UTC(2025, 0, 1)
const agent = new Agent({ keepAlive: true })

/** Heart rates of a second each, as a phone posts them. In bytes: encoding a text for each post would be measured as well. */
export function heartRates(from_ms: number, count: number): Uint8Array<ArrayBuffer> {
  const data = Array.from({ length: count }, (_, i) => {
    const at = new Date(from_ms + i * 1000).toISOString()
    return {
      value: 60 + ((i * 7) % 50),
      unit: 'count/min',
      start_date: at,
      end_date: at,
      source_bundle: 'com.apple.health.BENCH',
    }
  })
  return new TextEncoder().encode(
    JSON.stringify({ stage: 'daily', time_zone: 'America/Phoenix', provider: 'apple_health_kit', data }),
  )
}

const newUser = async ({ api }: Bench, name: string): Promise<string> =>
  ((await api('POST', '/v2/user', { client_user_id: `${name} ${performance.now()}` })) as { user_id: string }).user_id

/** Runs `one` so many times for each client at the same time; returns samples a second. */
async function samplesPerSecond(posts: number, sendPost: (client: number, post: number) => Promise<void>): Promise<number> {
  const began = performance.now()
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      for (let post = 0; post < posts; post++) await sendPost(client, post)
    }),
  )
  return (CLIENTS * posts * BATCH) / ((performance.now() - began) / 1000)
}

const UPSERT = `on conflict (user_id, resource, provider, source_type, at) do update set value = excluded.value, zone_s = excluded.zone_s`

/**
 * Posts of 10,000 samples over HTTP beside a row for each sample, written in two ways without a server before them: a statement for each in
 * one transaction of the post, as most programs do it, and one statement for all of them, the least that such rows can cost.
 */
export async function ingestSamples(bench: Bench): Promise<void> {
  const { url, headers, db, connection } = bench
  await db.query(`create table bench_sample (user_id uuid, resource text, provider text, source_type text, at timestamptz, value float8, zone_s integer,
                  primary key (user_id, resource, provider, source_type, at))`)
  const pool = new pg.Pool({ ...connection, max: CLIENTS, options: '-c search_path=sandbox_us' })
  const figures = { ours: [] as number[], statements: [] as number[], limit: [] as number[] }
  const processor = { ours: [] as number[], statements: [] as number[], limit: [] as number[] }
  /** Its rate, and the processor time of the server and the database for each sample. */
  const measure = async (figure: keyof typeof figures, posts: number, send: (client: number, post: number) => Promise<void>) => {
    const used = await sampleProcessorTime(bench, async () => {
      figures[figure].push(await samplesPerSecond(posts, send))
      return CLIENTS * posts * BATCH
    })
    processor[figure].push(used.server_us + used.database_us)
  }
  let users: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    users = await Promise.all(Array.from({ length: CLIENTS }, (_, i) => newUser(bench, `samples ${i}`)))
    const bodies = Array.from({ length: POSTS }, (_, post) => heartRates(FIRST_MS + post * BATCH * 1000, BATCH))
    await measure('ours', POSTS, async (client, post) => {
      const response = await fetch(`${url}/v2/timeseries/${users[client]}/heartrate`, {
        method: 'POST',
        headers,
        body: bodies[post]!,
      })
      const answer = (await response.json()) as { created?: number }
      if (answer.created !== BATCH) throw new Error(`a post of samples: ${response.status} ${JSON.stringify(answer)}`)
    })
    const values = Array.from({ length: BATCH }, (_, i) => 60 + ((i * 7) % 50))
    const instants = (post: number) => values.map((_, i) => new Date(FIRST_MS + (post * BATCH + i) * 1000).toISOString())
    // Of a user of its own: the rows are new, as those of the others.
    await measure('statements', STATEMENT_POSTS, async (_client, post) => {
      const user = randomUUID()
      const connection = await pool.connect()
      await connection.query('begin')
      for (const [i, at] of instants(post).entries())
        await connection.query({
          name: 'sample',
          text: `insert into bench_sample values ($1, 'heartrate', 'apple_health_kit', 'watch', $2, $3, -25200) ${UPSERT}`,
          values: [user, at, values[i]],
        })
      await connection.query('commit')
      connection.release()
    })
    await measure('limit', POSTS, async (client, post) => {
      await pool.query(
        `insert into bench_sample select $1, 'heartrate', 'apple_health_kit', 'watch', at, value, -25200
         from unnest($2::timestamptz[], $3::float8[]) as g (at, value) ${UPSERT}`,
        [users[client], instants(post), values],
      )
    })
  }
  const ours = { rate: median(figures.ours), us: median(processor.ours) }
  for (const [of, name, goal] of [
    ['statements', 'a statement for each', 'at least 5'],
    ['limit', 'a row for each', 'limit: one statement for all rows of a post'],
  ] as const) {
    const other = { rate: median(figures[of]), us: median(processor[of]) }
    report(
      `post ${BATCH.toLocaleString('en')} samples; limit: ${name}`,
      rate(ours.rate),
      rate(other.rate),
      (ours.rate / other.rate).toFixed(2),
      goal,
    )
    report(
      '  processor time of each sample',
      `${ours.us.toFixed(1)} µs`,
      `${other.us.toFixed(1)} µs`,
      (ours.us / other.us).toFixed(2),
      'server and database; limit: without its client',
    )
  }
  await pool.end()
  const { rows } = await db.query(
    `select (pg_total_relation_size('chunk') + pg_total_relation_size('series'))::float8 / (select sum(samples) from chunk) as ours,
            pg_total_relation_size('bench_sample')::float8 / (select count(*) from bench_sample) as rows`,
  )
  const [{ ours: bytes, rows: bytesOfRows }] = rows
  report(
    'bytes on disk of a heart rate',
    bytes.toFixed(1),
    bytesOfRows.toFixed(1),
    (bytes / bytesOfRows).toFixed(2),
    'under 8; limit: a row each',
  )
  await db.query('drop table bench_sample')
}

const TAIL_BYTES = 400

/**
 * Reads a whole day of a user, page by page. The bytes alone, and without `fetch`, with which this client took a quarter of the time.
 */
async function readDay({ url, headers }: Bench, user_id: string, onPage?: (page: Buffer) => void): Promise<void> {
  const path = `${url}/v2/timeseries/${user_id}/heartrate/grouped?start_date=2025-01-01&end_date=2025-01-01`
  for (let next: string | undefined = ''; next !== undefined;) {
    const response = await new Promise<IncomingMessage>((resolve, reject) =>
      get(next ? `${path}&next_cursor=${next}` : path, { headers, agent }, resolve).on('error', reject),
    )
    if (response.statusCode !== 200) throw new Error(`a page of a day was answered ${response.statusCode}`)
    const parts: Buffer[] = []
    let tail = Buffer.alloc(0)
    for await (const part of response as AsyncIterable<Buffer>) {
      if (onPage) parts.push(part)
      tail = Buffer.concat([tail, part.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES)
    }
    onPage?.(Buffer.concat(parts))
    next = /"next_cursor":"([^"]+)"\}$/.exec(tail.toString())?.[1]
  }
}

export async function readSamples(bench: Bench): Promise<void> {
  const { url, headers, db, team } = bench
  const user_id = await newUser(bench, 'day')
  for (let from = 0; from < DAY_S; from += BATCH)
    await fetch(`${url}/v2/timeseries/${user_id}/heartrate`, {
      method: 'POST',
      headers,
      body: heartRates(FIRST_MS + from * 1000, Math.min(BATCH, DAY_S - from)),
    }).then((response) => response.text())
  let count = 0
  await readDay(bench, user_id, (page) => {
    const { groups } = JSON.parse(page.toString()) as { groups: Record<string, { data: unknown[] }[]> }
    for (const { data } of Object.values(groups).flat()) count += data.length
  })
  if (count !== DAY_S) throw new Error(`a day of ${count} samples`)
  // The first twenty days of a process take a fifth longer than later ones.
  const DAYS_READ = 100
  let ms = 0
  const used = await sampleProcessorTime(bench, async () => {
    ms = await medianMs(() => readDay(bench, user_id), DAYS_READ)
    return DAYS_READ + WARM_UPS
  })
  const bare_ms = await medianMs(() => db.query('select hour, at, values from chunk where user_id = $1', [user_id]), DAYS_READ)
  const ratio = (ms / bare_ms).toFixed(2)
  report(
    'read a day of 86,400 samples',
    `${ms.toFixed(0)} ms median`,
    `${bare_ms.toFixed(1)} ms`,
    ratio,
    'at most 4; limit: its rows',
  )
  report('  processor time', `${(used.server_us / 1000).toFixed(0)} ms`, '', '', 'of the server')
  report('', `${(used.database_us / 1000).toFixed(0)} ms`, '', '', 'of the database')

  // The same day many times over.
  const days = 116
  await db.query(
    `insert into chunk (team_id, user_id, series_id, hour, samples, at, values, seconds, lengths, zones, types)
     select team_id, user_id, series_id, hour - n * interval '1 day', samples, at, values, seconds, lengths, zones, types
     from chunk, generate_series(1, ${days - 1}) as n where user_id = $1`,
    [user_id],
  )
  await db.query(`update resource_state set sent_count = sent_count * ${days} where user_id = $1`, [user_id])
  await db.query('vacuum analyze chunk, resource_state')
  const counted = await medianMs(async () => {
    const { data } = await bench.api('GET', `/v2/introspect/resources?user_id=${user_id}`)
    const count = data[0].provider.apple_health_kit.heartrate.sent_count
    if (count !== days * DAY_S) throw new Error(`${count} samples counted`)
  }, 40)
  report(
    `count the ${(days * DAY_S).toLocaleString('en')} samples of a user`,
    `${counted.toFixed(1)} ms median`,
    '',
    '',
    'under 20 ms',
  )
  void team
}

const USERS = 10_000
const DAYS = 30

export async function readSummaries({ url, headers, db, team }: Bench): Promise<void> {
  const { rows } = await db.query(
    `with g as (
       insert into "user" (id, team_id, client_user_id, created_on)
       select gen_random_uuid(), $1, 'summaries-' || i, now() from generate_series(1, ${USERS}) as i returning id)
     select id from g`,
    [team],
  )
  await db.query(
    `insert into summary (team_id, user_id, kind, provider, key, id, source_type, calendar_date, document, created_at, updated_at)
     select $1, u, 'activity', 'oura', to_char(day, 'YYYY-MM-DD'), gen_random_uuid(), 'ring', day,
            jsonb_build_object('steps', 8000 + n, 'calories_total', 2100, 'calories_active', 400, 'distance', 6000, 'calendar_date', to_char(day, 'YYYY-MM-DD')), now(), now()
     from unnest($2::uuid[]) as u, generate_series(0, ${DAYS - 1}) as n, lateral (select date '2025-01-01' + n as day) d`,
    [team, rows.map(({ id }: { id: string }) => id)],
  )
  await db.query('vacuum analyze summary')
  const requests = rows.map(({ id }: { id: string }) => ({
    path: `/v2/summary/activity/${id}?start_date=2025-01-15&end_date=2025-01-15`,
  }))
  const result = await autocannon({ url, headers, requests, connections: 10, duration: 3 })
  if (result.non2xx || result.errors) throw new Error(`${result.non2xx} answers were no success, ${result.errors} errors`)
  report(
    `a day of each of ${USERS.toLocaleString('en')} users, summaries`,
    rate(result.requests.average),
    '',
    '',
    `${DAYS} days each`,
  )
}
