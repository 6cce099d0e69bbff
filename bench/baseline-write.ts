// The limits that ours is measured against: bare mechanisms on the same database, in the same run.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { perSecond } from './measure.ts'

export interface Sample {
  team_id: string
  document: string
  internal_data: string
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
      insert into lab_order (id, team_id, user_id, transaction_id, lifecycle_name, lab_test_id, lab_id, method, low_level_status, status_at, sample_id,
                             patient_name, recipient_name, created_at, updated_at, document, internal_data)
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
        sample.internal_data,
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

/** As above, for a kit that is registered: one prepared statement that changes an order and its user's demographics. */
export async function measureRegisterBaseline(
  connection: pg.PoolConfig,
  sample: Sample,
  { users, orders, ...options }: { users: string[]; orders: string[]; connections: number; seconds: number },
): Promise<number> {
  const pool = new pg.Pool({ ...connection, max: options.connections, options: '-c search_path=sandbox_us' })
  const text = `
    with o as (
      update lab_order set low_level_status = 'registered', status_at = $3, updated_at = $3, patient_name = $4, patient_dob = $5, document = $6, internal_data = $7
      where id = $1 and team_id = $2),
    d as (
      insert into user_demographics (user_id, team_id, document, updated_at) values ($8, $2, $9, $3)
      on conflict (team_id, user_id) do update set document = excluded.document, updated_at = excluded.updated_at),
    e as (
      insert into event (id, team_id, type, object_id, user_id, created_at, body)
      select s.id, $2, 'labtest.order.updated', $1, $8, $3, s.body from unnest($10::uuid[], $11::text[]) as s (id, body))
    insert into job (id, team_id, name, payload, run_at, due_at) values ($12, $2, 'bench.none', $13, $3, 'infinity')`
  const { rows } = await pool.query<{ document: string; dob: string }>(
    'select d.document::text, o.patient_dob::text as dob from user_demographics d join lab_order o using (team_id, user_id) where o.id = $1',
    [orders[0]],
  )
  const now = new Date()
  let n = 0
  const one = () => {
    n++
    return pool.query({
      name: 'register',
      text,
      values: [
        orders[n % orders.length],
        sample.team_id,
        now,
        sample.patient_name,
        rows[0]!.dob,
        sample.document,
        sample.internal_data,
        users[n % users.length],
        rows[0]!.document,
        sample.bodies.map(v7),
        sample.bodies,
        v7(),
        sample.payload,
      ],
    })
  }
  const rate = await perSecond(one, options)
  await pool.end()
  return rate
}
