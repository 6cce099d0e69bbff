// The limits that ours is measured against: bare mechanisms on the same database, in the same run.
import { randomUUID } from 'node:crypto'
import pg from 'pg'

export interface Sample {
  team_id: string
  document: string
  intake: string
  user_id: string
  lab_test_id: string
  lab_id: number
  /** Names of the patient and the receiver, as the columns have them. */
  patient_name: string | null
  recipient_name: string | null
  /** One body for each event. */
  bodies: string[]
  payload: string
}

/** One prepared statement that inserts an order, its events and one outbox row, and commits: how many a second. */
export async function measureCreateBaseline(
  connection: pg.PoolConfig,
  sample: Sample,
  options: { connections: number; seconds: number },
): Promise<number> {
  const pool = new pg.Pool({ ...connection, max: options.connections, options: '-c search_path=sandbox_us' })
  const text = `
    with o as (
      insert into lab_order (id, team_id, user_id, transaction_id, lifecycle, lab_test_id, lab_id, method, low_status, status_at, sample_id,
                             patient_name, recipient_name, created_at, updated_at, document, intake)
      values ($1, $2, $3, $4, 'registrable_testkit', $5, $6, 'testkit', 'awaiting_registration', $7, $8, $9, $10, $7, $7, $11, $12)),
    e as (
      insert into event (id, team_id, type, object_id, user_id, created_at, body)
      select s.id, $2, 'labtest.order.updated', $1, $3, $7, s.body from unnest($13::uuid[], $14::text[]) as s (id, body))
    insert into job (id, team_id, name, payload, run_at, due_at) values ($15, $2, 'bench.none', $16, $7, 'infinity')`
  const now = new Date()
  const one = () =>
    pool.query({
      name: 'create',
      text,
      values: [
        v7(),
        sample.team_id,
        sample.user_id,
        randomUUID(),
        sample.lab_test_id,
        sample.lab_id,
        now,
        randomUUID(),
        sample.patient_name,
        sample.recipient_name,
        sample.document,
        sample.intake,
        sample.bodies.map(v7),
        sample.bodies,
        v7(),
        sample.payload,
      ],
    })
  const rate = await perSecond(one, options)
  await pool.end()
  return rate
}

/** Identifiers in the order of their making, as ours are. */
export const v7 = (): string => {
  const hex = Date.now().toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${randomUUID().slice(15)}`
}

/** Repeats `one` with so many in flight for so long, after a tenth of that to warm up. */
export async function perSecond(one: () => Promise<unknown>, options: { connections: number; seconds: number }): Promise<number> {
  let done = 0
  let until = performance.now() + options.seconds * 100
  const worker = async () => {
    while (performance.now() < until) {
      await one()
      done++
    }
  }
  const all = () => Promise.all(Array.from({ length: options.connections }, worker))
  await all()
  done = 0
  const started = performance.now()
  until = started + options.seconds * 1000
  await all()
  return done / ((performance.now() - started) / 1000)
}

/** The median of timings of `one`, in milliseconds. */
export async function medianMs(one: () => Promise<unknown>, times: number): Promise<number> {
  for (let i = 0; i < 5; i++) await one()
  const timings: number[] = []
  for (let i = 0; i < times; i++) {
    const started = performance.now()
    await one()
    timings.push(performance.now() - started)
  }
  return timings.sort((a, b) => a - b)[Math.floor(times / 2)]!
}
