// The promise of transports: whatever is killed, a message that was acknowledged is stored, and an order reaches its laboratory under one
// control id, with the same bytes however often it is sent. Two peers of python-hl7 send results and receive orders while in each round
// the server, its database or the laboratory is killed with SIGKILL at one of six points. The logs of the peers are the witnesses.
//
// Rounds: 4; LINK_KILL_ROUNDS=25 for more.
import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  skipWithoutPythonHl7,
  startLaboratoryClient,
  startLaboratoryServer,
  type LaboratoryClient,
  type LaboratoryServer,
} from '../lab-peers/python-peers.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-ports.ts'
import { profileWith } from '../support/link-messages.ts'
import { address, patient } from '../support/people.ts'
import { createDemoLink } from '../support/program-links.ts'
import {
  caller,
  connectionOf,
  demoIn,
  folder,
  onDatabase,
  postmasterPid,
  serving,
  stopAll,
  type Caller,
  type Server,
} from '../support/program.ts'

const ROUNDS = Number(process.env.LINK_KILL_ROUNDS ?? 4)
const RESULTS = 12
const ORDERS = 3
const CONNECTIONS = ['a', 'b', 'c', 'd']
const dataDir = folder('data')

const points = [
  'before storing',
  'after storing',
  'after acknowledging',
  'before sending',
  'after sending',
  'after the answer',
] as const
const victims = ['server', 'database', 'laboratory'] as const
/** Each point with each victim within 18 rounds; a few have something of everything. */
const roundOf = (number: number) => ({
  point: points[number % points.length]!,
  victim: victims[(number + Math.floor(number / points.length)) % victims.length]!,
})

after(stopAll)

const query = <R extends object>(text: string, ...values: unknown[]): Promise<R[]> =>
  onDatabase(connectionOf(dataDir), async (client) => (await client.query<R>(text, values)).rows)

const profileFor = (listenPort: number, laboratoryPort: number) =>
  profileWith({
    transport: {
      orders: 'mllp',
      results: 'mllp',
      client: { host: '127.0.0.1', port: laboratoryPort, tls: false, answer_timeout_s: 2 },
      listener: { port: listenPort, tls: false, addresses: ['127.0.0.1'] },
    },
  })

/** What the test works with. */
interface World {
  server: Server
  api: Caller
  sender: LaboratoryClient
  laboratory: LaboratoryServer
  account: string
  settings: Record<string, string>
  lab_test_id: string
  user_id: string
  /** Control ids of results that a laboratory has sent, and the outcomes of sending. */
  results: Map<string, Promise<unknown>>
  orders: string[]
}

const resultMessage = (id: string): string =>
  `MSH|^~\\&|LIS|FICTIONAL LAB|DRAWBRIDGE|CLINIC|20300104101500||ORU^R01|${id}|T|2.5.1\rPID|1||P-1||Fictional^Testa||19900131|F\r` +
  `OBR|1|UNKNOWN-${id}|F-1|100^Glucose|||20300104|||||||||||||||20300104||LAB|F\rOBX|1|NM|100^Glucose||95|mg/dL|65-99||||F\r` +
  `NTE|1||${'QUJD'.repeat(randomInt(5000))}\r`

/** Sends results over several connections until each is acknowledged. */
function sendResults({ sender, results }: World, round: number): void {
  for (let i = 0; i < RESULTS; i++) {
    const id = `R${round}-${i}`
    const connection = CONNECTIONS[i % CONNECTIONS.length]!
    const pieces = i % 3 === 0 ? { chunk_bytes: 2000, pause_s: 0.002 } : {}
    results.set(id, sender.send(resultMessage(id), { connection, timeout_s: 5, attempts: 500, retry_s: 0.1, ...pieces }))
  }
}

async function createOrder({ api, lab_test_id, user_id, account }: World): Promise<string> {
  const body = { user_id, lab_test_id, lab_account_id: account, patient_details: patient, patient_address: address }
  const created = await api.post('/v3/order', body)
  assert.equal(created.status, 200, JSON.stringify(created.body))
  return created.body.order.id
}

const lineCount = ({ log }: Pick<LaboratoryServer, 'log'>, event: string) => log().filter((line) => line.event === event).length

/** Waits until the point is reached: by what the peers have start. */
async function reach(point: (typeof points)[number], { sender, laboratory }: World, start: Counts): Promise<void> {
  const more = (peer: Pick<LaboratoryServer, 'log'>, event: string, count: number) =>
    eventually(() => lineCount(peer, event) > count, `the peer has ${event}`)
  if (point === 'before storing') return void (await more(sender, 'sent', start.sent_count + randomInt(3)))
  if (point === 'after acknowledging') return void (await more(sender, 'answered', start.answer_count + randomInt(RESULTS / 2)))
  if (point === 'after sending') return void (await more(laboratory, 'received', start.order_count))
  if (point === 'after the answer') return void (await more(laboratory, 'sent', start.reply_count))
  // Between what peers can see.
  if (point === 'after storing') await more(sender, 'sent', start.sent_count)
  await sleep(randomInt(15))
}

/** Lines of the logs of the peers. */
interface Counts {
  sent_count: number
  answer_count: number
  order_count: number
  reply_count: number
}

const countLines = ({ sender, laboratory }: World): Counts => ({
  sent_count: lineCount(sender, 'sent'),
  answer_count: lineCount(sender, 'answered'),
  order_count: lineCount(laboratory, 'received'),
  reply_count: lineCount(laboratory, 'sent'),
})

async function kill(victim: (typeof victims)[number], world: World): Promise<void> {
  if (victim === 'laboratory') {
    await world.laboratory.kill()
    await sleep(randomInt(300))
    return world.laboratory.restart()
  }
  if (victim === 'server') world.server.child.kill('SIGKILL')
  else process.kill(postmasterPid(dataDir).pid, 'SIGKILL')
  await world.server.exitStatus
  world.server = await serving(dataDir, world.settings)
  // What the killed one had claimed is claimed again when its leases are over: that minute is skipped.
  await query(`update sandbox_us.job set leased_until = null`)
  await query(`update sandbox_us.lab_link_lease set leased_until = null`)
  world.api = caller(world.server.url, demoIn(dataDir).api_keys['sandbox-us']!)
}

/** Skips the pauses before messages are sent again. */
async function hurry(): Promise<void> {
  await query(`update sandbox_us.lab_message set due_at = created_at where direction = 'out' and due_at is not null`)
}

async function startWorld(): Promise<World> {
  const listenPort = await freePort()
  const laboratory = await startLaboratoryServer()
  const settings = { CELLS: 'sandbox-us', REQUESTS_PER_SECOND: '0', LAB_LISTEN: `127.0.0.1:${listenPort}` }
  const server = await serving(dataDir, settings)
  const api = caller(server.url, demoIn(dataDir).api_keys['sandbox-us']!)
  const account = await createDemoLink(dataDir, profileFor(listenPort, laboratory.port))
  const tests = (await api.get('/v3/lab_tests?collection_method=walk_in_test')).body
  const lab_test_id = tests.find(({ lab }: { lab: { slug: string } }) => lab.slug === 'quest').id
  const user_id = (await api.post('/v2/user', { client_user_id: randomUUID() })).body.user_id
  const sender = await startLaboratoryClient({ port: listenPort })
  return { server, api, sender, laboratory, account, settings, lab_test_id, user_id, results: new Map(), orders: [] }
}

test(
  'nothing is lost or doubled between laboratories and the server, whatever is killed',
  { skip: skipWithoutPythonHl7 },
  async (t) => {
    const world = await startWorld()
    after(() => Promise.all([world.sender.remove(), world.laboratory.remove()]))
    for (let round = 0; round < ROUNDS; round++) {
      const { point, victim } = roundOf(round)
      await world.laboratory.setMode(point === 'after sending' ? { delay_s: 0.3 } : {})
      const start = countLines(world)
      for (let i = 0; i < ORDERS; i++) world.orders.push(await createOrder(world))
      sendResults(world, round)
      await reach(point, world, start)
      await kill(victim, world)
      await hurry()
      await Promise.all(world.results.values())
      await eventually(async () => {
        await hurry()
        const [row] = await query<{ n: number }>(
          `select count(*)::int as n from sandbox_us.lab_message where direction = 'out' and state = 'accepted'`,
        )
        return row!.n === world.orders.length
      }, `all orders are accepted after round ${round}: ${victim} ${point}`)
    }
    await assertResults(world)
    const sendings = await assertOrders(world)
    await world.server.end('SIGTERM')
    t.diagnostic(
      `${ROUNDS} rounds: ${world.results.size} results and ${sendings.order_count} orders, ` +
        `${sendings.repetition_count} orders sent again, 0 lost, 0 doubled`,
    )
  },
)

/** Each acknowledged result is stored once, with the bytes that were sent. */
async function assertResults({ sender, results, account }: World): Promise<void> {
  const acknowledged = new Map(
    sender.log().flatMap((line) => (line.event === 'answered' && line.code === 'AA' ? [[line.sent_id!, line.sent_digest!]] : [])),
  )
  assert.equal(acknowledged.size, results.size, 'each result was acknowledged')
  const stored = await query<{ control_id: string; digest: string }>(
    `select control_id, encode(sha256(bytes), 'hex') as digest from sandbox_us.lab_message where direction = 'in' and link_account_id = $1`,
    account,
  )
  assert.equal(stored.length, acknowledged.size, 'each result is stored once')
  for (const { control_id, digest } of stored) assert.equal(digest, acknowledged.get(control_id))
  for (const line of sender.log()) if (line.event === 'answered') assert.equal(line.answered_id, line.sent_id)
}

/** Each order is at the laboratory under one control id, always with the same bytes. */
async function assertOrders({ laboratory, orders }: World): Promise<{ order_count: number; repetition_count: number }> {
  const rows = await query<{ order_id: string; control_id: string; digest: string }>(
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
