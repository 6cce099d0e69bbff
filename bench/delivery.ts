// Deliveries: how many a second one worker makes, beside a bare loop that posts the same signed bytes to the same receiver, and how
// long an event takes from its commit to its receiver.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { Pool } from 'undici'
import { signatureHeaders, signingKey } from '../src/events/endpoints/signature.ts'
import { v7 } from './baseline-write.ts'
import { compare, percentiles, perSecond, report, SECONDS } from './measure.ts'
import { start, type Bench } from './program.ts'

const EVENTS = 15_000
const EVENTS_PER_TRANSACTION = 10
/** As many as the worker has places for each endpoint. */
const CONNECTIONS_PER_ENDPOINT = 30
const ORDERS_PER_S = 100
const LATENCY_S = 20
/** The time in which events must have arrived after the last order. */
const ARRIVAL_MS_MAX = 120_000

export interface Arrivals {
  count: number
  arrivals: [id: string, at_ms: number][]
}
const arrivals = async (receiver: string): Promise<Arrivals> => (await (await fetch(receiver)).json()) as Arrivals
const reset = (receiver: string) => fetch(receiver, { method: 'DELETE' })

export async function deliverToEndpoints(bench: Bench, endpoints: number): Promise<void> {
  const receiver = await start('bench/receiver.ts', [])
  const { rows } = await bench.db.query<{ body: string }>(
    'select body from event where object_id = $1 order by id desc limit 1',
    [bench.order_id],
  )
  const body = rows[0]!.body
  await compare(`deliver to ${endpoints} endpoints, one worker`, 'at least 0.30', {
    ours: () => deliveryRate(bench, receiver.url, endpoints, body),
    limit: () => directPostRate(receiver.url, body, { connections: endpoints * CONNECTIONS_PER_ENDPOINT, seconds: SECONDS }),
  })
  receiver.child.kill()
}

/** Events that wait for one worker and several endpoints: deliveries a second, from the first to the last that arrives. */
async function deliveryRate(bench: Bench, receiver: string, endpoints: number, body: string): Promise<number> {
  const { db, team, user_id, createEndpoint, deleteEndpoint } = bench
  const ids: string[] = []
  for (let i = 0; i < endpoints; i++) ids.push(await createEndpoint(`${receiver}/${i}`))
  await reset(receiver)
  // Each measurement takes as long, however many endpoints there are.
  const events = Math.round((EVENTS * 4) / endpoints)
  await db.query(
    `with emitted as (
       insert into event (id, team_id, type, object_id, user_id, created_at, body)
       select given.id, $1, 'labtest.order.updated', gen_random_uuid(), $2, now(), $3 from unnest($4::uuid[]) as given (id) returning id),
     numbered as (select id, row_number() over () as n from emitted)
     insert into event_outbox (team_id, event_ids) select $1, array_agg(id) from numbered group by n / $5::int`,
    [team, user_id, body, Array.from({ length: events }, v7), EVENTS_PER_TRANSACTION],
  )
  const all = events * endpoints
  const since = { count: 0, at_ms: 0 }
  for (;;) {
    const { count } = await arrivals(receiver)
    const at_ms = performance.now()
    if (count > 0 && since.at_ms === 0) Object.assign(since, { count, at_ms })
    if (count >= all) {
      for (const id of ids) await deleteEndpoint(id)
      return (all - since.count) / ((at_ms - since.at_ms) / 1000)
    }
    await sleep(50)
  }
}

/** The limit: nothing but posting, signed beforehand, over as many connections. */
async function directPostRate(
  receiver: string,
  body: string,
  options: { connections: number; seconds: number },
): Promise<number> {
  await reset(receiver)
  const pool = new Pool(receiver, { connections: options.connections, pipelining: 1 })
  const bytes = Buffer.from(body)
  const key = signingKey(`whsec_${Buffer.alloc(32, 7).toString('base64')}`)
  const signed = signatureHeaders([key], `msg_${randomUUID().replaceAll('-', '')}`, Math.floor(Date.now() / 1000), bytes)
  const headers = { 'content-type': 'application/json', 'user-agent': 'Drawbridge/bench', ...signed }
  const rate = await perSecond(async () => {
    const { statusCode, body: answer } = await pool.request({ path: '/', method: 'POST', headers, body: bytes })
    if (statusCode !== 204) throw new Error(`the receiver HTTP ${statusCode}`)
    await answer.dump()
  }, options)
  await pool.close()
  return rate
}

/**
 * Orders at a steady rate, of two events each. @returns the times from asking for an order, which is before its commit, to each event's
 * arrival at the address `/latency` of the receiver; the shortest comes first
 */
export async function timeEvents(
  { db, team, receiver, order }: { db: pg.Client; team: string; receiver: string; order: () => Promise<{ id: string }> },
  { orders_per_s, seconds }: { orders_per_s: number; seconds: number },
): Promise<number[]> {
  await reset(receiver)
  const asked = new Map<string, number>()
  const orders: Promise<void>[] = []
  const started = performance.now()
  for (let n = 0; n < orders_per_s * seconds; n++) {
    const due = started + (n * 1000) / orders_per_s
    await sleep(Math.max(0, due - performance.now()))
    const at = performance.timeOrigin + performance.now()
    orders.push(order().then(({ id }) => void asked.set(id, at)))
  }
  await Promise.all(orders)
  await sleep(2000)
  const { rows } = await db.query<{ id: string; object_id: string }>(
    'select id, object_id from event where team_id = $1 and object_id = any ($2::uuid[])',
    [team, [...asked.keys()]],
  )
  const due = rows.map(({ id, object_id }) => ({ message: `msg_${id.replaceAll('-', '')}`, object_id }))
  const at = new Map<string, number>()
  const until = performance.now() + ARRIVAL_MS_MAX
  for (;;) {
    for (const [message, at_ms] of (await arrivals(receiver)).arrivals) at.set(message, at_ms)
    if (due.every(({ message }) => at.has(message))) break
    if (performance.now() > until) throw new Error('an event was not delivered')
    await sleep(100)
  }
  return due.map(({ message, object_id }) => at.get(message)! - asked.get(object_id)!).toSorted((a, b) => a - b)
}

export async function measureLatency(bench: Bench): Promise<void> {
  const { db, team, createEndpoint, deleteEndpoint } = bench
  const { url: receiver, child } = await start('bench/receiver.ts', [])
  const order = async () => (await bench.api('POST', '/v3/order/testkit', bench.kit)).order as { id: string }
  const endpoint = await createEndpoint(`${receiver}/latency`)
  for (let i = 0; i < 20; i++) await order()
  await sleep(1000)
  const took = await timeEvents({ db, team, receiver, order }, { orders_per_s: ORDERS_PER_S, seconds: LATENCY_S })
  await deleteEndpoint(endpoint)
  child.kill()
  const [p50_ms, p99_ms] = percentiles(took)
  report(
    `commit to received, ${took.length} events at ${ORDERS_PER_S * 2}/s`,
    `${p50_ms.toFixed(1)} ms median`,
    '',
    '',
    `${p99_ms.toFixed(1)} ms p99, under 100 ms`,
  )
}
