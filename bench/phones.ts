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

/** Rows that were inserted, changed or deleted in the cell since its database was created. */
const rowVersions = async ({ db }: Bench): Promise<number> => {
  const { rows } = await db.query(
    `select sum(n_tup_ins + n_tup_upd + n_tup_del)::float8 as n from pg_stat_user_tables where schemaname = 'sandbox_us'`,
  )
  return rows[0].n
}

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

/** Tables of events, and the column by which their rows are deleted. */
const EXPIRING = [
  ['event_body', 'retained_from'],
  ['event', 'expires_at'],
  ['delivery', 'created_at'],
  ['feed', 'created_at'],
]

/**
 * Deletes all events as the retention does, oldest first and a thousand in a transaction, long after they were written: each page is whole in
 * the log once. @returns the bytes of the log, with those of the vacuum
 */
async function deleteEvents(bench: Bench): Promise<Map<string, number>> {
  const logs = new Map<string, number>()
  for (const [table, column] of EXPIRING) {
    await bench.runAsSuperuser('checkpoint')
    const first = await logBytes(bench)
    for (let deleted = 1; deleted;) {
      const { rowCount } = await bench.db.query(
        `delete from ${table} where ctid = any (array(select ctid from ${table} where ${column} is not null order by ${column} limit 1000))`,
      )
      deleted = rowCount ?? 0
    }
    await bench.db.query(`vacuum ${table}`)
    logs.set(table!, (await logBytes(bench)) - first)
  }
  return logs
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
  const before = {
    tables: await measureTables(query, 'sandbox_us'),
    log: await logBytes(bench),
    versions: await rowVersions(bench),
  }
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
  const versions = (await rowVersions(bench)) - before.versions
  const day = growth(before.tables, await measureTables(query, 'sandbox_us'), USERS)
  const deletions = await deleteEvents(bench)
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
  report('  row versions of a post', (versions / posts).toFixed(1), '', '', 'inserted, changed, or deleted')
  report("  on disk, of a user's day", kB(sumOf(day)), '', '', 'all tables that grow with users')
  for (const [name, bytes] of day) if (!NOT_OF_USERS.has(name)) report(`    ${name}`, kB(bytes), '', '', '')
  for (const [table, bytes] of deletions) report(`  log to delete a user's day of ${table}`, kB(bytes / USERS), '', '', '')
}
