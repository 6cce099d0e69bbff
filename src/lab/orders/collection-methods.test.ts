// Orders by each collection method, imported orders, on-site collection, and follow-up orders.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findLabTest } from '../catalog/lab-tests.ts'
import { address, orderBody, getOrder, patient, createOrder, advanceTo } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import { updateOrder, saveOrder, lockOrder } from './change-order.ts'
import { placeFollowUpOrder } from './place-order.ts'
import type { Order } from './schema.ts'

const CREATED = 'labtest.order.created'
const UPDATED = 'labtest.order.updated'

for (const [method, detail] of [
  ['walk_in_test', { appointment_id: null }],
  ['at_home_phlebotomy', { appointment_id: null }],
  ['on_site_collection', {}],
  ['testkit', { shipment: null }],
] as const)
  test(`an order by ${method} starts as received and emits one event`, async () => {
    const team = await createTestTeam()
    const order = await createOrder(team, { lab_test_id: await team.test(method), collection_method: method })
    const { id, created_at, updated_at, ...rest } = order.details.data
    assert.deepEqual([order.details.type, rest], [method, detail])
    assert.deepEqual([created_at, updated_at, order.lab_test.method], [order.created_at, order.created_at, method])
    assert.notEqual(id, order.id)
    assert.deepEqual(
      order.events.map(({ status }) => status),
      [`received.${method}.ordered`],
    )
    assert.deepEqual(await team.events(order.id), [CREATED])
    assert.deepEqual(await getOrder(team, order.id), order)
  })

const importBody = async (team: TestTeam, changes: Record<string, unknown> = {}) => ({
  user_id: await team.user(),
  billing_type: 'client_bill',
  order_set: { lab_test_ids: [await team.test('walk_in_test')] },
  collection_method: 'walk_in_test',
  patient_details: patient,
  patient_address: { ...address, receiver_name: 'Testa Fictional' },
  sample_id: 'FICTIONAL-1',
  ...changes,
})

describe('imported orders', () => {
  test('an imported order keeps the requisition number of the laboratory as its sample id', async () => {
    const team = await createTestTeam()
    const { status, body } = await team.api.post('/v3/order/import', await importBody(team))
    assert.deepEqual([status, body.status, body.message], [200, 'success', 'Order created successfully'])
    const { order } = body as { order: Order }
    assert.deepEqual([order.sample_id, order.status], ['FICTIONAL-1', 'received'])
    assert.deepEqual(
      order.events.map(({ status: shown }) => shown),
      ['received.walk_in_test.ordered', 'received.walk_in_test.requisition_bypassed'],
    )
    assert.equal(order.events[0]!.created_at, order.events[1]!.created_at)
    assert.deepEqual(await team.events(order.id), [CREATED, UPDATED])
  })

  test('an imported order keeps its address as given', async () => {
    const team = await createTestTeam()
    const patient_address = { ...address, receiver_name: '', zip: 'X1', state: 'Somewhere', country: 'Nowhereland' }
    const { body } = await team.api.post('/v3/order/import', await importBody(team, { patient_address }))
    const { zip, state, country } = body.order.patient_address
    assert.deepEqual([zip, state, country], ['X1', 'Somewhere', 'Nowhereland'])
  })

  test('an import with a sample id already used at the laboratory returns 422 and writes nothing', async () => {
    const team = await createTestTeam()
    assert.equal((await team.api.post('/v3/order/import', await importBody(team))).status, 200)
    const again = await team.api.post('/v3/order/import', await importBody(team))
    assert.deepEqual([again.status, again.body.detail[0].loc], [422, ['body', 'sample_id']])
    assert.equal((await team.api.get('/v3/orders')).body.total, 1)
    const other = await createTestTeam()
    assert.equal((await other.api.post('/v3/order/import', await importBody(other))).status, 200)
  })

  test('a pending lab account accepts imported orders and rejects new ones', async () => {
    const team = await createTestTeam()
    const lab = (await team.api.get(`/v3/lab_tests/${await team.test('walk_in_test')}`)).body.lab.slug
    const lab_account_id = await labAccount(team, { lab, status: 'pending' })
    const imported = await team.api.post('/v3/order/import', await importBody(team, { lab_account_id }))
    assert.deepEqual([imported.status, imported.body.order?.lab_account_id], [200, lab_account_id])
    const ordered = await team.api.post(
      '/v3/order',
      await orderBody(team, { lab_test_id: await team.test('walk_in_test'), lab_account_id }),
    )
    assert.equal(ordered.status, 400)
  })
})

describe('on-site collection', () => {
  const complete = (team: TestTeam, id: string) => team.api.patch(`/v3/order/${id}/draw_completed`)

  test('an on-site draw can be completed after the requisition, and the order then awaits results', async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team, { lab_test_id: await team.test('on_site_collection') })
    const early = await complete(team, id)
    assert.deepEqual([early.status, early.body], [400, { detail: 'Transition from ordered to draw_completed is not allowed' }])
    await advanceTo(team, id, 'requisition_created')
    const { status, body } = await complete(team, id)
    assert.deepEqual([status, body.order.last_event.status], [200, 'sample_with_lab.on_site_collection.draw_completed'])
    assert.match(body.order.expected_result_by_date, /^\d{4}-\d{2}-\d{2}$/)
    assert.equal((await complete(team, id)).status, 400)
    assert.deepEqual(await team.events(id), [CREATED, UPDATED, UPDATED])
  })

  test('completing a draw is rejected for other collection methods', async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team, { lab_test_id: await team.test('at_home_phlebotomy') })
    await advanceTo(team, id, 'requisition_created', 'appointment_scheduled')
    assert.deepEqual((await complete(team, id)).body, {
      detail: 'Transition from appointment_scheduled to draw_completed is not allowed',
    })
  })
})

describe('follow-up orders', () => {
  const follow = async (team: TestTeam, id: string, target?: string): Promise<Order> => {
    const { document } = await team.db.tx(team.tenant, async (tx) => {
      const lockedOrder = await lockOrder(tx, id)
      const lab_test = (await findLabTest(tx, lockedOrder.order.lab_test.id))!
      if (target) lockedOrder.transitionTo(target)
      const made = await placeFollowUpOrder(tx, lockedOrder, { origin: 'redraw', lab_test })
      await saveOrder(tx, lockedOrder)
      return made
    })
    return JSON.parse(document) as Order
  }

  test('a follow-up order joins the transaction, and both orders show changes of either', async () => {
    const team = await createTestTeam()
    const first = await createOrder(team, { lab_test_id: await team.test('walk_in_test') })
    await advanceTo(team, first.id, 'requisition_created')
    const second = await follow(team, first.id, 'redraw_available')
    assert.deepEqual([second.origin, second.patient_details], ['redraw', first.patient_details])
    const members = async () => {
      const [a, b] = [await getOrder(team, first.id), await getOrder(team, second.id)]
      assert.deepEqual(a.order_transaction, b.order_transaction)
      return a.order_transaction
    }
    let transaction = await members()
    assert.deepEqual(
      transaction.orders.map(({ id, parent_id, low_level_status }) => [id, parent_id, low_level_status]),
      [
        [first.id, null, 'redraw_available'],
        [second.id, first.id, 'ordered'],
      ],
    )
    assert.equal(transaction.status, 'active')
    await advanceTo(team, second.id, 'requisition_created', 'completed')
    transaction = await members()
    assert.deepEqual([transaction.status, transaction.orders[1]!.low_level_status], ['completed', 'completed'])
    const read = (await team.api.get(`/v3/order_transaction/${transaction.id}`)).body
    assert.deepEqual([read.status, read.orders.length], ['completed', 2])
  })

  test('concurrent changes of two orders of a transaction do not deadlock', async () => {
    const team = await createTestTeam()
    const first = await createOrder(team, { lab_test_id: await team.test('walk_in_test') })
    const second = await follow(team, first.id)
    await Promise.all(
      [first.id, second.id, first.id, second.id, first.id, second.id].map((id) =>
        team.db.tx(team.tenant, (tx) => updateOrder(tx, id, (lockedOrder) => lockedOrder.setStatusDetail('fulfillment_error'))),
      ),
    )
    const [a, b] = [await getOrder(team, first.id), await getOrder(team, second.id)]
    assert.deepEqual([a.events.length, b.events.length], [4, 4])
    assert.deepEqual(a.order_transaction, b.order_transaction)
  })
})

describe('orders of several tests or of single markers', () => {
  const markersOf = async (team: TestTeam, lab_id: number) =>
    (await team.api.get(`/v3/lab_tests/markers?lab_id=${lab_id}&a_la_carte_enabled=true&size=3`)).body.markers as {
      id: number
      provider_id: string
    }[]

  test('an order set creates one lab test, and the same set uses the same lab test', async () => {
    const team = await createTestTeam()
    const { lab } = (await team.api.get(`/v3/lab_tests/${await team.test('walk_in_test')}`)).body
    const [one, two] = await markersOf(team, lab.id)
    const order_set = { add_on: { marker_ids: [one!.id, two!.id] } }
    const order = await createOrder(team, { order_set, collection_method: 'walk_in_test' })
    assert.deepEqual([order.lab_test.auto_generated, order.lab_test.method], [true, 'walk_in_test'])
    const read = (await team.api.get(`/v3/lab_tests/${order.lab_test.id}/markers`)).body
    assert.deepEqual(
      read.markers.slice(0, 2).map(({ id }: { id: number }) => id),
      [one!.id, two!.id],
    )
    const again = await createOrder(team, { order_set, collection_method: 'walk_in_test' })
    assert.equal(again.lab_test.id, order.lab_test.id)
    assert.deepEqual(
      (await team.api.get('/v3/lab_tests')).body.some(({ id }: { id: string }) => id === order.lab_test.id),
      false,
    )
  })

  test("an order set can add markers to a lab test by marker id or by the lab's code", async () => {
    const team = await createTestTeam()
    const id = await team.test('walk_in_test')
    const { lab } = (await team.api.get(`/v3/lab_tests/${id}`)).body
    const [one] = await markersOf(team, lab.id)
    const order_set = { lab_test_ids: [id], add_on: { provider_ids: [one!.provider_id] } }
    const order = await createOrder(team, { order_set, collection_method: 'walk_in_test' })
    assert.equal(order.lab_test.lab!.id, lab.id)
  })

  test('an order set with a marker of another lab is rejected and writes nothing', async () => {
    const team = await createTestTeam()
    const id = await team.test('walk_in_test')
    const { lab } = (await team.api.get(`/v3/lab_tests/${id}`)).body
    const labs = (await team.api.get('/v3/lab_tests/labs')).body as { id: number }[]
    const found = await Promise.all(
      labs.filter((otherLab) => otherLab.id !== lab.id).map((otherLab) => markersOf(team, otherLab.id)),
    )
    const body = await orderBody(team, {
      order_set: { lab_test_ids: [id], add_on: { marker_ids: [found.flat()[0]!.id] } },
      collection_method: 'walk_in_test',
    })
    assert.equal((await team.api.post('/v3/order', body)).status, 400)
    assert.equal((await team.api.get('/v3/orders')).body.total, 0)
    assert.deepEqual(await team.events(), [])
  })
})
