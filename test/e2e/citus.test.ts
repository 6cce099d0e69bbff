// The program on Citus: a coordinator and two workers. `migrate --engine citus` distributes the tables of a cell that has rows; then servers and
// workers do all that a laboratory order needs.
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { placementOf } from '../../src/platform/db/table-placement.ts'
import { generateVaultKey } from '../../src/platform/crypto/vault.ts'
import { startPostgres, type OwnPostgres } from '../support/debian-postgres.ts'
import { freePorts } from '../support/free-ports.ts'
import { address, patient } from '../support/people.ts'
import {
  caller,
  demoIn,
  folder,
  onDatabase,
  outcome,
  runCli,
  serving,
  stopAll,
  waitUntil,
  type Server,
} from '../support/program.ts'

const library = globSync('/usr/lib/postgresql/*/lib/citus.so').sort().at(-1)
const skip = library !== undefined || process.env.CI_CITUS === 'required' ? false : 'Citus is not installed'

describe('on Citus', { skip }, () => {
  const bin = join(dirname(dirname(library ?? '')), 'bin')
  const nodes: OwnPostgres[] = []
  const received = new Set<string>()
  const receiver = createServer((request, response) => {
    received.add(String(request.headers['webhook-id']))
    request.resume().on('end', () => response.end())
  })
  let settings: Record<string, string> = {}
  let connection = { connectionString: '' }
  const run = async <R extends object>(text: string): Promise<R[]> =>
    (await onDatabase(connection, (client) => client.query<R>(text))).rows
  const list = (text: string) => run<{ name: string }>(text).then((rows) => rows.map(({ name }) => name))

  before(async () => {
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const ports = await freePorts(3)
    const common = { listen_addresses: '127.0.0.1', shared_preload_libraries: 'citus', shared_buffers: '32MB' }
    const citus = {
      'citus.shard_count': '4',
      max_prepared_transactions: '200',
      max_locks_per_transaction: '256',
      wal_level: 'logical',
    }
    for (const port of ports) nodes.push(await startPostgres(bin, `citus-${port}`, { ...common, ...citus, port: String(port) }))
    const urlOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`
    connection = { connectionString: urlOf(ports[0]!) }
    settings = {
      DATABASE_URL: urlOf(ports[0]!),
      CELLS: 'sandbox-us',
      DEMO: 'on',
      DATABASE_CONNECTIONS: '4',
      ENCRYPTION_KEYS: generateVaultKey(),
      LOG_LEVEL: 'warn',
    }
    for (const port of ports.slice(1))
      await onDatabase({ connectionString: urlOf(port) }, (client) => client.query('create extension citus'))
    // One PostgreSQL so far: with roles and policies, and a team with a user.
    const first = await serving(folder('before-citus'), settings, 'start')
    const api = caller(first.url, demoIn(first.dataDir).api_keys['sandbox-us'])
    assert.equal((await api.post('/v2/user', { client_user_id: 'before' })).status, 200)
    await first.end('SIGTERM')
    await run('create extension citus')
    await run(`select citus_set_coordinator_host('127.0.0.1', ${ports[0]})`)
    for (const port of ports.slice(1)) await run(`select citus_add_node('127.0.0.1', ${port})`)
  })
  after(async () => {
    await stopAll()
    receiver.close()
    for (const node of nodes) await node.stop()
  })

  test('migrate --engine citus distributes the tables with their rows once, and asks for ROW_SECURITY=off', async () => {
    const keys = `select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) as name
      from pg_constraint where contype = 'f' and connamespace = 'sandbox_us'::regnamespace and conparentid = 0 and conname !~ '_[0-9]{6}$' order by 1`
    const before = await list(keys)
    const refused = await outcome('migrate', settings, '--engine', 'citus')
    assert.equal(refused.code, 1)
    assert.match(
      refused.err,
      /^drawbridge: The tables of schema "sandbox_us" are on Citus, where .* Set ROW_SECURITY to "off"\.$/m,
    )
    settings = { ...settings, ROW_SECURITY: 'off' }
    const placements = () =>
      run<{ name: string; method: string; group: number; is_local: boolean }>(`
        select c.relname as name, p.partmethod::text as method, p.colocationid as group, p.repmodel <> 't' and p.partmethod = 'n' as is_local
        from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid where c.relnamespace = 'sandbox_us'::regnamespace order by 1`)
    const runs = []
    for (const words of [['--engine', 'citus'], ['--engine', 'citus'], []]) {
      const { code, err } = await outcome('migrate', settings, ...words)
      assert.deepEqual([code, err], [0, ''])
      runs.push(await placements())
    }
    assert.deepEqual(runs[1], runs[0])
    assert.deepEqual(runs[2], runs[0])
    const tables = await list(`
      select relname as name from pg_class
      where relnamespace = 'sandbox_us'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`)
    const placed = runs[0]!.filter(({ is_local }) => !is_local)
    assert.deepEqual(
      placed.map(({ name, method }) => `${name} ${method === 'h' ? 'distributed' : 'reference'}`),
      tables.filter((name) => placementOf(name) !== 'local').map((name) => `${name} ${placementOf(name)}`),
    )
    assert.equal(new Set(placed.filter(({ method }) => method === 'h').map(({ group }) => group)).size, 1)
    assert.deepEqual(await list(keys), before)
    assert.deepEqual(await list('select client_user_id as name from sandbox_us."user"'), ['before'])
    assert.deepEqual(await list('select relname::text as name from pg_class where relrowsecurity'), [])
    for (const command of ['serve', 'work']) {
      const { code, err } = await outcome(command, { ...settings, ROW_SECURITY: 'on', PORT: '0' })
      assert.equal(code, 1)
      assert.match(err, /Set ROW_SECURITY to "off"/)
    }
  })

  test('an order has its result, its events are delivered, and a user is deleted, also after a worker is killed', async () => {
    const server = await serving(folder('on-citus'), { ...settings, WEBHOOK_SCHEDULE: '1' }, 'serve')
    const [first] = [1, 2].map(() => runCli('work', { ...settings, DATA_DIR: server.dataDir }))
    const demo = demoIn(server.dataDir)
    const api = caller(server.url, demo.api_keys['sandbox-us'])
    const orders = await Promise.all(Array.from({ length: 4 }, (_, i) => completeOrder(server, demo, api, `patient-${i}`)))
    assert.equal(new Set(orders).size, 4)
    const last = completeOrder(server, demo, api, 'patient-of-killed-worker')
    first!.child.kill('SIGKILL')
    assert(!orders.includes(await last))
  })

  async function completeOrder(server: Server, demo: ReturnType<typeof demoIn>, api: ReturnType<typeof caller>, name: string) {
    const hooks = `/v1/org/${demo.org_id}/team/${demo.teams.us}/sandbox/webhook`
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/${name}`
    const manage = { 'x-management-key': demo.management_key }
    assert.equal((await api.call('POST', hooks, { url }, manage)).status, 200)
    const { user_id } = (await api.post('/v2/user', { client_user_id: name })).body
    const lab_test_id = (await api.get('/v3/lab_tests?collection_method=walk_in_test')).body[0].id
    const { order } = (await api.post('/v3/order', { user_id, lab_test_id, patient_details: patient, patient_address: address }))
      .body
    assert.equal((await api.post(`/v3/order/${order.id}/test`, {})).status, 200)
    await waitUntil(async () => (await api.get(`/v3/order/${order.id}`)).body.status === 'completed')
    assert.equal((await api.get(`/v3/order/${order.id}/result`)).status, 200)
    const events = (await api.get(`/v1/events?object_id=${order.id}`)).body.data as { id: string }[]
    assert(events.length > 2)
    await waitUntil(() => events.every(({ id }) => received.has(`msg_${id.replaceAll('-', '')}`)))
    assert.equal((await api.call('DELETE', `/v2/user/${user_id}`)).status, 200)
    return order.id as string
  }
})
