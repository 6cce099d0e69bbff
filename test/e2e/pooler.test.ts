// A pooler in front of PostgreSQL, which is Debian's PgBouncer: in session mode the program works, in the other modes it refuses to start.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { generateVaultKey } from '../../src/platform/crypto/vault.ts'
import { openEmbedded, type Embedded } from '../../src/platform/embedded-postgres/embedded-postgres.ts'
import { readConfig } from '../../src/settings/config.ts'
import { freePort } from '../support/free-ports.ts'
import { connectionsOfProcess } from '../support/process-connections.ts'
import { caller, demoIn, folder, onDatabase, outcome, root, serving, stopAll, waitUntil } from '../support/program.ts'

const PAGE = 'docs/operating/pooler.md'
const PROGRAM = '/usr/sbin/pgbouncer'
const skip = existsSync(PROGRAM) || process.env.CI_POOLER === 'required' ? false : 'pgbouncer (Debian) is not installed'

describe('a pooler in front of PostgreSQL', { skip }, () => {
  let database: Embedded
  before(async () => {
    const dataDir = folder('pooler-database')
    mkdirSync(dataDir)
    database = await openEmbedded({ dataDir, ownership: 'required', log: () => {} })
  })
  after(async () => {
    await stopAll()
    for (const stop of stopping) stop()
    await database.stop()
  })

  test('which has session mode serves the program as PostgreSQL does', async () => {
    const settings = settingsFor(await startPooler(database, documentedSettings().pool_mode!))
    const migrated = await outcome('migrate', settings)
    assert.deepEqual([migrated.code, migrated.err], [0, ''])
    const server = await serving(folder('pooled'), { ...settings, DEMO: 'on' }, 'start')
    const api = caller(server.url, demoIn(server.dataDir).api_keys['sandbox-us'])
    const created = await Promise.all(
      Array.from({ length: 20 }, (_, i) => api.post('/v2/user', { client_user_id: `fictional-${i}` })),
    )
    assert.deepEqual([...new Set(created.map(({ status }) => status))], [200])
    assert.equal((await api.get('/v2/user')).body.total, 20)
    const { rows } = await onDatabase(database.connection, (client) =>
      client.query<{ name: string }>(
        `select distinct application_name as name from pg_stat_activity where application_name like 'drawbridge process %'`,
      ),
    )
    assert(rows.length >= 2)
  })

  for (const mode of ['transaction', 'statement'])
    test(`which has ${mode} mode is refused with a sentence, before anything is migrated or served`, async () => {
      const settings = settingsFor(await startPooler(database, mode))
      for (const command of ['migrate', 'serve', 'work', 'start']) {
        const { code, err } = await outcome(command, settings)
        assert.equal(code, 1, command)
        assert.match(err, /^drawbridge: The connections to PostgreSQL do not keep their sessions: .*\n$/, command)
      }
    })

  test('or a server without enough connections for the processes is a warning, and no reason not to start', async () => {
    const url = await startPooler(database, 'session')
    const { code, err } = await outcome('migrate', {
      ...settingsFor(url),
      DATABASE_CONNECTIONS: '100',
      LOG_LEVEL: 'warn',
      LOG_FORMAT: 'json',
    })
    assert.equal(code, 0)
    const warning = err
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { msg: string; connections: number; limit: number })
      .find(({ msg }) => msg.startsWith('PostgreSQL accepts fewer connections'))
    // 251 of the cell, 201 of the control plane.
    assert.deepEqual([warning?.connections, warning?.limit], [251 + 201, 147])
  })
})

test('the table of connections has the numbers that a process may open', () => {
  const rows = [...readFileSync(join(root, PAGE), 'utf8').matchAll(/^\| +(\d+) \| +(\d+) \| +(\d+) \|$/gm)]
  assert.equal(rows.length, 3)
  for (const [, c, one, four] of rows)
    for (const [CELLS, expected] of [
      ['sandbox-us', one],
      ['sandbox-us,sandbox-eu,production-us,production-eu', four],
    ] as const)
      assert.equal(connectionsOfProcess(readConfig({ CELLS, DATABASE_CONNECTIONS: c! })), Number(expected))
})

const settingsFor = (DATABASE_URL: string) => ({
  DATABASE_URL,
  DATA_DIR: folder('pooled'),
  CELLS: 'sandbox-us',
  DATABASE_CONNECTIONS: '4',
  DEMO: 'off',
  LOG_LEVEL: 'silent',
  ENCRYPTION_KEYS: key,
  PORT: '0',
})
const key = generateVaultKey()

const stopping: (() => void)[] = []

/** The settings of deploy/pgbouncer.ini. */
function documentedSettings(): Record<string, string> {
  const [, block = ''] = readFileSync(join(root, 'deploy/pgbouncer.ini'), 'utf8').split('[pgbouncer]\n')
  const pairs = [...block.matchAll(/^(\w+) = (\w+)$/gm)].map(([, name, value]) => [name!, value!] as const)
  return Object.fromEntries(pairs)
}

/** Starts PgBouncer with the settings of deploy/pgbouncer.ini, but for the mode. @returns the URL of the database */
async function startPooler({ connection }: Embedded, pool_mode: string): Promise<string> {
  const { host, port, user, password, database } = connection
  const listen_port = await freePort()
  const file = join(folder(`pooler-${listen_port}`), '..', `pooler-${listen_port}.ini`)
  const server = `host=${host} port=${port} user=${user} password=${password} dbname=${database}`
  const settings = {
    ...documentedSettings(),
    pool_mode,
    listen_addr: '127.0.0.1',
    listen_port,
    unix_socket_dir: '',
    auth_type: 'any',
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(file, ['[databases]', `drawbridge = ${server}`, '[pgbouncer]', ...lines, ''].join('\n'), { mode: 0o644 })
  const asUser = process.getuid?.() === 0 ? ['--user', 'nobody'] : []
  const child = spawn(PROGRAM, ['--quiet', ...asUser, file], { stdio: 'ignore' })
  stopping.push(() => child.kill('SIGKILL'))
  const url = `postgres://${user}@127.0.0.1:${listen_port}/drawbridge`
  await waitUntil(() => onDatabase({ connectionString: url }, () => Promise.resolve(true)).catch(() => false))
  return url
}
