// What tests order with: people and places that do not exist, in the form requests have them, and orders brought to where a test
// wants them.
import assert from 'node:assert/strict'
import { updateOrder } from '../../src/lab/orders/change-order.ts'
import type { LockedOrder } from '../../src/lab/orders/locked-order.ts'
import type { Order } from '../../src/lab/orders/schema.ts'
import { systemNow, addSeconds } from '../../src/platform/runtime/clock.ts'
import { teamNow } from '../../src/platform/db/database.ts'
import type { Tenant } from '../../src/platform/db/transaction.ts'
import { setClockOffset } from '../../src/tenancy/teams/teams.ts'
import { T } from '../../src/platform/schema/schema.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { asOwner, guard, runner, type TestTeam } from './server.ts'
import { address, patient, shipping } from './people.ts'
import { eventually } from './eventually.ts'

export { address, patient, shipping }

/** How an order shows `address`. */
export const addressOnWire = {
  receiver_name: '',
  first_line: '1 Sample Way',
  second_line: null,
  city: 'Phoenix',
  state: 'AZ',
  zip: '85004',
  country: 'United States',
  access_notes: null,
  phone_number: null,
}

export const proxy = {
  first_name: 'Guarda',
  last_name: 'Fictional',
  address,
  phone_number: '+15550100198',
}

/** The body of an order of the team's kit for a user, with changes. */
export async function orderBody(
  { user, test }: TestTeam,
  changes: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const user_id = 'user_id' in changes ? changes.user_id : await user()
  const named = 'lab_test_id' in changes || 'order_set' in changes
  return {
    user_id,
    ...(!named && { lab_test_id: await test() }),
    patient_details: patient,
    patient_address: address,
    ...changes,
  }
}

/** Place an order for a known patient. */
export async function createOrder(team: TestTeam, changes: Record<string, unknown> = {}): Promise<Order> {
  const { status, body } = await team.api.post('/v3/order', await orderBody(team, changes))
  assert.equal(status, 200, JSON.stringify(body))
  return body.order
}

/** Order a kit that is to be registered. */
export async function kit(team: TestTeam, changes: Record<string, unknown> = {}): Promise<Order> {
  const { status, body } = await team.api.post('/v3/order/testkit', {
    user_id: 'user_id' in changes ? changes.user_id : await team.user(),
    lab_test_id: await team.test(),
    shipping_details: shipping,
    ...changes,
  })
  assert.equal(status, 200, JSON.stringify(body))
  return body.order
}

export const registration = (sample_id: string | null, changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  sample_id,
  patient_details: patient,
  patient_address: address,
  consents: [{ consentType: 'terms-of-use' }],
  ...changes,
})

/** The team as it is now: its clock may have been moved since the test began. */
export const tenantOf = async ({ cell, team }: TestTeam): Promise<Tenant> => (await guard.tenant(cell, team))!

/** Take an order along its lifecycle, one transaction per step. */
export async function advanceTo(team: TestTeam, id: string, ...steps: string[]): Promise<void> {
  const tenant = await tenantOf(team)
  for (const step of steps)
    await team.db.tx(tenant, (tx) => updateOrder(tx, id, (lockedOrder: LockedOrder) => lockedOrder.transitionTo(step)))
}

export const getOrder = async ({ api }: TestTeam, id: string): Promise<Order> => (await api.get(`/v3/order/${id}`)).body

/** An order of the team's test of a method, for which the laboratory of the sandbox has made a requisition. */
export async function orderWithRequisition(
  team: TestTeam,
  method: string,
  changes: Record<string, unknown> = {},
): Promise<Order> {
  const { id } = await createOrder(team, { lab_test_id: await team.test(method), ...changes })
  await team.api.post(`/v3/order/${id}/test?final_status=received.${method}.requisition_created`)
  await team.settle()
  return getOrder(team, id)
}

/** Advances the team's clock and runs the due jobs; also for teams whose clock the API cannot advance. */
export async function advanceClock(owner: TestTeam, seconds: number): Promise<void> {
  const { cell, db, team } = owner
  const tenant = await tenantOf(owner)
  const start = teamNow(tenant)
  const end = addSeconds(start, seconds)
  const setClock = (time: Date) => {
    const offset_s = tenant.clock_offset_s + Math.round((time.getTime() - start.getTime()) / 1000)
    return db.tx(tenant, (tx) => setClockOffset(tx, offset_s))
  }
  await runner.runUntil(cell, db, team, { start, end, jobs_max: 500 }, setClock)
  await setClock(end)
  guard.invalidate(team)
}

export const SECONDS_PER_DAY = 86_400

/**
 * Copies of an order, straight into the table: five in each second, the last one so many seconds ago. Their ids are as old as they
 * are and differ from those of another team's copies of the same second; each has the last event of its model.
 */
export async function countDuplicates({ db, team }: TestTeam, model: Order, count: number, age_s: number): Promise<void> {
  const last = addSeconds(systemNow(), -age_s)
  await db.queries.run(sql`
    with fresh as (
      select date_trunc('second', ${last}::timestamptz - make_interval(secs => (${count}::integer - n) / 5)) as at, n
      from generate_series(1, ${count}::integer) n),
    named as (
      select at, (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
                  || '7' || left(md5(${team}), 3) || '8' || right(md5(${team}), 3)
                  || lpad(to_hex((n * 7919) % 5), 4, '0') || lpad(to_hex(n), 8, '0'))::uuid as id from fresh),
    emitted as (
      insert into event (id, team_id, type, object_id, user_id, created_at, body)
      select gen_random_uuid(), team_id, type, named.id, user_id, at, body
      from named cross join (select * from event where object_id = ${model.id} order by id desc limit 1) e),
    counted as (
      insert into list_count (team_id, list, slot, row_count) values (${team}, 'orders', 0, ${count})
      on conflict (team_id, list, slot) do update set row_count = list_count.row_count + excluded.row_count)
    insert into lab_order (id, team_id, user_id, transaction_id, lifecycle_name, lab_test_id, lab_id, method, low_level_status, status_at, sample_id,
                           activate_by, interpretation, patient_name, patient_dob, recipient_name, created_at, updated_at, document, internal_data)
    select named.id, team_id, user_id, transaction_id, lifecycle_name, lab_test_id, lab_id, method, low_level_status, at, null, activate_by,
           interpretation, patient_name, patient_dob, recipient_name, at, at, replace(document, ${model.id}, named.id::text), internal_data
    from named cross join lab_order where lab_order.id = ${model.id} and team_id = ${team}`)
}

/** When the team's waiting jobs are to run, soonest first. */
export const jobRunTimes = async ({ db, team }: TestTeam): Promise<string[]> =>
  (
    await db.queries.many(
      T.Object({ at: T.String() }),
      sql`select run_at as at from job where team_id = ${team} order by run_at, id`,
    )
  ).map((row) => row.at)

/** Until so many transactions of this database wait for another one. */
export async function countLockWaiters(count: number): Promise<void> {
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await eventually(async () => (await asOwner(waiting)).rowCount! >= count, `${count} transactions wait`)
}
