// The drill of docs/operating/recovery.md, with its commands as they stand there: the data of a cell is destroyed, and the database returns to
// the moment before.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { generateVaultKey } from '../../src/platform/crypto/vault.ts'
import { debianPostgres } from '../support/debian-postgres.ts'
import { readCommands } from '../support/page-commands.ts'
import { address, patient } from '../support/people.ts'
import {
  caller,
  demoIn,
  folder,
  onDatabase,
  outcome,
  serving,
  start,
  stopAll,
  waitUntil,
  type Caller,
} from '../support/program.ts'

const PAGE = 'docs/operating/recovery.md'
/** PostgreSQL refuses root. */
const isRoot = process.getuid?.() === 0
const account = isRoot ? { uid: 65534, gid: 65534 } : {}
const asPostgres = isRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []

const home = folder('recovery')
const variables = {
  PGDATA: join(home, 'data'),
  LOG: join(home, 'postgres.log'),
  WAL: join(home, 'the archive'),
  BACKUP: join(home, 'backup'),
  ADMIN_URL: `postgres://postgres@/postgres?host=${encodeURIComponent(home)}`,
  DATABASE_URL: `postgres://drawbridge@/drawbridge?host=${encodeURIComponent(home)}`,
}
const settings = {
  DATABASE_URL: variables.DATABASE_URL,
  CELLS: 'sandbox-us',
  DATABASE_CONNECTIONS: '4',
  LOG_LEVEL: 'silent',
  ENCRYPTION_KEYS: generateVaultKey(),
}

const stopPostgres = () => {
  const file = join(variables.PGDATA, 'postmaster.pid')
  if (existsSync(file)) process.kill(Number(readFileSync(file, 'utf8').split('\n', 1)[0]), 'SIGQUIT')
}
after(async () => {
  try {
    stopPostgres()
  } finally {
    await stopAll()
  }
})

/** Runs the commands of the page that follow a mark, those of PostgreSQL as its account. @returns what they printed */
async function drill(bin: string, mark: string, values: Record<string, string> = {}): Promise<string> {
  const commands = readCommands(PAGE, mark)
  const [ofPostgres, ofProgram] = commands.split(/^(?=bin\/drawbridge)([^]*)/m)
  const env = { ...settings, ...variables, ...values, PATH: `${bin}:${process.env.PATH}` }
  const printed = await runShell(asPostgres, ofPostgres!, env)
  return ofProgram === undefined ? printed : printed + (await runShell([], ofProgram, env))
}

async function runShell(prefix: string[], commands: string, env: Record<string, string>): Promise<string> {
  const [program = 'bash', ...args] = [...prefix, 'bash', '-euo', 'pipefail', '-c', commands]
  const shell = start({ program, args, settings: env })
  assert.equal(await shell.exitStatus, 0, `${shell.err()}${readFileSync(variables.LOG, 'utf8').slice(-3000)}`)
  return shell.stdout()
}

/** A new cluster, on a socket in its folder, with the login and the database of the program. */
function createCluster(bin: string): void {
  for (const path of [home, variables.WAL, variables.BACKUP]) {
    mkdirSync(path)
    if (isRoot) chownSync(path, account.uid!, account.gid!)
  }
  chmodSync(home, 0o755)
  const run = (program: string, ...args: string[]) => {
    const { status, stderr } = spawnSync(join(bin, program), args, {
      ...account,
      cwd: home,
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    assert.equal(status, 0, stderr)
  }
  run('initdb', '-D', variables.PGDATA, '-U', 'postgres', '--auth=trust', '--no-sync')
  const lines = [`unix_socket_directories = '${home}'`, `listen_addresses = ''`, 'fsync = off', '']
  appendFileSync(join(variables.PGDATA, 'postgresql.conf'), lines.join('\n'))
  run('pg_ctl', '-D', variables.PGDATA, '-l', variables.LOG, 'start')
  run('psql', '-d', variables.ADMIN_URL, '-qc', 'create role drawbridge login createrole')
  run('psql', '-d', variables.ADMIN_URL, '-qc', 'create database drawbridge owner drawbridge')
}

interface Order {
  id: string
  body: unknown
}

/** Places orders for test kits. */
async function placeOrders(api: Caller, count: number): Promise<Order[]> {
  const { user_id } = (await api.post('/v2/user', { client_user_id: `fictional-${crypto.randomUUID()}` })).body
  const [{ id: lab_test_id }] = (await api.get('/v3/lab_tests?collection_method=testkit')).body
  const orders: Order[] = []
  for (let i = 0; i < count; i++) {
    const order = { user_id, lab_test_id, patient_details: patient, patient_address: address }
    const { status, body } = await api.post('/v3/order', order, { 'x-idempotency-key': `fictional-${crypto.randomUUID()}` })
    assert.equal(status, 200, JSON.stringify(body))
    orders.push({ id: body.order.id, body: (await api.get(`/v3/order/${body.order.id}`)).body })
  }
  return orders
}

const followTo = async (api: Caller, cursor?: string) => {
  const { status, body } = await api.get(`/v1/events/follow${cursor === undefined ? '' : `?next_cursor=${cursor}`}`)
  assert.equal(status, 200)
  return body as { data: { object_id: string }[]; next_cursor: string; epoch: number }
}

test(
  'a database returns to the moment before its data was destroyed, and the program goes on from there',
  { timeout: 120_000 },
  async (t) => {
    const bin = debianPostgres()
    if (!bin) {
      assert.notEqual(process.env.CI_POSTGRES, 'required', 'CI has no PostgreSQL of Debian')
      return t.skip('PostgreSQL of Debian is not installed')
    }
    createCluster(bin)
    await drill(bin, 'archive')
    let server = await serving(folder('recovery-server'), { ...settings, DEMO: 'on' })
    const key = demoIn(server.dataDir).api_keys['sandbox-us']
    let api = caller(server.url, key)
    await followTo(api)
    const early = await placeOrders(api, 2)
    await drill(bin, 'base backup')
    const before = [...early, ...(await placeOrders(api, 3))]
    const MOMENT = await onDatabase(
      { connectionString: variables.ADMIN_URL },
      async (client) => (await client.query<{ now: string }>('select clock_timestamp()::text as now')).rows[0]!.now,
    )
    const later = await placeOrders(api, 3)
    let followed = await followTo(api)
    await waitUntil(async () => {
      followed = await followTo(api)
      return later.every(({ id }) => followed.data.some(({ object_id }) => object_id === id))
    })
    assert.equal(await server.end('SIGTERM'), 0)
    const { stdout } = await outcome('access-log', settings, 'verify', '--cell', 'all')
    const [known] = /\d+:[0-9a-f]{64}/.exec(stdout) ?? []
    await onDatabase({ connectionString: variables.DATABASE_URL }, (client) => client.query('drop schema sandbox_us cascade'))

    const printed = await drill(bin, 'restore to a moment', { MOMENT })
    assert(new Date(printed.trim()) <= new Date(MOMENT), printed)
    await drill(bin, 'promote')

    server = await serving(folder('recovery-server-2'), { ...settings, DEMO: 'off' }, 'start')
    api = caller(server.url, key)
    for (const { id, body } of before) assert.deepEqual((await api.get(`/v3/order/${id}`)).body, body)
    for (const { id } of later) assert.equal((await api.get(`/v3/order/${id}`)).status, 404)
    const again = await placeOrders(api, 1)
    // A follower that has read the lost events misses no new one.
    await waitUntil(async () => {
      const { data, epoch } = await followTo(api, followed.next_cursor)
      return epoch > followed.epoch && again.every(({ id }) => data.some(({ object_id }) => object_id === id))
    })
    const { code, err } = await outcome('access-log', settings, 'verify', '--cell', 'sandbox-us', '--known', known!)
    assert.equal(code, 1)
    // New lines may have the number of the one that was noted.
    assert.match(err, /line \d+ (is missing|has another hash)/)
    assert.equal(await server.end('SIGTERM'), 0)
  },
)
