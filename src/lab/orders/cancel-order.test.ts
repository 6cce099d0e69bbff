// Cancelling orders: the statuses in which the API allows it, and the body of the 400 response in the others. Source: lab-testing.md 11.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { sql } from '../../platform/db/sql.ts'
import { kit, getOrder, createOrder } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { lifecycles, type LifecycleName } from './lifecycle.ts'

const cancel = ({ api }: TestTeam, id: string) => api.post(`/v3/order/${id}/cancel`)
const cancelOldWay = ({ api }: TestTeam, id: string) => api.delete(`/v3/lab_test/${id}/cancel`)

/** Each status of a kit, and whether an order in that status can be cancelled. */
const states: Record<string, boolean> = {
  ordered: true,
  awaiting_registration: true,
  requisition_created: true,
  requisition_bypassed: true,
  registered: true,
  transit_customer: false,
  out_for_delivery: false,
  problem_in_transit_customer: false,
  with_customer: false,
  transit_lab: false,
  problem_in_transit_lab: false,
  delivered_to_lab: false,
  lab_processing_blocked: false,
  completed: false,
  corrected: false,
  failure_to_deliver_to_customer: false,
  failure_to_deliver_to_lab: false,
  sample_error: false,
  lost: false,
  cancelled: false,
  do_not_process: false,
  appointment_pending: true,
  appointment_scheduled: true,
  appointment_cancelled: true,
  draw_completed: true,
  partial_results: false,
  redraw_available: false,
}

/** Creates an order and sets its status without emitting an event. */
async function orderIn(team: TestTeam, kind: LifecycleName, low: string): Promise<string> {
  const { id } =
    kind === 'registrable_testkit'
      ? await kit(team)
      : await createOrder(team, { lab_test_id: await team.test(lifecycles[kind].method) })
  await team.db.queries.run(sql`update lab_order set low_level_status = ${low} where id = ${id} and team_id = ${team.team}`)
  await team.db.queries.run(sql`delete from event where team_id = ${team.team}`)
  return id
}

for (const kind of Object.keys(lifecycles) as LifecycleName[])
  describe(`cancelling a ${kind}`, () => {
    test('every status of the lifecycle is covered by the table of this test', () => {
      for (const low of Object.keys(lifecycles[kind].steps)) assert.ok(Object.hasOwn(states, low), low)
    })

    for (const low of Object.keys(lifecycles[kind].steps))
      if (states[low])
        test(`cancels a ${kind} in status ${low} on both paths and emits one event`, async () => {
          for (const act of [cancel, cancelOldWay]) {
            const team = await createTestTeam()
            const id = await orderIn(team, kind, low)
            const { status, body } = await act(team, id)
            assert.equal(status, 200)
            assert.deepEqual([body.status, body.message], ['success', 'Order cancelled successfully'])
            const { order } = body
            assert.deepEqual(
              [order.status, order.last_event.status],
              ['cancelled', `cancelled.${lifecycles[kind].method}.cancelled`],
            )
            assert.equal(order.order_transaction.status, 'cancelled')
            assert.equal(order.order_transaction.orders[0].low_level_status, 'cancelled')
            assert.deepEqual(await getOrder(team, id), order)
            assert.deepEqual(await team.events(), ['labtest.order.updated'])
          }
        })
      else
        test(`rejects cancelling a ${kind} in status ${low} on both paths and emits no event`, async () => {
          const team = await createTestTeam()
          const id = await orderIn(team, kind, low)
          const before = await getOrder(team, id)
          for (const act of [cancel, cancelOldWay]) {
            const { status, body } = await act(team, id)
            assert.equal(status, 400)
            assert.equal(
              JSON.stringify(body),
              `{"error":"Bad Request","message":"Transition from ${low} to cancelled is not allowed","status_code":400}`,
            )
          }
          assert.deepEqual(await getOrder(team, id), before)
          assert.deepEqual(await team.events(), [])
        })
  })

test('two concurrent cancel requests cancel the order once', async () => {
  const team = await createTestTeam()
  const { id } = await createOrder(team)
  const replies = await Promise.all([cancel(team, id), cancelOldWay(team, id), cancel(team, id)])
  assert.deepEqual(replies.map((reply) => reply.status).sort(), [200, 400, 400])
  for (const { status, body } of replies)
    if (status === 400) assert.equal(body.message, 'Transition from cancelled to cancelled is not allowed')
  assert.deepEqual(await team.events(), ['labtest.order.created', 'labtest.order.updated'])
})

test('cancelling accepts a request without a body, with any content type', async () => {
  const team = await createTestTeam()
  for (const [body, headers] of [
    [undefined, { 'content-type': 'application/json' }],
    ['', { 'content-type': 'application/json' }],
    ['{', { 'content-type': 'application/json' }],
    [undefined, {}],
    ['', { 'content-type': 'text/plain' }],
  ] as [string | undefined, Record<string, string>][]) {
    const { id } = await createOrder(team)
    assert.equal((await team.api.call('POST', `/v3/order/${id}/cancel`, body, headers)).status, 200)
  }
})

test('cancelling an order of another team returns 404', async () => {
  const [team, other] = [await createTestTeam(), await createTestTeam()]
  const theirs = await createOrder(other)
  for (const act of [cancel, cancelOldWay])
    for (const id of [randomUUID(), theirs.id]) {
      const { status, body } = await act(team, id)
      assert.deepEqual([status, body], [404, { detail: "Order doesn't exist" }])
    }
  assert.deepEqual(await getOrder(other, theirs.id), theirs)
  assert.equal((await team.api.post('/v3/order/not-an-id/cancel')).status, 422)
})
