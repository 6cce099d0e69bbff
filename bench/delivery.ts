// Deliveries: how many a second one worker makes, beside a bare loop that posts the same signed bytes to the same receiver, and how
// long an event takes from its commit to its receiver.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { Pool } from 'undici'
import { signatureHeaders, signingKey } from '../src/events/endpoints/signature.ts'
import { perSecond, v7 } from './baseline-write.ts'

const ENDPOINTS = 4
const EVENTS = 15_000
const EVENTS_PER_TRANSACTION = 10
/** As many as the worker has places for that many endpoints. */
const CONNECTIONS = ENDPOINTS * 30

export interface BenchContext {
  db: pg.Client
  receiver: string
  team: string
  user_id: string
  /** The text of an event as it is sent. */
  body: string
  createEndpoint: (url: string) => Promise<string>
  deleteEndpoint: (id: string) => Promise<void>
}

interface Arrivals {
  count: number
  arrived: [id: string, at_ms: number][]
}
const arrivals = async (receiver: string): Promise<Arrivals> => (await (await fetch(receiver)).json()) as Arrivals
const reset = (receiver: string) => fetch(receiver, { method: 'DELETE' })

/** Events that wait for one worker and several endpoints: deliveries a second, from the first to the last that arrives. */
export async function deliveryRate({
  db,
  receiver,
  team,
  user_id,
  body,
  createEndpoint,
  deleteEndpoint,
}: BenchContext): Promise<number> {
  const ids: string[] = []
  for (let i = 0; i < ENDPOINTS; i++) ids.push(await createEndpoint(`${receiver}/${i}`))
  await reset(receiver)
  await db.query(
    `with emitted as (
       insert into event (id, team_id, type, object_id, user_id, created_at, body)
       select given.id, $1, 'labtest.order.updated', gen_random_uuid(), $2, now(), $3 from unnest($4::uuid[]) as given (id) returning id),
     numbered as (select id, row_number() over () as n from emitted)
     insert into announcement (team_id, event_ids) select $1, array_agg(id) from numbered group by n / $5::int`,
    [team, user_id, body, Array.from({ length: EVENTS }, v7), EVENTS_PER_TRANSACTION],
  )
  const all = EVENTS * ENDPOINTS
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
export async function directPostRate({ receiver, body }: BenchContext, seconds: number): Promise<number> {
  await reset(receiver)
  const pool = new Pool(receiver, { connections: CONNECTIONS, pipelining: 1 })
  const bytes = Buffer.from(body)
  const key = signingKey(`whsec_${Buffer.alloc(32, 7).toString('base64')}`)
  const signed = signatureHeaders([key], `msg_${randomUUID().replaceAll('-', '')}`, Math.floor(Date.now() / 1000), bytes)
  const headers = { 'content-type': 'application/json', 'user-agent': 'Drawbridge/bench', ...signed }
  const rate = await perSecond(
    async () => {
      const { statusCode, body: answer } = await pool.request({ path: '/', method: 'POST', headers, body: bytes })
      if (statusCode !== 204) throw new Error(`the receiver HTTP ${statusCode}`)
      await answer.dump()
    },
    { connections: CONNECTIONS, seconds },
  )
  await pool.close()
  return rate
}

/** So many orders a second, of two events each; the time from asking for an order, which is before its commit, to each event's arrival. */
export async function latencies(
  { db, receiver, team, createEndpoint, deleteEndpoint }: BenchContext,
  options: { orders_per_s: number; seconds: number; order: () => Promise<{ id: string }> },
): Promise<{ p50_ms: number; p99_ms: number; events: number }> {
  const endpoint = await createEndpoint(`${receiver}/latency`)
  for (let i = 0; i < 20; i++) await options.order()
  await sleep(1000)
  await reset(receiver)
  const asked = new Map<string, number>()
  const orders: Promise<void>[] = []
  const started = performance.now()
  for (let n = 0; n < options.orders_per_s * options.seconds; n++) {
    const due = started + (n * 1000) / options.orders_per_s
    await sleep(Math.max(0, due - performance.now()))
    const at = performance.timeOrigin + performance.now()
    orders.push(options.order().then(({ id }) => void asked.set(id, at)))
  }
  await Promise.all(orders)
  await sleep(2000)
  const { arrived } = await arrivals(receiver)
  const { rows } = await db.query<{ id: string; object_id: string }>(
    'select id, object_id from event where team_id = $1 and object_id = any ($2::uuid[])',
    [team, [...asked.keys()]],
  )
  const at = new Map(arrived)
  const took = rows.map(({ id, object_id }) => {
    const arrival = at.get(`msg_${id.replaceAll('-', '')}`)
    if (arrival === undefined) throw new Error('an event was not delivered')
    return arrival - asked.get(object_id)!
  })
  took.sort((a, b) => a - b)
  await deleteEndpoint(endpoint)
  return { p50_ms: took[Math.floor(took.length / 2)]!, p99_ms: took[Math.floor(took.length * 0.99)]!, events: took.length }
}
