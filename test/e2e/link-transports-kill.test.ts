// The promise of transports: whatever is killed, a message that was acknowledged is stored, and an order reaches its laboratory under one
// control id, with the same bytes however often it is sent. Two peers of python-hl7 send results and receive orders. In each round the server,
// its database or the laboratory is killed with SIGKILL at one of six points, which proxies between the three reach exactly. The logs of the
// peers are the witnesses.
//
// Rounds: 18, each point with each victim; LINK_KILL_ROUNDS=36 for more.
import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { generateVaultKey } from '../../src/platform/crypto/vault.ts'
import { openEmbedded, type Embedded } from '../../src/platform/embedded-postgres/embedded-postgres.ts'
import {
  skipWithoutPythonHl7,
  startLaboratoryClient,
  startLaboratoryServer,
  type LaboratoryClient,
  type LaboratoryServer,
} from '../lab-peers/python-peers.ts'
import { eventually } from '../support/eventually.ts'
import { holdingProxy, type HoldingProxy } from '../support/faults/holding-proxy.ts'
import { freePort } from '../support/free-ports.ts'
import { profileWith } from '../support/link-messages.ts'
import { address, patient } from '../support/people.ts'
import { createDemoLink } from '../support/program-links.ts'
import {
  caller,
  demoIn,
  folder,
  migrateDataDir,
  onDatabase,
  postmasterPid,
  serving,
  stopAll,
  type Caller,
  type Server,
} from '../support/program.ts'

/** The connections of the laboratory, each with a result in every round; points are about the first. */
const CONNECTIONS = ['a', 'b', 'c', 'd']
const dataDir = folder('data')
const databaseDir = folder('external')

const points = [
  'before storing',
  'after storing',
  'before acknowledging',
  'after acknowledging',
  'before sending',
  'after sending',
] as const
type Point = (typeof points)[number]
const victims = ['server', 'database', 'laboratory'] as const
type Victim = (typeof victims)[number]
const ROUNDS = Math.max(points.length * victims.length, Number(process.env.LINK_KILL_ROUNDS ?? 0))
/** Each point with each victim within 18 rounds. */
const roundOf = (number: number) => ({
  point: points[number % points.length]!,
  victim: victims[(number + Math.floor(number / points.length)) % victims.length]!,
})

after(stopAll)

/** What the test works with. */
interface World {
  database: Embedded
  server: Server
  api: Caller
  sender: LaboratoryClient
  laboratory: LaboratoryServer
  /** Between server and database, sender and server, server and laboratory. */
  proxies: Record<'database' | 'results' | 'orders', HoldingProxy>
  account: string
  settings: Record<string, string>
  lab_test_id: string
  user_id: string
  /** Control ids of results that a laboratory has sent. */
  results: string[]
  orders: string[]
}

const query = <R extends object>({ database }: Pick<World, 'database'>, text: string, ...values: unknown[]): Promise<R[]> =>
  onDatabase(database.connection, async (client) => (await client.query<R>(text, values)).rows)

const openDatabase = (): Promise<Embedded> =>
  openEmbedded({ dataDir: databaseDir, ownership: 'required', log: () => {}, settings: { fsync: 'off' } })

async function startWorld(): Promise<World> {
  migrateDataDir(databaseDir)
  const database = await openDatabase()
  const { user, password, database: name } = database.connection
  const listenPort = await freePort()
  const laboratory = await startLaboratoryServer()
  const proxies = {
    database: await holdingProxy(database.connection),
    results: await holdingProxy({ host: '127.0.0.1', port: listenPort }),
    orders: await holdingProxy({ host: '127.0.0.1', port: laboratory.port }),
  }
  const settings = {
    CELLS: 'sandbox-us',
    DATABASE_URL: `postgres://${user}:${password}@127.0.0.1:${proxies.database.port}/${name}`,
    DEMO: 'on',
    ENCRYPTION_KEYS: generateVaultKey(),
    LAB_LISTEN: `127.0.0.1:${listenPort}`,
    REQUESTS_PER_SECOND: '0',
    SANDBOX_USERS_MAX: '0',
  }
  const server = await serving(dataDir, settings)
  const api = caller(server.url, demoIn(dataDir).api_keys['sandbox-us']!)
  const profile = profileWith({
    transport: {
      orders: 'mllp',
      results: 'mllp',
      client: { host: '127.0.0.1', port: proxies.orders.port, tls: false, answer_timeout_s: 5 },
      listener: { port: listenPort, tls: false, addresses: ['127.0.0.1'] },
    },
  })
  const account = await createDemoLink(dataDir, profile, database.connection)
  const tests = (await api.get('/v3/lab_tests?collection_method=walk_in_test')).body
  const lab_test_id = tests.find(({ lab }: { lab: { slug: string } }) => lab.slug === 'quest').id
  const user_id = (await api.post('/v2/user', { client_user_id: randomUUID() })).body.user_id
  const sender = await startLaboratoryClient({ port: proxies.results.port })
  const ids = { account, lab_test_id, user_id, results: [], orders: [] }
  return { database, server, api, sender, laboratory, proxies, settings, ...ids }
}

async function endWorld({ database, server, sender, laboratory, proxies }: World): Promise<void> {
  await server.end('SIGTERM')
  await Promise.all([sender.remove(), laboratory.remove(), ...Object.values(proxies).map((proxy) => proxy.close())])
  await database.stop()
}

const resultMessage = (id: string): string =>
  `MSH|^~\\&|LIS|FICTIONAL LAB|DRAWBRIDGE|CLINIC|20300104101500||ORU^R01|${id}|T|2.5.1\rPID|1||P-1||Fictional^Testa||19900131|F\r` +
  `OBR|1|UNKNOWN-${id}|F-1|100^Glucose|||20300104|||||||||||||||20300104||LAB|F\rOBX|1|NM|100^Glucose||95|mg/dL|65-99||||F\r` +
  `NTE|1||${'QUJD'.repeat(randomInt(50))}\r`

/** Sends a result until it is accepted, also after the laboratory was killed. */
async function deliver(world: World, connection: string): Promise<void> {
  const id = `R${world.results.length}-${connection}`
  world.results.push(id)
  const message = resultMessage(id)
  await eventually(async () => {
    const answer = await world.sender
      .send(message, { connection, timeout_s: 5, attempts: 20, retry_s: 0.1 })
      .catch(() => undefined)
    return answer?.code === 'AA'
  }, `${id} is accepted`)
}

async function createOrder({ api, lab_test_id, user_id, account, orders }: World): Promise<void> {
  const body = { user_id, lab_test_id, lab_account_id: account, patient_details: patient, patient_address: address }
  const created = await api.post('/v3/order', body)
  assert.equal(created.status, 200, JSON.stringify(created.body))
  orders.push(created.body.order.id)
}

/** Begins what a point is about, and waits until it is there. @returns what is in progress */
async function reach(point: Point, world: World): Promise<{ id: string; deliveries: Promise<void>[] }> {
  const { proxies, sender, results } = world
  const id = `R${results.length}-${CONNECTIONS[0]!}`
  if (point === 'before sending' || point === 'after sending') {
    const isHeld = point === 'before sending' ? proxies.orders.hold('client', 'MSH|') : proxies.orders.hold('server', 'MSA|')
    await createOrder(world)
    await isHeld
    return { id, deliveries: [] }
  }
  const isReached = {
    'before storing': () => proxies.database.hold('client', id),
    'after storing': () => proxies.database.hold('client', id, 'answer'),
    'before acknowledging': () => proxies.results.hold('server', id),
    'after acknowledging': () => sender.waitFor((line) => line.event === 'answered' && line.sent_id === id, `${id} is answered`),
  }[point]()
  const deliveries = CONNECTIONS.map((connection) => deliver(world, connection))
  await isReached
  return { id, deliveries }
}

/** That the point is what its name says. */
async function assertPoint(point: Point, world: World, id: string): Promise<void> {
  const { sender, laboratory } = world
  if (point === 'before sending' || point === 'after sending') {
    const order_id = world.orders.at(-1)!
    const [row] = await query<{ control_id: string; state: string }>(
      world,
      `select control_id, state from sandbox_us.lab_message where order_id = $1`,
      order_id,
    )
    assert.equal(row!.state, 'sent')
    const isThere = laboratory.log().some((line) => line.event === 'received' && line.control_id === row!.control_id)
    assert.equal(isThere, point === 'after sending', 'the laboratory has the order')
    return
  }
  const [row] = await query<{ n: number }>(
    world,
    `select count(*)::int as n from sandbox_us.lab_message where control_id = $1`,
    id,
  )
  assert.equal(row!.n, point === 'before storing' ? 0 : 1, 'the result is stored')
  const isAnswered = sender.log().some((line) => line.event === 'answered' && line.sent_id === id)
  assert.equal(isAnswered, point === 'after acknowledging', 'the laboratory has the acknowledgment')
}

/** Kills the victim, lets the others notice, and starts it again. */
async function kill(victim: Victim, point: Point, world: World): Promise<void> {
  const { proxies, sender, laboratory } = world
  const isOutbound = point === 'before sending' || point === 'after sending'
  const peer = isOutbound ? laboratory : sender
  if (victim === 'laboratory') await peer.kill()
  if (victim === 'server') {
    world.server.child.kill('SIGKILL')
    await world.server.exitStatus
  }
  if (victim === 'database') process.kill(postmasterPid(databaseDir).pid, 'SIGKILL')
  // What was held for or from the victim never arrives; the others get theirs.
  for (const [name, proxy] of Object.entries(proxies))
    if (victim === 'server' || (victim === 'database') === (name === 'database')) proxy.drop()
    else proxy.release()
  if (victim === 'laboratory') await peer.restart()
  if (victim === 'database') {
    await world.database.stop()
    world.database = await openDatabase()
  }
  if (victim !== 'server') return
  world.server = await serving(dataDir, world.settings)
  world.api = caller(world.server.url, demoIn(dataDir).api_keys['sandbox-us']!)
}

/** Skips the pauses before messages are sent again, and what is left of the leases of a server that was killed. */
async function hurry(world: World, victim: Victim): Promise<void> {
  await query(world, `update sandbox_us.lab_message set due_at = created_at where direction = 'out' and due_at is not null`)
  if (victim !== 'server') return
  await query(world, `update sandbox_us.job set leased_until = null`)
  await query(world, `update sandbox_us.lab_message set leased_until = null where state = 'received'`)
}

test(
  'nothing is lost or doubled between laboratories and the server, whatever is killed at which point',
  { skip: skipWithoutPythonHl7 },
  async (t) => {
    const world = await startWorld()
    after(() => endWorld(world))
    for (let round = 0; round < ROUNDS; round++) {
      const { point, victim } = roundOf(round)
      const name = `round ${round}: ${victim} ${point}`
      const { id, deliveries } = await reach(point, world)
      await assertPoint(point, world, id)
      await kill(victim, point, world)
      // A lease of a server that was killed ends by itself: that quarter of a minute is skipped.
      if (victim === 'server') await query(world, `update sandbox_us.lab_link_lease set leased_until = null`)
      await hurry(world, victim)
      await Promise.all(deliveries)
      await eventually(async () => {
        await hurry(world, 'laboratory')
        const [row] = await query<{ n: number }>(
          world,
          `select count(*)::int as n from sandbox_us.lab_message where direction = 'out' and state = 'accepted'`,
        )
        return row!.n === world.orders.length
      }, `all orders are accepted after ${name}`)
    }
    await assertResults(world)
    const sendings = await assertOrders(world)
    t.diagnostic(
      `${ROUNDS} rounds: ${world.results.length} results and ${sendings.order_count} orders, ` +
        `${sendings.repetition_count} orders sent again, 0 lost, 0 doubled`,
    )
  },
)

/** Each acknowledged result is stored once, with the bytes that were sent. */
async function assertResults(world: World): Promise<void> {
  const { sender, results, account } = world
  const acknowledged = new Map(
    sender.log().flatMap((line) => (line.event === 'answered' && line.code === 'AA' ? [[line.sent_id!, line.sent_digest!]] : [])),
  )
  assert.equal(acknowledged.size, results.length, 'each result was acknowledged')
  const stored = await query<{ control_id: string; digest: string }>(
    world,
    `select control_id, encode(sha256(bytes), 'hex') as digest from sandbox_us.lab_message where direction = 'in' and link_account_id = $1`,
    account,
  )
  assert.equal(stored.length, acknowledged.size, 'each result is stored once')
  for (const { control_id, digest } of stored) assert.equal(digest, acknowledged.get(control_id))
  for (const line of sender.log()) if (line.event === 'answered') assert.equal(line.answered_id, line.sent_id)
}

/** Each order is at the laboratory under one control id, always with the same bytes. */
async function assertOrders(world: World): Promise<{ order_count: number; repetition_count: number }> {
  const { laboratory, orders } = world
  const rows = await query<{ order_id: string; control_id: string; digest: string }>(
    world,
    `select order_id, control_id, encode(sha256(bytes), 'hex') as digest from sandbox_us.lab_message where direction = 'out'`,
  )
  for (const id of orders) assert.equal(rows.filter(({ order_id }) => order_id === id).length, 1, 'each order has one message')
  const received = laboratory.log().filter(({ event }) => event === 'received')
  const digests = new Map<string, Set<string>>()
  for (const { control_id, digest } of received) digests.set(control_id!, (digests.get(control_id!) ?? new Set()).add(digest!))
  assert.deepEqual(
    [...digests.keys()].sort(),
    rows.map(({ control_id }) => control_id).sort(),
    'the laboratory has each order and no other',
  )
  for (const { control_id, digest } of rows) assert.deepEqual([...digests.get(control_id)!], [digest])
  return { order_count: rows.length, repetition_count: received.length - digests.size }
}
