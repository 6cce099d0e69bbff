// Production orders from the first to the last status through staff actions, one for each collection method.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { registration } from '../../../test/support/orders.ts'
import type { TestTeam } from '../../../test/support/server.ts'
import {
  staffAction,
  details,
  staffActionOk,
  finalReport,
  inbound,
  list,
  lowLevelStatuses,
  createAcceptedOrder,
  createKitOrder,
  outbound,
  production,
  scan,
  assertOk,
} from '../../../test/support/fulfillment.ts'

const eventTypes = (count: number) => ['labtest.order.created', ...Array<string>(count).fill('labtest.order.updated')]
const readWorkType = async (team: TestTeam, { id }: { id: string }) =>
  (await list(team)).find(({ order_id }) => order_id === id)?.work_type

describe('a production order goes from ordered to completed through staff actions', () => {
  test('staff actions complete a kit order of a known patient', async () => {
    const team = await production()
    const order = await createAcceptedOrder(team, 'testkit')
    await team.settle()
    assert.equal(await readWorkType(team, order), 'accept')
    const { sample_id } = assertOk(await staffAction(team, order, 'accept')).body
    assert.match(sample_id, /^DBM[0-9A-Z]{10}$/)
    assert.equal(await readWorkType(team, order), 'ship')
    assert.equal((await details(team, order)).address.receiver_name, 'Testa Fictional')
    await staffActionOk(team, order, 'tracking', outbound)
    await staffActionOk(team, order, 'tracking', inbound)
    for (const event of ['picked_up', 'out_for_delivery', 'delivered'])
      await staffActionOk(team, order, 'scan', scan('outbound', event))
    assert.equal(await readWorkType(team, order), 'await_sample')
    for (const event of ['picked_up', 'delivered']) await staffActionOk(team, order, 'scan', scan('inbound', event))
    assert.equal(await readWorkType(team, order), 'report')
    await staffActionOk(team, order, 'result', finalReport)
    assert.equal(await readWorkType(team, order), undefined)
    assert.deepEqual(await lowLevelStatuses(team, order), [
      'received.testkit.ordered',
      'received.testkit.requisition_created',
      'collecting_sample.testkit.transit_customer',
      'collecting_sample.testkit.out_for_delivery',
      'collecting_sample.testkit.with_customer',
      'collecting_sample.testkit.transit_lab',
      'sample_with_lab.testkit.delivered_to_lab',
      'completed.testkit.completed',
    ])
    assert.deepEqual(await team.events(order.id), eventTypes(7))
    const shown = (await team.api.get(`/v3/order/${order.id}`)).body
    const { shipment } = shown.details.data
    assert.deepEqual(
      [shipment.outbound_tracking_number, shipment.inbound_tracking_number, shipment.outbound_courier],
      [outbound.tracking_number, inbound.tracking_number, 'usps'],
    )
    const { results, metadata, missing_results } = (await team.api.get(`/v3/order/${order.id}/result`)).body
    assert.deepEqual([results[0].slug, results[0].value, results[0].interpretation], ['hemoglobin-a1c', 5.4, 'normal'])
    assert.deepEqual([metadata.specimen_number, metadata.status, missing_results], [sample_id, 'final', []])
  })

  test('staff actions complete a kit order that its patient registers at home', async () => {
    const team = await production()
    const order = await createKitOrder(team)
    assert.equal(await readWorkType(team, order), 'assign_kit')
    await staffActionOk(team, order, 'kit', { sample_id: 'FICTIONAL-1' })
    assert.equal(await readWorkType(team, order), 'ship')
    await staffActionOk(team, order, 'tracking', outbound)
    await staffActionOk(team, order, 'scan', scan('outbound', 'picked_up'))
    await staffActionOk(team, order, 'scan', scan('outbound', 'delivered'))
    assertOk(await team.api.post('/v3/order/testkit/register', registration('FICTIONAL-1')))
    assert.equal(await readWorkType(team, order), 'await_sample')
    await staffActionOk(team, order, 'tracking', inbound)
    await staffActionOk(team, order, 'scan', scan('inbound', 'in_transit'))
    await staffActionOk(team, order, 'scan', scan('inbound', 'delivered'))
    await staffActionOk(team, order, 'result', finalReport)
    assert.deepEqual(await lowLevelStatuses(team, order), [
      'received.testkit.ordered',
      'received.testkit.awaiting_registration',
      'collecting_sample.testkit.transit_customer',
      'collecting_sample.testkit.out_for_delivery',
      'collecting_sample.testkit.with_customer',
      'received.testkit.requisition_created',
      'received.testkit.testkit_registered',
      'collecting_sample.testkit.transit_lab',
      'sample_with_lab.testkit.delivered_to_lab',
      'completed.testkit.completed',
    ])
    assert.deepEqual(await team.events(order.id), eventTypes(9))
  })

  test('staff actions complete a kit order that is registered before the kit is sent', async () => {
    const team = await production()
    const order = await createKitOrder(team)
    await staffActionOk(team, order, 'kit', { sample_id: 'FICTIONAL-1' })
    assertOk(await team.api.post('/v3/order/testkit/register', registration('FICTIONAL-1')))
    assert.equal(await readWorkType(team, order), 'ship')
    await staffActionOk(team, order, 'tracking', outbound)
    await staffActionOk(team, order, 'scan', scan('outbound', 'delivered'))
    await staffActionOk(team, order, 'scan', scan('inbound', 'delivered'))
    await staffActionOk(team, order, 'result', finalReport)
    assert.deepEqual((await lowLevelStatuses(team, order)).slice(2), [
      'received.testkit.requisition_created',
      'received.testkit.testkit_registered',
      'collecting_sample.testkit.with_customer',
      'sample_with_lab.testkit.delivered_to_lab',
      'completed.testkit.completed',
    ])
  })

  test('staff actions complete a walk-in order', async () => {
    const team = await production()
    const order = await createAcceptedOrder(team, 'walk_in_test')
    await staffActionOk(team, order, 'accept', { sample_id: 'FICTIONAL-2' })
    assert.equal(await readWorkType(team, order), 'draw')
    await staffActionOk(team, order, 'draw')
    assert.equal(await readWorkType(team, order), 'report')
    await staffActionOk(team, order, 'result', { ...finalReport, status: 'partial' })
    await staffActionOk(team, order, 'result', finalReport)
    assert.deepEqual(await lowLevelStatuses(team, order), [
      'received.walk_in_test.ordered',
      'received.walk_in_test.requisition_created',
      'sample_with_lab.walk_in_test.partial_results',
      'completed.walk_in_test.completed',
    ])
    assert.deepEqual(await team.events(order.id), eventTypes(2))
    assert.notEqual((await team.api.get(`/v3/order/${order.id}`)).body.expected_result_by_date, null)
  })

  test('staff actions complete an at-home phlebotomy order', async () => {
    const team = await production()
    const order = await createAcceptedOrder(team, 'at_home_phlebotomy')
    await staffActionOk(team, order, 'accept')
    const { address, patient_details } = await details(team, order)
    assert.deepEqual([address.zip, patient_details.phone_number], ['85004', '+15550100199'])
    await staffActionOk(team, order, 'visit', { status: 'appointment_pending' })
    await staffActionOk(team, order, 'visit', { status: 'appointment_scheduled' })
    await staffActionOk(team, order, 'draw')
    await staffActionOk(team, order, 'result', finalReport)
    assert.deepEqual(await lowLevelStatuses(team, order), [
      'received.at_home_phlebotomy.ordered',
      'received.at_home_phlebotomy.requisition_created',
      'collecting_sample.at_home_phlebotomy.appointment_pending',
      'collecting_sample.at_home_phlebotomy.appointment_scheduled',
      'collecting_sample.at_home_phlebotomy.draw_completed',
      'completed.at_home_phlebotomy.completed',
    ])
    assert.deepEqual(await team.events(order.id), eventTypes(5))
  })

  test('staff actions complete an on-site collection order', async () => {
    const team = await production()
    const order = await createAcceptedOrder(team, 'on_site_collection')
    await staffActionOk(team, order, 'accept')
    await staffActionOk(team, order, 'draw')
    await staffActionOk(team, order, 'result', finalReport)
    assert.deepEqual(await lowLevelStatuses(team, order), [
      'received.on_site_collection.ordered',
      'received.on_site_collection.requisition_created',
      'sample_with_lab.on_site_collection.draw_completed',
      'completed.on_site_collection.completed',
    ])
    assert.deepEqual(await team.events(order.id), eventTypes(3))
  })

  test('staff actions complete an imported order', async () => {
    const team = await production()
    const placed = await createAcceptedOrder(team, 'testkit')
    const { user_id, lab_test, patient_details, patient_address } = placed
    const imported = await team.api.post('/v3/order/import', {
      user_id,
      billing_type: 'client_bill',
      order_set: { lab_test_ids: [lab_test.id] },
      collection_method: 'testkit',
      patient_details: { ...patient_details, medical_proxy: undefined },
      patient_address: { ...patient_address, receiver_name: 'Testa Fictional' },
      sample_id: 'FICTIONAL-3',
    })
    const { order } = assertOk(imported).body
    assert.equal(await readWorkType(team, order), 'ship')
    await staffActionOk(team, order, 'tracking', outbound)
    await staffActionOk(team, order, 'scan', scan('outbound', 'delivered'))
    await staffActionOk(team, order, 'scan', scan('inbound', 'delivered'))
    await staffActionOk(team, order, 'result', finalReport)
    assert.deepEqual(await lowLevelStatuses(team, order), [
      'received.testkit.ordered',
      'received.testkit.requisition_bypassed',
      'collecting_sample.testkit.transit_customer',
      'collecting_sample.testkit.with_customer',
      'sample_with_lab.testkit.delivered_to_lab',
      'completed.testkit.completed',
    ])
  })
})
