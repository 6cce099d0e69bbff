// What users cost whose phones synchronize each hour, with deliveries to an endpoint: processor time, the log of the database, bytes on
// disk. docs/SCALING.md computes installations from these figures.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  growth,
  HOURS,
  measureTables,
  NOT_OF_USERS,
  samplePosts,
  summaryPosts,
  sumOf,
  type PhonePost,
} from '../test/support/user-day.ts'
import { report } from './measure.ts'
import { sampleProcessorTime } from './processor-time.ts'
import { start, type Bench } from './program.ts'

const USERS = Number(process.env.BENCH_USERS ?? 16)
const CLIENTS = 8

const logBytes = async ({ db }: Bench): Promise<number> =>
  Number((await db.query(`select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`)).rows[0].bytes)

async function sendAll({ url, headers }: Bench, posts: PhonePost[]): Promise<number> {
  const waiting = [...posts]
  const send = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const response = await fetch(url + next.path, { method: 'POST', headers, body: next.body })
      const answer = await response.text()
      if (!response.ok) throw new Error(`a post of a phone: ${response.status} ${answer}`)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, send))
  return posts.length
}

/** Waits until every event is delivered, and what is collected in memory is written. */
async function settle({ db }: Bench): Promise<void> {
  for (let waiting = 1; waiting; await sleep(500)) {
    const { rows } = await db.query(
      `select (select count(*) from event_outbox) + (select count(*) from delivery where due_at is not null) as n`,
    )
    waiting = Number(rows[0].n)
  }
  await sleep(2000)
}

/** A day of some users, with a synchronization each hour, in the order of the hours. */
export async function synchronizePhones(bench: Bench): Promise<void> {
  const { api, createEndpoint, deleteEndpoint } = bench
  const receiver = await start('bench/receiver.ts', [])
  const endpoint = await createEndpoint(receiver.url)
  const users = await Promise.all(
    Array.from({ length: USERS }, async (_, i) => {
      const user = (await api('POST', '/v2/user', { client_user_id: `phone ${i} ${performance.now()}` })) as { user_id: string }
      return user.user_id
    }),
  )
  // What a user has from the first hour on is no part of each day.
  await sendAll(
    bench,
    users.flatMap((user) => [...samplePosts(user, HOURS - 1), ...summaryPosts(user, 0)]),
  )
  await settle(bench)
  const query = (text: string) => bench.db.query<{ name: string; bytes: number }>(text)
  const before = { tables: await measureTables(query, 'sandbox_us'), log: await logBytes(bench) }
  const began = performance.now()
  let posts = 0
  let took_ms = 0
  const used = await sampleProcessorTime(bench, async () => {
    for (let hour = HOURS; hour < 2 * HOURS; hour++)
      posts += await sendAll(
        bench,
        users.flatMap((user) => samplePosts(user, hour)),
      )
    posts += await sendAll(
      bench,
      users.flatMap((user) => summaryPosts(user, 1)),
    )
    took_ms = performance.now() - began
    await settle(bench)
    return posts
  })
  const log = (await logBytes(bench)) - before.log
  const day = growth(before.tables, await measureTables(query, 'sandbox_us'), USERS)
  await deleteEndpoint(endpoint)
  receiver.child.kill()
  const kB = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`
  report(
    'posts of phones that synchronize each hour',
    `${(posts / (took_ms / 1000)).toFixed(0)}/s`,
    '',
    '',
    `${posts} of ${USERS} users`,
  )
  report('  processor time of a post', `${(used.server_us / 1000).toFixed(2)} ms`, '', '', 'of the server, with the delivery')
  report('', `${(used.database_us / 1000).toFixed(2)} ms`, '', '', 'of the database')
  report('  log of the database for a post', kB(log / posts), '', '', '')
  report("  on disk, of a user's day", kB(sumOf(day)), '', '', 'all tables that grow with users')
  for (const [name, bytes] of day) if (!NOT_OF_USERS.has(name)) report(`    ${name}`, kB(bytes), '', '', '')
}
