// The start of the server: the printed addresses and keys, restarts, and logs without personal data.
import assert from 'node:assert/strict'
import { existsSync, lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { migrationsOf } from '../../src/platform/db/migrations.ts'
import { runToEnd } from '../support/local-command.ts'
import {
  caller,
  demoIn,
  stopAll,
  folder,
  listening,
  migrateDataDir,
  outcome,
  postmasterPid,
  postmastersOn,
  serving,
  servingFirst,
  start,
  waitUntil,
  type Demo,
  type Server,
} from '../support/program.ts'

const dataDir = folder('data')
const demoFile = join(dataDir, 'demo.json')
let server: Server
let demo: Demo

after(stopAll)

const cells = ['sandbox-us', 'sandbox-eu', 'production-us', 'production-eu']

/** One server of all of them: test/acceptance. */
const served = ['sandbox-us', 'production-eu']
const CELLS = served.join()

/** Checks that every cell of the server accepts its key. */
async function assertKeysWork(url: string, { api_keys }: Demo, accepting = served): Promise<void> {
  const replies = await Promise.all(accepting.map((cell) => caller(url, api_keys[cell]).get('/v3/lab_tests')))
  assert.deepEqual(
    replies.map(({ status }) => status),
    accepting.map(() => 200),
  )
}

async function assertPages(url: string): Promise<void> {
  const { get } = caller(url)
  assert.deepEqual(await get('/healthz'), { status: 200, body: { status: 'alive' } })
  assert.deepEqual(await get('/readyz'), { status: 200, body: { status: 'ready' } })
  assert.match((await get('/metrics')).body, /^drawbridge_http_request_duration_seconds_count\{.*\} \d+$/m)
  assert.match((await get('/openapi.json')).body.openapi, /^3\./)
  const page = await fetch(`${url}/docs`)
  assert.match(page.headers.get('content-type')!, /^text\/html/)
  const html = await page.text()
  const assets = [...html.matchAll(/(?:src|href|url)(?:=|: )["']([^"']+)["']/g)].map(([, path]) => path!)
  assert.deepEqual(
    assets.filter((path) => !path.startsWith('data:')).map((path) => path.split('/').at(-1)),
    ['page.css', 'api-reference.js', 'page.js'],
  )
  const types = await Promise.all(
    assets.map(async (path) => {
      const response = await fetch(new URL(path, url))
      // A server that is ending waits for a response that no client reads.
      await response.arrayBuffer()
      return response.ok && response.headers.get('content-type')
    }),
  )
  assert.deepEqual(types, [
    'text/plain;charset=US-ASCII',
    'text/css; charset=utf-8',
    'text/javascript; charset=utf-8',
    'text/javascript; charset=utf-8',
  ])
  const script = await fetch(`${url}/docs/page.js`)
  assert.ok((await script.text()).includes(`"${new URL(url).pathname.replace(/\/$/, '')}/openapi.json"`))
  const landing = await (await fetch(`${url}/`)).text()
  const links = [...landing.matchAll(/href="(\/[^"]+)"/g)].map(([, path]) => path!)
  assert(links.length > 20, links.join())
  for (const link of links) {
    const response = await fetch(new URL(link, url))
    await response.arrayBuffer()
    assert.equal(response.status, 200, link)
  }
}

/** Values that occur only in the requests of the callers. */
const callerData = {
  client_user_id: 'reference-zebrafinch-4711',
  first_name: 'Quillianna',
  last_name: 'Zebrafinch',
  dob: '1987-03-14',
  phone: '5550100187',
  email: 'quillianna@zebrafinch.example',
  street: '77 Marzipan Crescent',
  city: 'Lower Quagmire',
  zip: '85099',
  passthrough: 'passthrough-marzipan',
  key: 'key-marzipan',
}

const restart = async (settings?: Record<string, string>): Promise<Server> => {
  assert.equal(await server.end('SIGTERM'), 0)
  server = await serving(dataDir, settings)
  return server
}

test('options name the port and the folder in place of the settings, and the printed address is the one that is listened on', async () => {
  const typed = migrateDataDir(folder('typed'))
  const settings = {
    PORT: '1',
    DATA_DIR: '/nowhere',
    HOST: '0.0.0.0',
    DEMO_ON_NETWORK: 'on',
    CELLS: 'sandbox-us',
    LOG_LEVEL: 'silent',
  }
  const args = ['src/cli/entry.js', 'start', '--port', '0', '--data-dir', typed]
  const program = await listening(start({ args, settings }), typed)
  const [, port] = /^http:\/\/0\.0\.0\.0:(\d+)$/.exec(program.url) ?? assert.fail(program.url)
  const { base_url, api_keys } = demoIn(typed)
  assert.equal(base_url, `http://127.0.0.1:${port}`)
  const page = `${base_url}/docs#team_key=${api_keys['sandbox-us']}`
  assert.ok(
    program.stdout().includes(`  Address      ${base_url}\n  Console      ${base_url}/console\n  API page     ${page}\n`),
    program.stdout(),
  )
  assert.equal((await caller(base_url, api_keys['sandbox-us']).get('/v3/lab_tests')).status, 200)
  assert.deepEqual(await runToEnd(['open'], { DATA_DIR: typed }), { code: 0, stdout: `${page}\n`, err: '' })
  assert.equal(await program.end('SIGTERM'), 0)
})

test('files that a server writes are closed to other accounts, with any umask', async () => {
  const parent = folder('umask')
  const dataDir = join(parent, 'new', 'data')
  const words = [process.execPath, 'src/cli/entry.js', 'start'].map((word) => `'${word}'`).join(' ')
  const settings = { DATA_DIR: dataDir, PORT: '0', CELLS: 'sandbox-us', LOG_LEVEL: 'silent' }
  for (const umask of ['0', '0277']) {
    const program = start({ program: 'sh', args: ['-c', `umask ${umask}; exec ${words}`], settings })
    const server = await listening(program, dataDir)
    assert.equal((await caller(server.url, demoIn(dataDir).api_keys['sandbox-us']).get('/v3/lab_tests')).status, 200)
    assert.equal(await server.end('SIGTERM'), 0)
  }
  const isOpen = (path: string) => (lstatSync(join(dataDir, path)).mode & 0o077) !== 0
  const paths = readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
  assert(paths.length > 100)
  assert.deepEqual(paths.filter(isOpen), [])
  // As root, the account of PostgreSQL passes through the folders above its own, and lists none.
  for (const path of [dataDir, dirname(dataDir), parent]) assert.equal(statSync(path).mode & 0o066, 0)
})

test('an option with an invalid port is rejected like the setting', async () => {
  const program = start({ args: ['src/cli/entry.js', 'start', '--port', 'http'], settings: { DATA_DIR: '/nowhere' } })
  assert.equal(await program.exitStatus, 1)
  assert.match(program.err(), /^drawbridge: PORT must be .*"http"/)
})

describe('a start', { concurrency: 1 }, () => {
  test('prints its address, the address of its page, a key, and the file with the other keys', async () => {
    server = await servingFirst(dataDir, { CELLS })
    await server.says(/curl .*\n/)
    demo = demoIn(dataDir)
    const { url } = server
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
    const key = demo.api_keys['sandbox-us']!
    for (const said of [`${url}/docs#team_key=${key}`, key, demoFile]) assert.ok(server.stdout().includes(` ${said}\n`))
    assert.deepEqual(server.sentences(), [])
  })

  test('prints a line for curl that works as it is', async (t) => {
    const line = (await server.says(/^ +(curl .*)$/m))[1]!
    const installed = start({ program: 'curl', args: ['--version'] })
    if (await installed.exitStatus.catch(() => 1)) return t.skip('there is no curl on this machine')
    const shell = start({ program: 'sh', args: ['-c', line] })
    assert.equal(await shell.exitStatus, 0)
    const tests = JSON.parse(shell.stdout()) as { id: string }[]
    assert.ok(tests.length > 3 && tests.every(({ id }) => id))
  })

  test('writes demo.json, for its owner only, with the address, the organization, two teams and a key for each cell', async () => {
    const secret = '[\\w-]{43}'
    assert.deepEqual(Object.keys(demo), ['base_url', 'org_id', 'management_key', 'teams', 'api_keys'])
    assert.equal(demo.base_url, server.url)
    assert.match([demo.org_id, demo.teams.us, demo.teams.eu].join(), /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12},?){3}$/)
    assert.deepEqual(Object.keys(demo.teams), ['us', 'eu'])
    assert.match(demo.management_key, new RegExp(`^mg_${secret}$`))
    assert.deepEqual(Object.keys(demo.api_keys).sort(), cells.toSorted())
    for (const [cell, key] of Object.entries(demo.api_keys))
      assert.match(key, new RegExp(`^${cell.startsWith('sandbox') ? 's' : 'p'}k_${cell.slice(-2)}_${secret}$`))
    assert.equal(statSync(demoFile).mode & 0o777, 0o600)
    assert.equal(statSync(dataDir).mode & 0o007, 0)
    assert.deepEqual(
      readdirSync(dataDir).filter((name) => name.startsWith('demo')),
      ['demo.json'],
    )
    await assertKeysWork(server.url, demo)
    assert.equal((await caller(server.url, `${demo.api_keys['sandbox-us']}x`).get('/v3/lab_tests')).status, 401)
  })

  test('logs the number of applied migrations, the first and the last one', () => {
    const lines = server
      .err()
      .split('\n')
      .filter((line) => line.includes('"migrated"'))
    const said = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.equal(said[0]!.schema, 'control')
    // Cells are migrated at the same time.
    assert.deepEqual(said.map(({ schema }) => schema).sort(), ['control', 'production_eu', 'sandbox_us'])
    const ofCell = migrationsOf('cell').map(({ name }) => name)
    const { migrations, first, last } = said[1]!
    assert.deepEqual([migrations, first, last], [ofCell.length, ofCell[0], ofCell.at(-1)])
  })

  test('every command fails if its output cannot be written', async (t) => {
    if (!existsSync('/dev/full')) return t.skip('there is no /dev/full on this machine')
    for (const words of ['catalog export', 'migrate', 'version', 'help']) {
      const command = start({
        program: 'sh',
        args: ['-c', `"$0" src/cli/entry.js ${words} > /dev/full`, process.execPath],
        settings: { DATA_DIR: dataDir, CELLS: 'sandbox-us', LOG_LEVEL: 'silent' },
      })
      assert.equal(await command.exitStatus, 1, words)
      assert.match(command.err(), /^drawbridge: .*ENOSPC/, words)
    }
  })

  test('serves its pages', () => assertPages(server.url))

  test('on a folder in use fails with one error message, and the first server keeps running', async () => {
    const { code, stdout, err } = await outcome('start', { DATA_DIR: dataDir, PORT: '0' })
    assert.deepEqual([code, stdout], [1, ''])
    assert.equal(err, `drawbridge: The data folder ${dataDir} is in use by another Drawbridge (process ${server.child.pid}).\n`)
    await assertKeysWork(server.url, demo)
    assert.deepEqual(demoIn(dataDir), demo)
  })

  test('after another keeps data and keys, and writes its new address to demo.json', async () => {
    const created = await caller(server.url, demo.api_keys['production-eu']).post('/v2/user', { client_user_id: 'kept' })
    assert.deepEqual([created.status, created.body.team_id], [200, demo.teams.eu])
    const before = server.url
    await restart({ BASE_PATH: '/lab', CELLS })
    assert.notEqual(server.url, before)
    assert.deepEqual(demoIn(dataDir), { ...demo, base_url: server.url })
    assert.match(server.url, /:\d+\/lab$/)
    assert.ok((await server.says(/curl .*\n/))[0].includes(demo.api_keys['sandbox-us']!))
    await assertKeysWork(server.url, demo)
    const found = await caller(server.url, demo.api_keys['production-eu']).get(`/v2/user/${created.body.user_id}`)
    assert.deepEqual(found, { status: 200, body: created.body })
    await assertPages(server.url)
    assert.equal(statSync(demoFile).mode & 0o777, 0o600)
  })

  // What else may be wrong with the file: src/cli/demo.test.ts.
  test('after kill -9 takes over PostgreSQL; when demo.json was cut off it issues new keys, and the old ones go on working', async () => {
    const [database] = postmastersOn(dataDir)
    assert.ok(database)
    assert.equal(await server.end('SIGKILL'), 'SIGKILL')
    assert.deepEqual(postmastersOn(dataDir), [database])
    writeFileSync(demoFile, JSON.stringify(demo).slice(0, 200), { mode: 0o644 })
    server = await serving(dataDir, { CELLS })
    await waitUntil(() => postmastersOn(dataDir).join() === String(database))
    const { base_url, org_id, teams, management_key, api_keys } = demoIn(dataDir)
    assert.deepEqual({ base_url, org_id, teams }, { base_url: server.url, org_id: demo.org_id, teams: demo.teams })
    assert.equal(new Set([...Object.values(api_keys), ...Object.values(demo.api_keys)]).size, 8)
    assert.notEqual(management_key, demo.management_key)
    assert.equal(statSync(demoFile).mode & 0o777, 0o600)
    await assertKeysWork(server.url, demo)
    demo = demoIn(dataDir)
    await assertKeysWork(server.url, demo)
  })

  test('after kill -9 of the server and of PostgreSQL recovers, with one PostgreSQL on the folder', async () => {
    const [database, ...others] = postmastersOn(dataDir)
    assert.ok(database && others.length === 0)
    assert.equal(await server.end('SIGKILL'), 'SIGKILL')
    process.kill(database, 'SIGKILL')
    // The next test reads its log.
    server = await serving(dataDir, { CELLS: 'sandbox-us', LOG_LEVEL: 'trace' })
    await waitUntil(() => postmastersOn(dataDir).length === 1)
    await assertKeysWork(server.url, demo, ['sandbox-us'])
  })

  test('writes no key, reference, name, date of birth or address of requests to either log', async () => {
    const key = demo.api_keys['sandbox-us']!
    const { get, post } = caller(server.url, key)
    const lab_test_id = (await get('/v3/lab_tests?collection_method=testkit')).body[0].id
    const user = await post('/v2/user', { client_user_id: callerData.client_user_id, fallback_birth_date: callerData.dob })
    const { user_id } = user.body
    const address = { first_line: callerData.street, city: callerData.city, state: 'AZ', zip: callerData.zip, country: 'US' }
    const patient_details = {
      first_name: callerData.first_name,
      last_name: callerData.last_name,
      dob: callerData.dob,
      gender: 'female',
      phone_number: `+1${callerData.phone}`,
      email: callerData.email,
    }
    const receiver = { receiver_name: `${callerData.first_name} ${callerData.last_name}`, phone_number: `+1${callerData.phone}` }
    const common = { user_id, lab_test_id, passthrough: callerData.passthrough }
    const order = { ...common, patient_details, patient_address: address }
    const kit = await post('/v3/order/testkit', { ...common, shipping_details: { ...address, ...receiver } })
    const registration = { consents: [{ consentType: 'terms-of-use' }], patient_details, patient_address: address }
    const replies = [
      user,
      kit,
      await post('/v3/order/testkit/register', { ...registration, sample_id: kit.body.order.sample_id }),
      await post(`/v3/order/${kit.body.order.id}/test?final_status=collecting_sample.testkit.transit_customer`, {}),
      await post('/v3/order', order, { 'x-idempotency-key': callerData.key }),
      await get(`/v2/user/resolve/${callerData.client_user_id}`),
      await get(`/v3/orders?search_input=${encodeURIComponent(callerData.last_name)}`),
      await post('/v2/user', { client_user_id: callerData.client_user_id }),
      await post('/v2/user', { client_user_id: `${callerData.client_user_id}\u0000` }),
      await post('/v3/order', {
        ...order,
        patient_details: { ...patient_details, dob: '2987-03-14', gender: callerData.last_name },
      }),
      await post('/v3/order', `{"first_name":"${callerData.first_name}"`),
      await get(`/${callerData.last_name}?key=${key}`),
      await caller(server.url, `${key}x`).get('/v3/orders'),
    ]
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200, 200, 200, 200, 200, 400, 422, 422, 422, 404, 401],
    )
    await waitUntil(() => server.err().includes('"job completed"'))
    assert.equal(await server.end('SIGTERM'), 0)

    const log = server.err()
    const lines = log.trimEnd().split('\n')
    assert.ok(lines.length > replies.length && lines.every((line) => JSON.parse(line)))
    for (const place of [log, readFileSync(join(dataDir, 'postgres.log'), 'utf8')])
      for (const [what, value] of Object.entries({ ...callerData, ...demo.api_keys, management_key: demo.management_key }))
        assert.ok(!place.toLowerCase().includes(value.toLowerCase()), `a log holds the ${what}`)
  })

  test('on a port in use fails with one error message, and leaves no database running and demo.json as it was', async () => {
    const before = readFileSync(demoFile, 'utf8')
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const refused = await outcome('start', { DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'silent' })
    other.close()
    const err = `drawbridge: Port ${port} is already in use. Set PORT to a free port (PORT=0 selects one).\n`
    assert.deepEqual(refused, { code: 1, stdout: '', err })
    assert.equal(postmasterPid(dataDir).isAlive(), false)
    assert.deepEqual(postmastersOn(dataDir), [])
    assert.equal(readFileSync(demoFile, 'utf8'), before)
  })
})
