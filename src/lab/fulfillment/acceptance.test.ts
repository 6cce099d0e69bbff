// Accepting orders, assigning kits, rejecting orders: repeated requests, rejected requests, and the events.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Order } from '../orders/schema.ts'
import { SECONDS_PER_DAY, getOrder, advanceClock, createOrder, registration } from '../../../test/support/orders.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import {
  staffAction,
  orderAtLab,
  details,
  staffActionOk,
  list,
  lowLevelStatuses,
  createAcceptedOrder,
  createKitOrder,
  production,
  assertOk,
  createTestWith,
} from '../../../test/support/fulfillment.ts'

describe('accepting an order', async () => {
  const team = await production()

  test('accepting an order again with the same or no sample id changes nothing, and another sample id is rejected', async () => {
    const order = await createAcceptedOrder(team, 'walk_in_test')
    const first = assertOk(await staffAction(team, order, 'accept', { sample_id: 'FICTIONAL-A1' })).body
    assert.equal(first.changed, true)
    for (const body of [undefined, {}, { sample_id: 'FICTIONAL-A1' }])
      assert.deepEqual(assertOk(await staffAction(team, order, 'accept', body)).body, { ...first, changed: false })
    const { status, body } = await staffAction(team, order, 'accept', { sample_id: 'FICTIONAL-A2' })
    assert.deepEqual(
      [status, body],
      [400, { detail: 'Transition from requisition_created to requisition_created is not allowed' }],
    )
    assert.equal((await team.events(order.id)).length, 2)
  })

  test('two concurrent acceptances assign one sample id and emit one event', async () => {
    const order = await createAcceptedOrder(team, 'walk_in_test')
    const replies = await Promise.all(
      ['FICTIONAL-E1', 'FICTIONAL-E2', undefined].map((sample_id) => staffAction(team, order, 'accept', { sample_id })),
    )
    assert(replies.some(({ status, body }) => status === 200 && body.changed))
    for (const { status, body } of replies) {
      assert([200, 400].includes(status))
      if (status === 200) assert.equal(body.sample_id, (await getOrder(team, order.id)).sample_id)
    }
    assert.equal((await lowLevelStatuses(team, order)).length, 2)
  })

  test('accepting with a sample id of another order at the laboratory is rejected and changes nothing', async () => {
    const [first, second] = [await createAcceptedOrder(team, 'testkit'), await createAcceptedOrder(team, 'testkit')]
    await staffActionOk(team, first, 'accept', { sample_id: 'FICTIONAL-B1' })
    const { status, body } = await staffAction(team, second, 'accept', { sample_id: 'FICTIONAL-B1' })
    assert.deepEqual([status, body.detail[0].loc], [422, ['body', 'sample_id']])
    assert.deepEqual([(await getOrder(team, second.id)).sample_id, (await lowLevelStatuses(team, second)).length], [null, 1])
  })

  test('a scheduled order is rejected before its date, then listed and accepted', async () => {
    const apart = await createTestTeam()
    const order = await createAcceptedOrder(apart, 'testkit', { activate_by: '2100-01-31' })
    const { status, body } = await staffAction(apart, order, 'accept')
    assert.deepEqual([status, body], [400, { detail: 'The order is scheduled for 2100-01-31' }])
    assert.deepEqual(await list(apart), [])
    await advanceClock(apart, 80 * 366 * SECONDS_PER_DAY)
    assert.deepEqual(
      (await list(apart)).map(({ order_id, work_type }) => [order_id, work_type]),
      [[order.id, 'accept']],
    )
    await staffActionOk(apart, order, 'accept')
  })

  test('accepting a kit that its patient registers is rejected', async () => {
    const order = await createKitOrder(team)
    assert.equal((await staffAction(team, order, 'accept')).status, 400)
    assert.equal((await lowLevelStatuses(team, order)).length, 2)
  })

  test('accepting an order of a laboratory without manual fulfillment is rejected, and no list has the order', async () => {
    const apart = await createTestTeam()
    const order = await createOrder(apart)
    const { status, body } = await staffAction(apart, order, 'accept')
    assert.deepEqual([status, body], [400, { detail: 'Manual fulfillment is not enabled for this laboratory' }])
    assert.deepEqual(await list(apart), [])
  })

  test('accepting a cancelled order is rejected', async () => {
    const order = await createAcceptedOrder(team, 'walk_in_test')
    assertOk(await team.api.post(`/v3/order/${order.id}/cancel`))
    assert.deepEqual((await staffAction(team, order, 'accept')).body, {
      detail: 'Transition from cancelled to requisition_created is not allowed',
    })
  })
})

describe('advance beneficiary notices', async () => {
  const team = await production()
  const notice = ({ id }: { id: string }) => team.api.get(`/v3/order/${id}/abn_pdf`)
  const abnFlags = async ({ id }: { id: string }): Promise<boolean[]> =>
    (await team.api.get(`/v1/events?object_id=${id}`)).body.data.map(({ body }: { body: { data: Order } }) => body.data.has_abn)

  test('accepting with an advance beneficiary notice shows it on the order and in the event', async () => {
    const order = await createAcceptedOrder(team, 'walk_in_test')
    assert.deepEqual([order.has_abn, (await notice(order)).status], [false, 404])
    await staffActionOk(team, order, 'accept', { has_abn: true })
    assert.equal((await getOrder(team, order.id)).has_abn, true)
    assert.deepEqual(await abnFlags(order), [true, false])
    // The document needs the form of the operator; src/lab/documents/operator-files.test.ts has one.
    const { status, body } = await notice(order)
    assert.deepEqual([status, body.detail], [404, 'This server has no form for advance beneficiary notices (ABN_FORM)'])
  })

  test('accepting without an advance beneficiary notice leaves it absent', async () => {
    const order = await createAcceptedOrder(team, 'walk_in_test')
    await staffActionOk(team, order, 'accept')
    assert.deepEqual([(await getOrder(team, order.id)).has_abn, (await notice(order)).status], [false, 404])
  })

  test('accepting again corrects the advance beneficiary notice without an event, until the order advances', async () => {
    const order = await createAcceptedOrder(team, 'on_site_collection')
    const first = await staffActionOk(team, order, 'accept', { has_abn: true })
    for (const body of [{}, { has_abn: true }, { has_abn: null }])
      assert.deepEqual(await staffActionOk(team, order, 'accept', body), { ...first, changed: false })
    assert.equal((await staffActionOk(team, order, 'accept', { has_abn: false })).changed, true)
    assert.deepEqual([(await getOrder(team, order.id)).has_abn, (await notice(order)).status], [false, 404])
    await staffActionOk(team, order, 'draw')
    assert.equal((await staffAction(team, order, 'accept', { has_abn: true })).status, 400)
    assert.equal((await getOrder(team, order.id)).has_abn, false)
    assert.equal((await team.events(order.id)).length, 3)
  })

  test('has_abn must be a boolean; another value is rejected and changes nothing', async () => {
    const order = await createAcceptedOrder(team, 'walk_in_test')
    const { status, body } = await staffAction(team, order, 'accept', { has_abn: 'perhaps' })
    assert.deepEqual([status, body.detail[0].loc], [422, ['body', 'has_abn']])
    assert.equal((await lowLevelStatuses(team, order)).length, 1)
  })
})

describe('assigning a kit', async () => {
  const team = await production()

  test('the assigned kit can be changed until it is registered, without an event', async () => {
    const order = await createKitOrder(team)
    await staffActionOk(team, order, 'kit', { sample_id: 'FICTIONAL-C1' })
    assert.equal((await staffActionOk(team, order, 'kit', { sample_id: 'FICTIONAL-C2' })).changed, true)
    assert.equal((await staffActionOk(team, order, 'kit', { sample_id: 'FICTIONAL-C2' })).changed, false)
    assert.equal((await team.events(order.id)).length, 2)
    assert.equal((await team.api.post('/v3/order/testkit/register', registration('FICTIONAL-C1'))).status, 404)
    assertOk(await team.api.post('/v3/order/testkit/register', registration('FICTIONAL-C2')))
    assert.equal((await staffAction(team, order, 'kit', { sample_id: 'FICTIONAL-C3' })).status, 400)
  })

  test('assigning a kit is rejected for an order of a known patient', async () => {
    const order = await createAcceptedOrder(team, 'testkit')
    assert.equal((await staffAction(team, order, 'kit', { sample_id: 'FICTIONAL-D1' })).status, 400)
  })

  test('assigning a kit shows the shipping address and no other patient data', async () => {
    const order = await createKitOrder(team)
    const { work_type, address, patient_details } = await details(team, order)
    assert.deepEqual([work_type, address.receiver_name, patient_details], ['assign_kit', 'Testa Fictional', null])
  })
})

describe('rejecting an order', async () => {
  const team = await production()

  test('rejecting an order emits one event and keeps its status, and resolving returns it to the queue', async () => {
    const order = await createAcceptedOrder(team, 'walk_in_test')
    await staffActionOk(team, order, 'refuse')
    assert.equal((await staffActionOk(team, order, 'refuse')).changed, false)
    assert.equal((await details(team, order)).work_type, 'problem')
    await staffActionOk(team, order, 'resolve')
    assert.equal((await staffActionOk(team, order, 'resolve')).changed, false)
    assert.equal((await details(team, order)).work_type, 'accept')
    await staffActionOk(team, order, 'accept')
    assert.deepEqual(await lowLevelStatuses(team, order), [
      'received.walk_in_test.ordered',
      'received.walk_in_test.ordered fulfillment_error',
      'received.walk_in_test.ordered',
      'received.walk_in_test.requisition_created',
    ])
    assert.equal((await staffAction(team, order, 'refuse')).status, 400)
    assert.equal((await staffAction(team, order, 'resolve')).status, 400)
  })
})

test('notes are shown on the order and can be removed, without an event', async () => {
  const team = await production()
  const order = await orderAtLab(team)
  const events = await team.events(order.id)
  await staffActionOk(team, order, 'notes', { notes: ' The box was dented. ' })
  assert.equal((await getOrder(team, order.id)).notes, 'The box was dented.')
  await staffActionOk(team, order, 'notes', { notes: null })
  assert.equal((await getOrder(team, order.id)).notes, null)
  assert.deepEqual(await team.events(order.id), events)
})

test('reading work details and every staff action write an audit entry', async () => {
  const team = await production()
  const order = await createAcceptedOrder(team, 'walk_in_test', { lab_test_id: await createTestWith(team, 'walk_in_test') })
  await details(team, order)
  await staffActionOk(team, order, 'accept')
  const { data } = (await team.manage.get(`/team/${team.team}/production/audit`)).body
  assert.deepEqual(
    data.filter(({ object }: { object: string }) => object === order.id).map(({ operation }: { operation: string }) => operation),
    ['accept_order', 'get_fulfillment_work'],
  )
})
