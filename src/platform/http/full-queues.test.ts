// The queues inside the process are bounded, and what exceeds a bound is answered over HTTP at once: 503 with `Retry-After`.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { Pool, type Dispatcher } from 'undici'
import { createOrder, orderBody } from '../../../test/support/orders.ts'
import { assembleProcess, connection, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { installation } from '../../../test/support/template.ts'
import { AccessLog } from '../access-log/access-log.ts'
import { Cells } from '../db/cells.ts'
import { OWNER_WAITING_MAX } from '../db/fair-queue.ts'
import { ClockMoves } from '../../sandbox/clock/clock-lease.ts'
import { createLog } from '../telemetry/log.ts'

/** A refusal is immediate; nothing else is answered before the test lets it be. */
const WITHIN_MS = 20_000
/** Longer than a test waits: nothing is refused because it has waited too long. */
const LONG_MS = 120_000
const CONNECTIONS_MAX = 8

const closing: (() => Promise<unknown>)[] = []
after(async () => {
  for (const close of closing.toReversed()) await close()
})

interface Answer {
  status: number
  retry_after: string | undefined
  detail: string | undefined
}

/** A process of its own, whose statements wait as long as the test wants. */
async function patientProcess(clocks?: ClockMoves) {
  const options = {
    connection,
    connections_max: CONNECTIONS_MAX,
    checkRows: true,
    installation,
    row_security: 'required' as const,
    deadlines: { lock_ms: LONG_MS, wait_ms: LONG_MS },
  }
  const own = new Cells(options, new Map([['sandbox-us', options]]))
  const access = new AccessLog({ mode: 'batched', log: createLog('silent') })
  const { app, heavy, services } = assembleProcess({ cells: own, access, ...(clocks && { clocks }) })
  const requests = new Pool(await app.listen({ port: 0, host: '127.0.0.1' }))
  closing.push(async () => {
    await requests.destroy()
    await app.close()
    await access.stop()
    await heavy.close()
    await own.close()
  })
  const ask = async ({ key }: TestTeam, path: string, body?: unknown): Promise<Answer> => {
    const {
      statusCode,
      headers,
      body: answer,
    } = await requests.request({
      path,
      method: (body === undefined ? 'GET' : 'POST') as Dispatcher.HttpMethod,
      headers: { 'x-service-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await answer.text()
    const isJson = String(headers['content-type']).startsWith('application/json')
    const { detail } = isJson ? (JSON.parse(text) as { detail?: string }) : {}
    return { status: statusCode, retry_after: headers['retry-after'] as string | undefined, detail }
  }
  return { ask, services, heavy }
}

/** No statement reads or writes these tables until `release`. */
async function lockTables(...tables: string[]): Promise<() => Promise<void>> {
  const locking = new pg.Client(connection)
  await locking.connect()
  await locking.query(`begin; lock table ${tables.map((table) => `sandbox_us.${table}`).join(', ')} in access exclusive mode`)
  return () => locking.end()
}

/** The first answer. */
async function first(answers: Promise<Answer>[]): Promise<Answer> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('nothing was refused')), WITHIN_MS)
  return Promise.race([...answers, late]).finally(() => clearTimeout(timer))
}

const OVERLOADED: Answer = { status: 503, retry_after: '1', detail: 'Temporarily overloaded; try again' }

describe('a team with more requests than may wait gets 503 with Retry-After for the excess, and another team is served:', () => {
  const fill = async (tables: string[], prepare: (team: TestTeam) => Promise<() => [path: string, body?: unknown]>) => {
    const { ask } = await patientProcess()
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const next = await prepare(team)
    // Its key and the teams are known then.
    for (const each of [team, other]) assert.equal((await ask(each, '/v3/lab_tests')).status, 200)
    const release = await lockTables(...tables)
    let asked: Promise<Answer>[] = []
    try {
      asked = Array.from({ length: OWNER_WAITING_MAX + CONNECTIONS_MAX + 1 }, () => ask(team, ...next()))
      assert.deepEqual(await first(asked), OVERLOADED)
      assert.equal((await ask(other, '/v3/lab_tests')).status, 200)
    } finally {
      await release()
    }
    const refused = (await Promise.all(asked)).filter(({ status }) => status !== 200)
    assert(refused.length <= CONNECTIONS_MAX + 1, `${refused.length} were refused`)
    for (const each of refused) assert.deepEqual(each, OVERLOADED)
  }

  test('reads that wait for a connection', () => fill(['lab_order'], async () => () => ['/v3/orders']))

  test('reads by id', () =>
    fill(['lab_order'], async (team) => {
      const { id } = await createOrder(team)
      return () => [`/v3/order/${id}`]
    }))

  test('new orders', () =>
    fill(['"user"'], async (team) => {
      const body = await orderBody(team)
      return () => ['/v3/order', body]
    }))
})

test('a clock that waits behind too many others gets 503 with Retry-After', async () => {
  const { ask } = await patientProcess(new ClockMoves({ running_max: 1, waiting_max: 1, wait_ms: LONG_MS }))
  const teams = await Promise.all([createTestTeam(), createTestTeam(), createTestTeam()])
  const release = await lockTables('job')
  let asked: Promise<Answer>[] = []
  try {
    asked = teams.map((team) => ask(team, '/v1/sandbox/clock/advance', { seconds: 60 }))
    const { status, retry_after } = await first(asked)
    assert.deepEqual([status, retry_after], [503, String(LONG_MS / 1000)])
  } finally {
    await release()
  }
  assert.deepEqual((await Promise.all(asked)).map(({ status }) => status).toSorted(), [200, 200, 503])
})

test('a document that would be drawn after too many others gets 503 with Retry-After', async () => {
  const { ask, heavy } = await patientProcess()
  const team = await createTestTeam()
  const path = `/v3/lab_test/${await team.test()}/collection_instruction_pdf`
  const isHeld = new Int32Array(new SharedArrayBuffer(4))
  const task = new URL('../../../test/support/worker-thread-tasks.ts', import.meta.url)
  const held = Array.from({ length: 202 }, () => heavy.run(task, isHeld, { name: 'blockUntilSet', timeout_ms: LONG_MS }))
  const { status, retry_after } = await first([ask(team, path)])
  Atomics.store(isHeld, 0, 1)
  Atomics.notify(isHeld, 0)
  await Promise.all(held)
  assert.deepEqual([status, retry_after], [503, '2'])
  assert.equal((await ask(team, path)).status, 200)
})

test('a request that would wait for events with too many others gets 503 with Retry-After', async () => {
  const { ask, services } = await patientProcess()
  const teams = await Promise.all(Array.from({ length: 51 }, () => createTestTeam()))
  for (const team of teams) assert.equal((await ask(team, '/v1/events/follow')).status, 200)
  const asked = teams.flatMap((team) => Array.from({ length: 20 }, () => ask(team, '/v1/events/follow?wait_s=25')))
  const { status, retry_after } = await first(asked)
  for (const service of services) service.endRequests?.()
  await Promise.all(asked)
  assert.deepEqual([status, retry_after], [503, '5'])
})
