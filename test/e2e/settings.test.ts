// Settings and commands: what cannot be used is said in sentences before anything is made, and what can be used is used.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { openEmbedded, type Embedded } from '../../src/platform/embedded-postgres/embedded-postgres.ts'
import { generateVaultKey } from '../../src/platform/crypto/vault.ts'
import { runToEnd } from '../support/local-command.ts'
import {
  caller,
  connectionOf,
  demoIn,
  runCli,
  stopAll,
  folder,
  migrateDataDir,
  onDatabase,
  outcome,
  postmastersOn,
  serving,
  servingFirst,
  waitUntil,
  type Server,
} from '../support/program.ts'

let external: Embedded | undefined
after(async () => {
  await external?.stop()
  await stopAll()
})

describe('a setting that cannot be used', { concurrency: 2 }, () => {
  const DATA_DIR = folder('refused')
  // What else may be wrong with a setting: src/settings/config.test.ts.
  test('stops the start with a message that names all of them, without passwords, before anything is made', async () => {
    const settings = { PORT: '65536', CELLS: 'moon', LOG_LEVEL: 'loud', DATABASE_URL: 'nonsense', HOST: '0.0.0.0' }
    const DATABASE_URL_CONTROL = 'mysql://someone:swordfish@localhost/data'
    const { code, stdout, err } = await outcome('start', { ...settings, DEMO: 'on', DATABASE_URL_CONTROL, DATA_DIR })
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(err, /^drawbridge: PORT must be a whole number from 0 to 65535, not "65536"\.$/m)
    for (const name of ['CELLS', 'LOG_LEVEL', 'DATABASE_URL', 'DATABASE_URL_CONTROL', 'HOST'])
      assert.match(err, new RegExp(`^(drawbridge: )?${name} .*\\.$`, 'm'))
    assert.doesNotMatch(err, /swordfish/)
    assert.equal(existsSync(DATA_DIR), false)
  })

  test('can be a HOST that is not an address of this machine', async () => {
    const { code, err } = await outcome('start', {
      DATA_DIR: folder('data'),
      CELLS: 'sandbox-us',
      PORT: '0',
      HOST: '192.0.2.1',
      DEMO: 'off',
      LOG_LEVEL: 'silent',
    })
    assert.deepEqual(
      [code, err],
      [1, 'drawbridge: HOST is 192.0.2.1, which is not an address of this machine (EADDRNOTAVAIL).\n'],
    )
    assert.deepEqual(postmastersOn(folder('data')), [])
  })

  test('can be a database that does not exist', async () => {
    const DATABASE_URL = `postgres://nobody@/nothing?host=${folder('nowhere')}`
    const settings = { DATABASE_URL, PORT: '0', LOG_LEVEL: 'silent', DATA_DIR }
    const { code, err } = await outcome('start', settings)
    assert.deepEqual([code, err], [1, 'drawbridge: Cannot connect to the database (ENOENT). Check DATABASE_URL.\n'])
  })
})

/** Within this process. Processes of commands: test/e2e/command-line.test.ts. */
describe('a command', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }

  test('that is unknown prints one line and ends with exit code 2', async () => {
    const err = `drawbridge: Unknown command 'fly'. "bin/drawbridge help" lists the commands.\n`
    assert.deepEqual(await runToEnd(['fly']), { code: 2, stdout: '', err })
  })

  test('that is missing prints the help', async () => {
    const { code, stdout, err } = await runToEnd([])
    assert.deepEqual([code, err], [0, ''])
    for (const name of ['start', 'serve', 'work', 'migrate', 'openapi', 'operations', 'version'])
      assert.match(stdout, new RegExp(`^  ${name} .*\\w`, 'm'))
  })

  test('prints the version', async () => {
    assert.deepEqual(await runToEnd(['version']), { code: 0, stdout: `${version}\n`, err: '' })
  })

  test('prints the OpenAPI document, and a line for each operation and path', async () => {
    const [openapi, operations] = await Promise.all([runToEnd(['openapi']), runToEnd(['operations'])])
    assert.deepEqual([openapi.code, openapi.err, operations.code, operations.err], [0, '', 0, ''])
    const { info, paths } = JSON.parse(openapi.stdout) as {
      info: { version: string }
      paths: Record<string, Record<string, unknown>>
    }
    assert.equal(info.version, version)
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const listed = operations.stdout
      .trimEnd()
      .split('\n')
      // The mark of a parameter that takes the rest of the path is ours, not the description's.
      .map((line) => line.split(/ +/).slice(0, 2).join(' ').replace('...', ''))
    assert.ok(listed.includes('POST /v3/order/testkit'))
    assert.deepEqual(described.sort(), listed.sort())
  })
})

const schemasIn = (connection: Embedded['connection']) =>
  onDatabase(connection, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select nspname as name from pg_namespace where nspname !~ '^(pg_|information_schema$|public$)' order by 1`,
    )
    return rows.map(({ name }) => name)
  })

const readStatuses = async (url: string, api_keys: Record<string, string>) =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(api_keys).map(async ([cell, key]) => [cell, (await caller(url, key).get('/v3/lab_tests')).status] as const),
    ),
  )

describe('a new data folder', { concurrency: 1 }, () => {
  const dataDir = folder('new')
  const settings = { DATA_DIR: dataDir, CELLS: 'sandbox-us' }
  const done = { code: 0, stdout: 'Migrations complete.\n' }
  let one: Server

  test('is migrated by a command', async () => {
    const { code, stdout } = await outcome('migrate', settings)
    assert.deepEqual({ code, stdout }, done)
    assert.deepEqual(postmastersOn(dataDir), [])
    assert.equal(existsSync(join(dataDir, 'demo.json')), false)
  })

  test('has the schemas of the cells that are served, and a server of one cell accepts keys of that cell only', async () => {
    one = await servingFirst(dataDir, settings)
    const rest = { 'sandbox-eu': 401, 'production-us': 401, 'production-eu': 401 }
    assert.deepEqual(await readStatuses(one.url, demoIn(dataDir).api_keys), { 'sandbox-us': 200, ...rest })
    assert.deepEqual(await schemasIn(connectionOf(dataDir)), ['control', 'sandbox_us'])
  })

  test('is migrated while a server runs', async () => {
    const { code, stdout } = await outcome('migrate', settings)
    assert.deepEqual({ code, stdout }, done)
    assert.equal((await caller(one.url).get('/readyz')).status, 200)
  })

  test('has a worker in addition to the server, which ends when the server ends', async () => {
    const worker = runCli('work', settings)
    await worker.says(/^Worker started\.$/m)
    assert.equal(await one.end('SIGTERM'), 0)
    assert.equal(await worker.exitStatus, 1)
    assert.match(worker.sentences().join(), /^PostgreSQL on .* has ended unexpectedly\.$/)
  })

  test('keeps its keys, and a later server of more cells accepts more of them', async () => {
    const { api_keys } = demoIn(dataDir)
    const two = await serving(dataDir, { CELLS: 'sandbox-us,production-eu' })
    assert.deepEqual(demoIn(dataDir).api_keys, api_keys)
    const rest = { 'sandbox-eu': 401, 'production-us': 401 }
    assert.deepEqual(await readStatuses(two.url, api_keys), { 'sandbox-us': 200, 'production-eu': 200, ...rest })
    assert.equal(await two.end('SIGTERM'), 0)
  })
})

describe('a database of your own', () => {
  const cells = ['sandbox-us', 'production-eu']
  const CELLS = cells.join()
  const databases = ['everything', 'control', 'sandbox_us', 'production_eu']
  const inDatabase = (database: string) => ({ ...external!.connection, database })
  /** As an operator writes it: over the socket, without a host. */
  const addressOf = (database: string) => {
    const { user, password, host } = external!.connection
    return `postgres://${user}:${password}@/${database}?host=${host}`
  }

  before(async () => {
    const settings = { fsync: 'off', max_connections: '200' }
    external = await openEmbedded({ dataDir: migrateDataDir(folder('external')), ownership: 'required', log: () => {}, settings })
    await onDatabase(external.connection, async (client) => {
      for (const name of databases) await client.query(`create database ${name}`)
    })
  })

  test('is migrated by no command but start and migrate', async () => {
    const settings = { DATABASE_URL: addressOf('everything'), ENCRYPTION_KEYS: generateVaultKey(), CELLS }
    // Commands on the cells, `jobs list` among them, share what they do first (src/cli/administer.ts).
    for (const [command, ...words] of [['jobs', 'list'], ['serve'], ['work']]) {
      const { code, err } = await outcome(command!, settings, ...words)
      assert.equal(code, 1, command)
      assert.match(err, /^drawbridge: The schema "control" has not been created\. Run "bin\/drawbridge migrate" first\.$/m)
    }
    assert.deepEqual(await schemasIn(inDatabase('everything')), [])
  })

  test('is used instead of the bundled one, without demo data', async () => {
    const unused = folder('unused')
    const server = await serving(unused, {
      DATABASE_URL: addressOf('drawbridge'),
      ENCRYPTION_KEYS: generateVaultKey(),
      CELLS: 'sandbox-us',
    })
    assert.equal((await caller(server.url).get('/readyz')).status, 200)
    assert.equal((await caller(server.url, `sk_us_${'x'.repeat(43)}`).get('/v3/lab_tests')).status, 401)
    assert.equal(server.stdout().trimEnd().split('\n').length, 4)
    assert.equal(await server.end('SIGTERM'), 0)
    assert.equal(existsSync(unused), false)
    const orgs = await onDatabase(inDatabase('drawbridge'), (client) => client.query('select id from control.org'))
    assert.deepEqual(orgs.rows, [])
  })

  test('hold how long the access log is kept: `migrate` stores it, and a server with another setting warns', async () => {
    const settings = { DATABASE_URL: addressOf('drawbridge'), DATA_DIR: folder('kept'), CELLS: 'sandbox-us' }
    const days = async () =>
      (
        await onDatabase(inDatabase('drawbridge'), (client) =>
          client.query('select days, database_days from sandbox_us.access_log_retention'),
        )
      ).rows
    const migrate = (overrides: Record<string, string>) => outcome('migrate', { ...settings, ...overrides })
    assert.equal((await migrate({ ACCESS_LOG_DATABASE_DAYS: '0' })).code, 0)
    assert.deepEqual(await days(), [{ days: 2192, database_days: null }])
    assert.equal((await migrate({ ACCESS_LOG_DAYS: '30' })).code, 0)
    assert.deepEqual(await days(), [{ days: 30, database_days: 90 }])
    // `serving` migrates for a folder that is not there.
    mkdirSync(settings.DATA_DIR)
    const server = await serving(
      settings.DATA_DIR,
      { ...settings, ACCESS_LOG_DAYS: '7', ACCESS_LOG_DATABASE_DAYS: '0', LOG_LEVEL: 'warn' },
      'serve',
    )
    const warnings = () =>
      server
        .err()
        .split('\n')
        .filter((line) => line.includes('is not applied'))
    await waitUntil(() => warnings().length > 1)
    const [whole, inDatabaseOnly] = warnings().map((line) => JSON.parse(line))
    assert.deepEqual([whole.days, whole.access_log_days], [30, 7])
    assert.deepEqual([inDatabaseOnly.days, inDatabaseOnly.access_log_database_days], [90, 0])
    assert.equal(await server.end('SIGTERM'), 0)
    assert.deepEqual(await days(), [{ days: 30, database_days: 90 }])
  })

  test('can differ for each cell, and the cells share no data', async () => {
    const dataDir = folder('apart')
    const addresses = databases.slice(1).map((name) => [`DATABASE_URL_${name.toUpperCase()}`, addressOf(name)])
    const server = await serving(dataDir, { ...Object.fromEntries(addresses), CELLS, DEMO: 'on' })
    const { api_keys } = demoIn(dataDir)
    const users = new Map<string, string>()
    for (const cell of cells) {
      const { status, body } = await caller(server.url, api_keys[cell]).post('/v2/user', { client_user_id: 'one of two' })
      assert.equal(status, 200)
      users.set(cell.replace('-', '_'), body.user_id)
    }
    for (const [schema, user_id] of users) {
      assert.deepEqual(await schemasIn(inDatabase(schema)), [schema])
      const found = await onDatabase(inDatabase(schema), (client) => client.query(`select id from ${schema}."user"`))
      assert.deepEqual(found.rows, [{ id: user_id }])
    }
    assert.deepEqual(await schemasIn(inDatabase('control')), ['control'])
    assert.equal(existsSync(`${dataDir}/postgres`), false)
    assert.equal(await server.end('SIGTERM'), 0)
  })
})
