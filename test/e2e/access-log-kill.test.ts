// The program is killed between a read and the writing of its line in the access log: what may be lost is said in docs/SECURITY.md. A worker is
// killed while it archives days of the log: nothing is lost.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openEmbedded, type Embedded } from '../../src/platform/embedded-postgres/embedded-postgres.ts'
import { generateVaultKey } from '../../src/platform/crypto/vault.ts'
import { accessRow, appendDayAsOwner, dayAgo } from '../support/access-days.ts'
import {
  caller,
  demoIn,
  stopAll,
  folder,
  migrateDataDir,
  onDatabase,
  outcome,
  runCli,
  serving,
  waitUntil,
  type Caller,
  type Server,
} from '../support/program.ts'

/** How often the program is killed until that came before the line was written; a kill is much quicker than the half second it takes. */
const KILLS_MAX = 10
/** How often a worker is killed while it archives days. */
const ARCHIVE_KILLS = Number(process.env.ARCHIVE_KILLS ?? 2)

const dataDir = folder('data')
let database: Embedded
let settings: Record<string, string>

before(async () => {
  const external = migrateDataDir(folder('external'))
  database = await openEmbedded({ dataDir: external, ownership: 'required', log: () => {}, settings: { fsync: 'off' } })
  const { host, port, user, password, database: name } = database.connection
  settings = {
    DATABASE_URL: `postgres://${user}:${password}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
    CELLS: 'sandbox-us',
    DEMO: 'on',
    ENCRYPTION_KEYS: generateVaultKey(),
  }
})

after(async () => {
  await stopAll()
  await database?.stop()
})

/** Which of these requests have a line, by the operation and whom it is about. */
const listWrittenLines = (): Promise<string[]> =>
  onDatabase({ connectionString: settings.DATABASE_URL! }, async (client) => {
    const { rows } = await client.query<{ line: string }>('select line from sandbox_us.access_log order by seq')
    return rows
      .map(({ line }) => JSON.parse(line) as { operation: string; users: string[] })
      .map(({ operation, users }) => `${operation} ${users.join()}`)
  })

async function assertVerified(): Promise<void> {
  const { code, stdout, err } = await outcome('access-log', { DATA_DIR: dataDir, ...settings }, 'verify')
  assert.equal(code, 0, stdout + err)
  assert.match(stdout, /none changed/)
}

const startServer = async (overrides: Record<string, string> = {}): Promise<{ server: Server; api: Caller }> => {
  const server = await serving(dataDir, { ...settings, ...overrides })
  return { server, api: caller(server.url, demoIn(dataDir).api_keys['sandbox-us']) }
}

async function createUser(api: Caller): Promise<string> {
  const { status, body } = await api.post('/v2/user', { client_user_id: randomUUID() })
  assert.equal(status, 200)
  return body.user_id
}

/** The program as it was started again after the kill. */
let strict: { server: Server; api: Caller } | undefined

test('a kill loses the lines of reads of the last second and nothing else, and the log verifies afterwards', async (t) => {
  const kept: string[] = []
  for (let kills = 1; ; kills++) {
    assert(kills <= KILLS_MAX, 'the line was always written before the program was killed')
    const { server, api } = await startServer()
    const user = await createUser(api)
    assert.equal((await api.get(`/v2/user/${user}`)).status, 200)
    kept.push(`create_user ${user}`, `get_user ${user}`)
    await waitUntil(async () => {
      const lines = await listWrittenLines()
      return kept.every((line) => lines.includes(line))
    })
    const changed = await createUser(api)
    assert.equal((await api.get(`/v2/user/${changed}`)).status, 200)
    await server.end('SIGKILL')
    kept.push(`create_user ${changed}`)
    const read = `get_user ${changed}`
    const isLost = !(await listWrittenLines()).includes(read)

    strict = await startServer({ ACCESS_LOG: 'strict' })
    await waitUntil(async () => (await listWrittenLines()).includes(`create_user ${changed}`))
    await assertVerified()
    const lines = await listWrittenLines()
    assert.deepEqual(lines.filter((line) => kept.includes(line)).toSorted(), kept.toSorted())
    assert.equal(lines.includes(read), !isLost)
    if (isLost) return t.diagnostic(`killed ${kills} times`)
    assert.equal(await strict.server.end('SIGTERM'), 0)
    kept.push(read)
  }
})

test('under ACCESS_LOG=strict the line of a read is there before its answer, and stays when the program is killed then', async () => {
  assert(strict, 'the program was not started again')
  const { server, api } = strict
  const user = await createUser(api)
  for (let reads = 1; reads <= 20; reads++) {
    assert.equal((await api.get(`/v2/user/${user}`)).status, 200)
    assert.equal((await listWrittenLines()).filter((line) => line === `get_user ${user}`).length, reads)
  }
  assert.equal((await api.get('/v2/user')).status, 200)
  await server.end('SIGKILL')
  assert.match((await listWrittenLines()).at(-1)!, /^get_teams_users /)
  await assertVerified()
})

test('a stop loses no line of a read', async () => {
  const { server, api } = await startServer()
  const user = await createUser(api)
  assert.equal((await api.get(`/v2/user/${user}`)).status, 200)
  assert.equal(await server.end('SIGTERM'), 0)
  const lines = await listWrittenLines()
  for (const line of [`create_user ${user}`, `get_user ${user}`]) assert(lines.includes(line), line)
  await assertVerified()
})

const ARCHIVE_CELL = 'sandbox-eu'
const [OLD_DAYS, LINES_A_DAY] = [8, 300]

test('a worker that is killed while it archives days loses no line and doubles none, and the next one continues', async (t) => {
  const worker = { ...settings, CELLS: ARCHIVE_CELL, DEMO: 'off', DATA_DIR: folder('archive'), ACCESS_LOG_DATABASE_DAYS: '30' }
  assert.equal((await outcome('migrate', worker)).code, 0)
  const [user, team] = [randomUUID(), randomUUID()]
  const inCell = <R>(work: Parameters<typeof onDatabase<R>>[1]) => onDatabase({ connectionString: settings.DATABASE_URL! }, work)
  const count = async (rows: string): Promise<number> =>
    inCell(async (client) => (await client.query(`select count(*)::int as n from sandbox_eu.${rows}`)).rows[0].n)
  await inCell(async (client) => {
    for (let day = OLD_DAYS; day >= 0; day--) {
      const rows = Array.from({ length: LINES_A_DAY }, (_, i) => accessRow({ user, team, request: `fictional-${day}-${i}` }))
      await appendDayAsOwner(client, 'sandbox_eu', dayAgo(day === 0 ? 0 : 30 + day), rows)
    }
  })
  const { rows } = await inCell((client) =>
    client.query(`select seq::int, encode(hash, 'hex') as hash, line from sandbox_eu.access_log order by seq`),
  )
  const countSteps = async () => (await count('access_archive')) + (await count('access_day where archived_at is not null'))
  for (let kills = 1; kills <= ARCHIVE_KILLS; kills++) {
    const { child, exitStatus } = runCli('work', worker)
    const steps = await countSteps()
    await waitUntil(async () => (await countSteps()) > steps)
    child.kill('SIGKILL')
    await exitStatus
    await inCell((client) => client.query('update sandbox_eu.access_archive_lease set leased_until = now()'))
    t.diagnostic(`killed after ${await countSteps()} steps`)
  }
  const { child, exitStatus } = runCli('work', worker)
  await waitUntil(async () => (await count('access_day where archived_at is not null')) === OLD_DAYS)
  child.kill('SIGTERM')
  assert.equal(await exitStatus, 0)
  const { code, stdout, err } = await outcome('access-log', worker, 'export', '--cell', ARCHIVE_CELL)
  assert.equal(code, 0, err)
  const exported = stdout.split('\n').slice(0, rows.length)
  assert.deepEqual(
    exported.map((line) => [JSON.parse(line).seq, JSON.parse(line).hash, line.slice(line.indexOf('"line":') + 7, -1)]),
    rows.map(({ seq, hash, line }) => [seq, hash, line]),
  )
  assert.match((await outcome('access-log', worker, 'verify', '--cell', ARCHIVE_CELL)).stdout, /none changed/)
  // One file for each day, and at most one that each killed worker left.
  const files = readdirSync(join(worker.DATA_DIR, 'report-files')).length
  assert(files >= OLD_DAYS && files <= OLD_DAYS + ARCHIVE_KILLS, `${files} files`)
  assert.equal(await count('access_archive'), OLD_DAYS)
})
