// The promise of links: a message that was acknowledged is applied once, whatever is killed. A laboratory sends messages about several orders
// to a transport that stores them, while the worker of a server processes them. In each round something is killed with SIGKILL; the
// laboratory then repeats what was not acknowledged. In the end each message is stored, processed and in the result of its order, once.
//
// Rounds: 5 of different kinds; LINK_KILL_ROUNDS=25 for more.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { randomInt, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually } from '../support/eventually.ts'
import type { KillPoint } from '../support/intake-process.ts'
import { messageFor, observation, observedTest, profile } from '../support/link-messages.ts'
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

const ROUNDS = Number(process.env.LINK_KILL_ROUNDS ?? 5)
const ORDERS = 4
const MESSAGES_A_ROUND = 40
const settings = { CELLS: 'sandbox-us', REQUESTS_PER_SECOND: '0' }
const dataDir = folder('data')

const kinds = ['before storing', 'after storing', 'after the acknowledgment', 'transport', 'database', 'server'] as const
type Kind = (typeof kinds)[number]

const query = <R extends object>(text: string, ...values: unknown[]): Promise<R[]> =>
  onDatabase(connectionOf(dataDir), async (client) => (await client.query<R>(text, values)).rows)

after(stopAll)

/** An order that awaits its result under the account. */
async function createOrder(api: Caller, lab_account_id: string) {
  const user_id = (await api.post('/v2/user', { client_user_id: randomUUID() })).body.user_id
  const tests = (await api.get('/v3/lab_tests?collection_method=walk_in_test')).body
  const lab_test_id = tests.find(({ lab }: { lab: { slug: string } }) => lab.slug === 'quest').id
  const body = { user_id, lab_test_id, lab_account_id, patient_details: patient, patient_address: address }
  const created = await api.post('/v3/order', body)
  assert.equal(created.status, 200, JSON.stringify(created.body))
  const { id } = created.body.order
  await api.post(`/v3/order/${id}/test?final_status=received.walk_in_test.requisition_created`)
  return eventually(async () => {
    await api.post('/v1/sandbox/clock/advance', { seconds: 600 })
    const order = (await api.get(`/v3/order/${id}`)).body
    return order.last_event.status.endsWith('requisition_created') && order
  })
}

/** The laboratory: all that it has sent, and what was acknowledged. */
class Laboratory {
  readonly #account: string
  readonly bytes: Buffer[] = []
  readonly acknowledgments = new Set<number>()
  transport: ChildProcess | undefined
  onAcknowledgment = () => {}

  constructor(account: string) {
    this.#account = account
  }

  connect(killPoint: KillPoint, killNumber: number): void {
    const script = fileURLToPath(new URL('../support/intake-process.ts', import.meta.url))
    const args = [script, JSON.stringify(connectionOf(dataDir)), this.#account, killPoint, `${killNumber}`]
    this.transport = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.transport.stdin!.on('error', () => {})
    createInterface({ input: this.transport.stdout! }).on('line', (line) => {
      this.acknowledgments.add(Number(line))
      this.onAcknowledgment()
    })
  }

  /** Sends everything that was not acknowledged, as it was. */
  send(): void {
    for (const [number, bytes] of this.bytes.entries())
      if (!this.acknowledgments.has(number))
        this.transport!.stdin!.write(`${JSON.stringify({ number, bytes: bytes.toString('base64') })}\n`)
  }

  get isDone(): boolean {
    return this.acknowledgments.size === this.bytes.length
  }

  async disconnect(): Promise<void> {
    const { transport } = this
    if (!transport || transport.exitCode !== null || transport.signalCode !== null) return
    transport.kill('SIGKILL')
    await once(transport, 'close')
  }
}

/** Kills what the round is about, in the middle of its load. */
async function killOnce(kind: Kind, laboratory: Laboratory, server: Server): Promise<Server> {
  const moment = randomInt(MESSAGES_A_ROUND / 2)
  const isOwn = kind === 'before storing' || kind === 'after storing' || kind === 'after the acknowledgment'
  const start = laboratory.acknowledgments.size
  laboratory.connect(isOwn ? kind : 'never', moment + 1)
  const isDue = new Promise<void>((resolve) => {
    laboratory.onAcknowledgment = () => laboratory.acknowledgments.size - start >= moment && resolve()
  })
  laboratory.send()
  if (isOwn) {
    await once(laboratory.transport!, 'close')
    assert.equal(laboratory.transport!.signalCode, 'SIGKILL')
    return server
  }
  await isDue
  if (kind !== 'transport') {
    if (kind === 'server') server.child.kill('SIGKILL')
    else process.kill(postmasterPid(dataDir).pid, 'SIGKILL')
    await server.exitStatus
    await laboratory.disconnect()
    const next = await serving(dataDir, settings)
    // What the killed one had claimed may be claimed again when its lease of a minute is over: that minute is skipped.
    await query(`update sandbox_us.lab_message set leased_until = null where state = 'received'`)
    return next
  }
  await laboratory.disconnect()
  return server
}

test('a message that was acknowledged is applied once, whatever is killed', async (t) => {
  let server = await serving(dataDir, settings)
  const key = demoIn(dataDir).api_keys['sandbox-us']!
  const account = await createDemoLink(dataDir, profile)
  const orders = []
  for (let i = 0; i < ORDERS; i++) orders.push(await createOrder(caller(server.url, key), account))
  const laboratory = new Laboratory(account)
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < MESSAGES_A_ROUND; i++) {
      const code = `R${round}N${i}`
      const message = messageFor(orders[i % ORDERS]!, [observedTest({ code, observations: [observation(code, `${i}`)] })])
      laboratory.bytes.push(Buffer.from(JSON.stringify(message)))
    }
    server = await killOnce(kinds[round % kinds.length]!, laboratory, server)
    laboratory.connect('never', 0)
    laboratory.send()
    await eventually(() => laboratory.isDone, 'everything is acknowledged')
    await laboratory.disconnect()
  }
  const count = async (text: string) => (await query<{ n: number }>(text, account))[0]!.n
  const ofLink = 'from sandbox_us.lab_message where link_account_id = $1'
  await eventually(
    async () => (await count(`select count(*)::int as n ${ofLink} and state = 'received'`)) === 0,
    'all are processed',
  )
  const stored = await query<{ bytes: Buffer; state: string; error: string | null }>(
    `select bytes, state, error ${ofLink}`,
    account,
  )
  const sent = new Set(laboratory.bytes.map((bytes) => bytes.toString()))
  assert.equal(stored.length, sent.size, 'each message is stored once')
  assert(stored.every(({ bytes }) => sent.has(bytes.toString())))
  assert.deepEqual([...new Set(stored.map(({ state, error }) => [state, error].filter(Boolean).join()))], ['applied'])
  const results = await count(`select count(*)::int as n from sandbox_us.raw_result where link_account_id = $1`)
  assert.equal(results, sent.size, 'each message is one result')
  const api = caller(server.url, key)
  const values: string[] = []
  for (const { id } of orders) {
    const { body } = await api.get(`/v3/order/${id}/result`)
    values.push(...body.results.map((item: { provider_id: string; result: string }) => `${item.provider_id}=${item.result}`))
    const { events } = (await api.get(`/v3/order/${id}`)).body as { events: { status: string }[] }
    assert.equal(events.filter(({ status }) => status.endsWith('partial_results')).length, sent.size / ORDERS)
  }
  assert.equal(values.length, sent.size, 'each value is in the result of its order once')
  assert.equal(new Set(values).size, sent.size)
  const repeated = await count(`select coalesce(sum(repetitions), 0)::int as n ${ofLink}`)
  await server.end('SIGTERM')
  t.diagnostic(`${ROUNDS} rounds: ${sent.size} messages, ${repeated} repetitions, 0 lost, 0 doubled`)
})
