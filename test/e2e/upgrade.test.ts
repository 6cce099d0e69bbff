// Two releases on one database: this program beside a newer one under load, while the newer migrates, and after it has been taken back.
// The newer release is a copy of this tree with migrations added.
import assert from 'node:assert/strict'
import { cpSync, globSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { shipping } from '../support/people.ts'
import { createExternalDatabase } from '../support/external-database.ts'
import {
  caller,
  demoIn,
  stopAll,
  folder,
  listening,
  onDatabase,
  root,
  serving,
  start,
  waitUntil,
  type Caller,
} from '../support/program.ts'

const database = await createExternalDatabase()
after(async () => {
  await stopAll()
  await database.close()
})

const settings = {
  DATABASE_URL: database.url,
  DATA_DIR: folder('data'),
  CELLS: 'sandbox-us',
  PORT: '0',
  LOG_LEVEL: 'silent',
  REQUESTS_PER_SECOND: '0',
}
const newer = folder('newer')

/** How many migrations of a kind this program has. */
const countMigrations = (kind: 'cell' | 'control') => readdirSync(join(root, 'migrations', kind)).length
const [cell, control] = [countMigrations('cell'), countMigrations('control')]
const fourDigits = (number: number) => String(number).padStart(4, '0')

function copyProgram(): void {
  for (const part of ['src', 'migrations', 'package.json']) cpSync(join(root, part), join(newer, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(newer, 'node_modules'))
  const { DRAWBRIDGE_PROGRAM: bundle } = process.env
  if (bundle) copyBundle(fileURLToPath(bundle))
}

/** What the newer release loads where a run has bundled the program (test/support/program-bundle.ts), with the addresses of the copy. */
const copied = { hooks: join(newer, 'test/support/relative-imports.js'), bundle: join(newer, 'bundle/') }
const hrefOf = (path: string) => pathToFileURL(path).href

function copyBundle(bundle: string): void {
  cpSync(join(root, 'test/support/relative-imports.js'), copied.hooks)
  cpSync(bundle, copied.bundle, { recursive: true })
  for (const file of globSync('**/*.mjs', { cwd: copied.bundle })) {
    const path = join(copied.bundle, file)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(`"${hrefOf(root)}src/`, `"${hrefOf(newer)}/src/`))
  }
}

/** Of the processes of the newer release. Its compiled sources stay out of the project's cache. */
const ofNewer = {
  NODE_COMPILE_CACHE: folder('cache'),
  ...(process.env.DRAWBRIDGE_PROGRAM && { NODE_OPTIONS: `--import=${hrefOf(copied.hooks)}?program=${hrefOf(copied.bundle)}` }),
}

/** Add a migration to the newer release, declared compatible with programs that know the migrations up to a number. */
function addMigration(kind: 'cell' | 'control', compatible_from: number, sql: string): void {
  const number = fourDigits(readdirSync(join(newer, 'migrations', kind)).length + 1)
  const text = `-- compatible with programs from migration ${fourDigits(compatible_from)} on\n${sql};\n`
  writeFileSync(join(newer, 'migrations', kind, `${number}_newer.sql`), text)
}

/** A command of this program, or of the newer one. */
const command = (release: 'this' | 'newer', ...words: string[]) =>
  start({
    args: ['src/cli/entry.js', ...words],
    settings: { ...settings, DEMO: 'off', ...(release === 'newer' && ofNewer) },
    ...(release === 'newer' && { cwd: newer }),
  })

async function runRelease(release: 'this' | 'newer', ...words: string[]) {
  const program = command(release, ...words)
  return { code: await program.exitStatus, stdout: program.stdout(), err: program.err() }
}

const ready = (api: Caller) => api.get('/readyz')
const READY = { status: 200, body: { status: 'ready' } }

/** What the load leaves of a processor to the programs that start beside it. */
const PAUSE_MS = 20

/** Orders and reads until it is stopped; every answer has to be 200. */
function load(api: Caller, scene: { user_id: string; lab_test_id: string }) {
  const orders: string[] = []
  const refusals: string[] = []
  let stopped = false
  const expect = ({ status, body }: Awaited<ReturnType<Caller['get']>>, subject: string) => {
    if (status !== 200) refusals.push(`${subject}: ${status} ${JSON.stringify(body)}`)
    return body
  }
  const orderAndRead = async () => {
    while (!stopped) {
      const order = { ...scene, shipping_details: shipping }
      const { order: created } = expect(await api.post('/v3/order/testkit', order), 'create')
      if (!created) return
      expect(await api.get(`/v3/order/${created.id}`), 'read')
      expect(await api.get('/v3/orders?size=5'), 'list')
      expect(await ready(api), 'readiness')
      orders.push(created.id)
      await sleep(PAUSE_MS)
    }
  }
  const running = Promise.all([orderAndRead(), orderAndRead(), orderAndRead()])
  return {
    orders,
    refusals,
    async stop() {
      stopped = true
      await running
    },
  }
}

test(
  'this program serves at the same time as a newer one and stays ready until a migration is not compatible',
  { timeout: 240_000 },
  async (t) => {
    copyProgram()
    const server = await serving(settings.DATA_DIR, { ...settings, DEMO: 'on' })
    const key = demoIn(settings.DATA_DIR).api_keys['sandbox-us']!
    const api = caller(server.url, key)
    const scene = {
      user_id: (await api.post('/v2/user', { client_user_id: 'upgrade' })).body.user_id as string,
      lab_test_id: (await api.get('/v3/lab_tests?collection_method=testkit')).body[0].id as string,
    }
    const here = load(api, scene)
    const more = async (orders: string[], n = 5) => {
      const from = orders.length
      await waitUntil(() => orders.length >= from + n || here.refusals.length)
      assert.deepEqual(here.refusals, [])
    }

    await t.test('while the newer migrates every request is answered, and the server is ready afterwards', async () => {
      await more(here.orders)
      for (const table of ['lab_order', 'event', 'job', '"user"', 'event_outbox', 'lab_test'])
        addMigration('cell', cell, `alter table ${table} add column newer integer`)
      addMigration('cell', cell, 'create table newer (id integer primary key)')
      addMigration('control', control, 'alter table api_key add column newer integer')
      assert.deepEqual(await runRelease('newer', 'migrate'), { code: 0, stdout: 'Migrations complete.\n', err: '' })
      await more(here.orders)
      assert.deepEqual(await ready(api), READY)
    })

    await t.test('both serve the same orders', async () => {
      const second = await listening(command('newer', 'serve'), settings.DATA_DIR)
      const there = load(caller(second.url, key), scene)
      await waitUntil(() => there.orders.length >= 5 || there.refusals.length)
      await more(here.orders)
      for (const [orders, other] of [
        [here.orders, second.url],
        [there.orders, server.url],
      ] as const) {
        const id = orders.at(-1)!
        assert.equal((await caller(other, key).get(`/v3/order/${id}`)).body.id, id)
      }
      await there.stop()
      assert.deepEqual(there.refusals, [])
      assert.equal(await second.end('SIGTERM'), 0)
    })

    // What the catalog of a newer program would leave.
    const newerCatalog = { name: 'Fictional Laboratory of a newer release', checksum: 'of a newer release' }
    await onDatabase(database.connection, (client) =>
      client.query(
        `with d as (update sandbox_us.catalog_data_version set checksum = $2 where part = 'labs')
         update sandbox_us.lab set name = $1 where id = (select min(id) from sandbox_us.lab)`,
        [newerCatalog.name, newerCatalog.checksum],
      ),
    )

    await t.test('commands of this program work, and change nothing of the newer schema', async () => {
      const before = await migrations()
      assert.equal(before.cell, cell + 7)
      assert.equal((await runRelease('this', 'org', 'create', 'Fictional Clinic')).code, 0)
      assert.deepEqual(await runRelease('this', 'migrate'), { code: 0, stdout: 'Migrations complete.\n', err: '' })
      assert.deepEqual(await migrations(), before)
      assert.deepEqual(await catalog(), newerCatalog)
    })

    await t.test(
      'this program can be started again on the newer schema, and keeps the catalog of the newer program',
      async () => {
        const again = await listening(command('this', 'start'), settings.DATA_DIR)
        assert.deepEqual(await ready(caller(again.url)), READY)
        assert.equal((await caller(again.url, key).get(`/v3/order/${here.orders[0]}`)).status, 200)
        assert.equal(await again.end('SIGTERM'), 0)
        assert.deepEqual(await catalog(), newerCatalog)
      },
    )

    await here.stop()
    assert.deepEqual(here.refusals, [])

    await t.test('the newer program refuses to serve before its migrations have run', async () => {
      addMigration('cell', cell + 8, 'alter table newer drop column id')
      const { code, err } = await runRelease('newer', 'serve')
      const has = `has ${cell + 7} of the ${cell + 8} migrations of this program`
      assert.deepEqual([code, err], [1, `drawbridge: The schema "sandbox_us" ${has}. Run "bin/drawbridge migrate" first.\n`])
    })

    await t.test(
      'after a migration that is not compatible this program is not ready, and refuses to start and to run commands',
      async () => {
        assert.equal((await runRelease('newer', 'migrate')).code, 0)
        const detail =
          'The schema "sandbox_us" is newer than this program and not compatible with it: ' +
          `it has migration ${cell + 8}, which requires a program with migration ${cell + 8}, and this program has ${cell}. Run a newer release.`
        await waitUntil(async () => (await ready(api)).status === 503)
        assert.deepEqual(await ready(api), { status: 503, body: { detail } })
        for (const words of [['start'], ['serve'], ['work'], ['migrate'], ['org', 'create', 'Fictional Clinic']])
          assert.deepEqual(await runRelease('this', ...words), { code: 1, stdout: '', err: `drawbridge: ${detail}\n` })
      },
    )

    assert.equal(await server.end('SIGTERM'), 0)
  },
)

/** How many migrations each schema has had. */
const migrations = () =>
  onDatabase(database.connection, async (client) => {
    const { rows } = await client.query<{ cell: number; control: number }>(
      `select (select count(*)::integer from sandbox_us.migration) as cell, (select count(*)::integer from control.migration) as control`,
    )
    return rows[0]!
  })

/** The first laboratory, and the version of the data that the laboratories are from. */
const catalog = () =>
  onDatabase(database.connection, async (client) => {
    const { rows } = await client.query<{ name: string; checksum: string }>(
      `select name, checksum from sandbox_us.lab, sandbox_us.catalog_data_version where part = 'labs' order by id limit 1`,
    )
    return rows[0]
  })
