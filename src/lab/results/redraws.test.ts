// Redraws of walk-in orders. Source: lab-testing.md 12.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectedResults } from '../catalog/lab-tests.ts'
import type { FailureType, DiagnosticReport } from '../links/diagnostic-report.ts'
import { updateOrder } from '../orders/change-order.ts'
import type { Order } from '../orders/schema.ts'
import { createOrder, getOrder, tenantOf, advanceTo } from '../../../test/support/orders.ts'
import { cells, createTestTeam, guard, type TestTeam } from '../../../test/support/server.ts'
import { expectations, type ExpectedResult } from './expected-results.ts'
import { receiveReport } from './results.ts'
import { command } from '../../../test/support/commands.ts'

const [CREATED, UPDATED] = ['labtest.order.created', 'labtest.order.updated']

/** A team with redraws enabled and an order whose sample is at the laboratory. */
async function createOrderAtLab(method = 'walk_in_test'): Promise<{ team: TestTeam; order: Order }> {
  const team = await createTestTeam()
  await command(cells, ['team', 'feature', team.team, 'redraws', 'on'])
  guard.invalidate(team.team)
  const order = await createOrder(team, { lab_test_id: await team.test(method) })
  await advanceTo(team, order.id, 'requisition_created')
  return { team, order }
}

const identityOf = ({ definition: _definition, required: _required, ...item }: ExpectedResult) => item

/** Delivers the final report of an order without the last of its results. */
async function deliverReport(
  team: TestTeam,
  id: string,
  failure: FailureType | undefined,
  overrides: Partial<DiagnosticReport> = {},
): Promise<Order> {
  await team.db.tx(await tenantOf(team), async (tx) => {
    await updateOrder(tx, id, async (lockedOrder) => {
      const expected = expectations(await expectedResults(tx, lockedOrder.order.lab_test.id))
      const missing = failure ? expected.slice(-1).map((item) => ({ ...identityOf(item), failure, note: null })) : []
      const results = expected.slice(0, expected.length - missing.length).map((item) => ({
        ...identityOf(item),
        type: 'numeric' as const,
        result: '5',
        unit: null,
        reference_range: '1-10',
        flag: '',
        notes: null,
      }))
      const at = '2030-01-04T10:00:00Z'
      await receiveReport(tx, lockedOrder, {
        status: 'final',
        amended: false,
        specimen_number: 'SPEC-1',
        collected_at: null,
        received_at: null,
        reported_at: at,
        performing_laboratory: null,
        results,
        missing,
        ...overrides,
      })
    })
  })
  return getOrder(team, id)
}

/** The redraw order of an order. */
const readRedraw = async (team: TestTeam, order: Order): Promise<Order> => {
  const entry = order.order_transaction.orders.find(({ parent_id }) => parent_id === order.id)
  assert(entry, 'nothing is drawn again')
  return getOrder(team, entry.id)
}

test('a final result that lacks a marker through a failure of the laboratory creates a redraw for that marker alone', async () => {
  const { team, order } = await createOrderAtLab()
  const first = await deliverReport(team, order.id, 'internal_lab_failure')
  assert.equal(first.last_event.status, 'collecting_sample.walk_in_test.redraw_available')
  assert.equal(first.has_missing_results, true)
  const again = await readRedraw(team, first)
  assert.deepEqual([again.origin, again.status, again.user_id], ['redraw', 'received', order.user_id])
  assert.deepEqual(
    [again.patient_details, again.lab_account_id, again.billing_type],
    [order.patient_details, order.lab_account_id, order.billing_type],
  )
  const missing = (await team.api.get(`/v3/order/${order.id}/result`)).body.missing_results
  const markers = (await team.api.get(`/v3/lab_tests/${again.lab_test.id}/markers`)).body.markers
  assert.deepEqual(
    markers.map(({ id }: { id: number }) => id),
    missing[0].source_markers.map(({ marker_id }: { marker_id: number }) => marker_id),
  )
  assert.deepEqual([again.lab_test.auto_generated, again.lab_test.price], [true, 0])
  assert.deepEqual(again.order_transaction, first.order_transaction)
  assert.equal(first.order_transaction.status, 'active')
  assert.deepEqual(await team.events(order.id), [CREATED, UPDATED, UPDATED])
  assert.deepEqual(await team.events(again.id), [CREATED])
})

test('the result of a redraw completes both orders and appears in the combined result, and no second redraw is created', async () => {
  const { team, order } = await createOrderAtLab()
  const again = await readRedraw(team, await deliverReport(team, order.id, 'quantity_not_sufficient_failure'))
  await advanceTo(team, again.id, 'requisition_created')
  const second = await deliverReport(team, again.id, 'quantity_not_sufficient_failure', {
    results: [],
    status: 'partial',
  })
  assert.equal(second.last_event.status, 'sample_with_lab.walk_in_test.partial_results')
  const last = await deliverReport(team, again.id, undefined)
  assert.equal(last.last_event.status, 'completed.walk_in_test.completed')
  assert.equal(last.order_transaction.status, 'completed')
  const { body } = await team.api.get(`/v3/order_transaction/${order.order_transaction.id}/result`)
  assert.deepEqual([body.missing_results, body.metadata.status], [[], 'final'])
})

test('a second failure completes the redraw with missing results', async () => {
  const { team, order } = await createOrderAtLab()
  const again = await readRedraw(team, await deliverReport(team, order.id, 'internal_lab_failure'))
  await advanceTo(team, again.id, 'requisition_created')
  const second = await deliverReport(team, again.id, 'internal_lab_failure', {
    results: [
      {
        name: 'Hemolysis index',
        slug: 'hemolysis-index',
        provider_id: null,
        loinc: null,
        loinc_slug: null,
        source_markers: null,
        type: 'comment',
        result: 'high',
        unit: null,
        reference_range: null,
        flag: '',
        notes: null,
      },
    ],
  })
  assert.equal(second.last_event.status, 'completed.walk_in_test.completed')
  assert.deepEqual([second.has_missing_results, second.order_transaction.status], [true, 'completed'])
  assert.equal(second.order_transaction.orders.length, 2)
})

test('cancelling a redraw completes the transaction, and the first order cannot be cancelled', async () => {
  const { team, order } = await createOrderAtLab()
  const again = await readRedraw(team, await deliverReport(team, order.id, 'internal_lab_failure'))
  const refused = await team.api.post(`/v3/order/${order.id}/cancel`)
  assert.equal(refused.body.message, 'Transition from redraw_available to cancelled is not allowed')
  const { body } = await team.api.post(`/v3/order/${again.id}/cancel`)
  assert.equal(body.order.status, 'cancelled')
  assert.equal((await getOrder(team, order.id)).order_transaction.status, 'completed')
})

test('a report for an order that awaits a redraw is rejected', async () => {
  const { team, order } = await createOrderAtLab()
  const before = await deliverReport(team, order.id, 'internal_lab_failure')
  await assert.rejects(deliverReport(team, order.id, undefined), { status: 400 })
  assert.deepEqual(await getOrder(team, order.id), before)
})

const kept: Record<string, (team: TestTeam, order: Order) => Promise<Order>> = {
  'when what is missing harms no patient': (team, order) => deliverReport(team, order.id, 'non_failure'),
  'when nothing is missing': (team, order) => deliverReport(team, order.id, undefined),
  'for a team that did not ask for it': async (team, order) => {
    await command(cells, ['team', 'feature', team.team, 'redraws', 'off'])
    guard.invalidate(team.team)
    return deliverReport(team, order.id, 'internal_lab_failure')
  },
}
for (const [when, play] of Object.entries(kept))
  test(`an order is completed without a redraw ${when}`, async () => {
    const { team, order } = await createOrderAtLab()
    const after = await play(team, order)
    assert.equal(after.last_event.status, 'completed.walk_in_test.completed')
    assert.equal(after.order_transaction.orders.length, 1)
  })

test('an order whose user is deleted before the result arrives is completed without a redraw', async () => {
  const { team, order } = await createOrderAtLab()
  await team.api.post(`/v3/order/${order.id}/test`, { has_missing_results: true })
  assert.equal((await team.api.delete(`/v2/user/${order.user_id}`)).status, 200)
  await team.settle()
  assert.equal((await team.api.post(`/v2/user/undo_delete?user_id=${order.user_id}`)).status, 200)
  const after = await getOrder(team, order.id)
  assert.equal(after.last_event.status, 'completed.walk_in_test.completed')
  assert.deepEqual([after.has_missing_results, after.order_transaction.orders.length], [true, 1])
})

test('an order of another collection method is completed with missing results', async () => {
  const { team, order } = await createOrderAtLab('on_site_collection')
  const after = await deliverReport(team, order.id, 'internal_lab_failure')
  assert.equal(after.last_event.status, 'completed.on_site_collection.completed')
})

test('a simulation of missing results creates a redraw, which waits like any order', async () => {
  const { team, order } = await createOrderAtLab()
  await team.api.post(`/v3/order/${order.id}/test`, { has_missing_results: true })
  await team.settle()
  const first = await getOrder(team, order.id)
  assert.equal(first.last_event.status, 'collecting_sample.walk_in_test.redraw_available')
  const again = await readRedraw(team, first)
  assert.equal(again.last_event.status, 'received.walk_in_test.ordered')
  const target = '?final_status=collecting_sample.walk_in_test.redraw_available'
  assert.equal((await team.api.post(`/v3/order/${again.id}/test${target}`)).status, 400)
  const other = await createOrder(team, { lab_test_id: order.lab_test.id })
  assert.equal((await team.api.post(`/v3/order/${other.id}/test${target}`)).status, 200)
  await team.settle()
  assert.equal((await readRedraw(team, await getOrder(team, other.id))).origin, 'redraw')
})
