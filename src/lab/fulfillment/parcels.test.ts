// Parcels: carrier scans that are repeated, out of order, or missed.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { getOrder, registration } from '../../../test/support/orders.ts'
import type { TestTeam } from '../../../test/support/server.ts'
import {
  staffAction,
  staffActionOk,
  inbound,
  lowLevelStatuses,
  createAcceptedOrder,
  createKitOrder,
  outbound,
  production,
  scan,
  assertOk,
} from '../../../test/support/fulfillment.ts'
import { scans } from './schema.ts'

const team = await production()

/** An accepted kit order whose parcels have tracking numbers. */
async function createKitWithParcels(owner: TestTeam = team) {
  const order = await createAcceptedOrder(owner, 'testkit')
  await staffActionOk(owner, order, 'accept')
  await staffActionOk(owner, order, 'tracking', outbound)
  await staffActionOk(owner, order, 'tracking', inbound)
  return order
}

/** The statuses of an order after its acceptance and these scans. */
async function statusesAfterScans(...scans: [string, string][]): Promise<string[]> {
  const order = await createKitWithParcels()
  for (const [direction, event] of scans) await staffActionOk(team, order, 'scan', scan(direction, event))
  return (await lowLevelStatuses(team, order)).slice(2).map((status) => status.split('.').at(-1)!)
}

const cases: [string, [string, string][], string[]][] = [
  [
    'a scan that comes twice counts once',
    [
      ['outbound', 'picked_up'],
      ['outbound', 'in_transit'],
      ['outbound', 'picked_up'],
    ],
    ['transit_customer'],
  ],
  [
    'a late scan does not take a kit back',
    [
      ['outbound', 'delivered'],
      ['outbound', 'out_for_delivery'],
      ['outbound', 'exception'],
      ['outbound', 'lost'],
      ['outbound', 'returned'],
    ],
    ['transit_customer', 'with_customer'],
  ],
  [
    'an outbound scan after the kit came back changes nothing',
    [
      ['outbound', 'delivered'],
      ['inbound', 'delivered'],
      ['outbound', 'delivered'],
      ['inbound', 'in_transit'],
      ['inbound', 'exception'],
    ],
    ['transit_customer', 'with_customer', 'delivered_to_lab'],
  ],
  [
    'a scan on the way back tells that the kit was delivered',
    [
      ['outbound', 'picked_up'],
      ['inbound', 'in_transit'],
    ],
    ['transit_customer', 'with_customer', 'transit_lab'],
  ],
  [
    'a parcel with a delivery problem starts its transit again',
    [
      ['outbound', 'out_for_delivery'],
      ['outbound', 'exception'],
      ['outbound', 'exception'],
      ['outbound', 'in_transit'],
      ['outbound', 'out_for_delivery'],
      ['outbound', 'delivered'],
    ],
    [
      'transit_customer',
      'out_for_delivery',
      'problem_in_transit_customer',
      'transit_customer',
      'out_for_delivery',
      'with_customer',
    ],
  ],
  [
    'trouble on the way back ends with the delivery',
    [
      ['outbound', 'delivered'],
      ['inbound', 'picked_up'],
      ['inbound', 'exception'],
      ['outbound', 'delivered'],
      ['inbound', 'delivered'],
    ],
    ['transit_customer', 'with_customer', 'transit_lab', 'problem_in_transit_lab', 'delivered_to_lab'],
  ],
  [
    'a parcel that comes back to its sender has failed, and that is the end',
    [
      ['outbound', 'in_transit'],
      ['outbound', 'returned'],
      ['outbound', 'delivered'],
      ['inbound', 'delivered'],
    ],
    ['transit_customer', 'failure_to_deliver_to_customer'],
  ],
  [
    'a parcel to the laboratory that comes back has failed',
    [
      ['outbound', 'delivered'],
      ['inbound', 'in_transit'],
      ['inbound', 'returned'],
    ],
    ['transit_customer', 'with_customer', 'transit_lab', 'failure_to_deliver_to_lab'],
  ],
  [
    'a parcel that is lost is lost',
    [
      ['outbound', 'in_transit'],
      ['outbound', 'lost'],
    ],
    ['transit_customer', 'lost'],
  ],
]
for (const [sentence, scans, statuses] of cases)
  test(sentence, async () => assert.deepEqual(await statusesAfterScans(...scans), statuses))

describe('rejected scans', () => {
  test('a scan is rejected before the order is accepted', async () => {
    const order = await createAcceptedOrder(team, 'testkit')
    const { status, body } = await staffAction(team, order, 'scan', scan('outbound', 'picked_up'))
    assert.deepEqual([status, body], [400, { detail: 'Transition from ordered to transit_customer is not allowed' }])
  })

  test('a scan is rejected if the parcel has no tracking number', async () => {
    const order = await createAcceptedOrder(team, 'testkit')
    await staffActionOk(team, order, 'accept')
    assert.deepEqual((await staffAction(team, order, 'scan', scan('outbound', 'delivered'))).body, {
      detail: 'The outbound parcel has no tracking number',
    })
    assert.equal((await lowLevelStatuses(team, order)).length, 2)
  })

  test('a scan is rejected if no kit is assigned', async () => {
    const order = await createKitOrder(team)
    for (const [what, body] of [
      ['tracking', outbound],
      ['scan', scan('outbound', 'picked_up')],
    ] as const)
      assert.deepEqual((await staffAction(team, order, what, body)).body, { detail: 'No kit is assigned to this order' })
  })

  test('a scan on the way to the laboratory is rejected before registration, even if scans were missed', async () => {
    const order = await createKitOrder(team)
    await staffActionOk(team, order, 'kit', { sample_id: 'FICTIONAL-P1' })
    await staffActionOk(team, order, 'tracking', outbound)
    await staffActionOk(team, order, 'tracking', inbound)
    await staffActionOk(team, order, 'scan', scan('outbound', 'picked_up'))
    const { status } = await staffAction(team, order, 'scan', scan('inbound', 'delivered'))
    assert.deepEqual(
      [status, (await getOrder(team, order.id)).last_event.status],
      [400, 'collecting_sample.testkit.transit_customer'],
    )
    assert.equal((await staffAction(team, order, 'result', { status: 'final', results: [] })).status, 400)
  })

  test('a scan is rejected for an order without a kit', async () => {
    const order = await createAcceptedOrder(team, 'walk_in_test')
    assert.equal((await staffAction(team, order, 'scan', scan('outbound', 'picked_up'))).status, 400)
    assert.equal((await staffAction(team, order, 'tracking', outbound)).status, 400)
  })
})

test('a delivery scan of a kit that was registered at home changes nothing', async () => {
  const order = await createKitOrder(team)
  await staffActionOk(team, order, 'kit', { sample_id: 'FICTIONAL-P2' })
  await staffActionOk(team, order, 'tracking', outbound)
  await staffActionOk(team, order, 'scan', scan('outbound', 'delivered'))
  assertOk(await team.api.post('/v3/order/testkit/register', registration('FICTIONAL-P2')))
  assert.equal((await staffActionOk(team, order, 'scan', scan('outbound', 'delivered'))).changed, false)
  assert.equal((await getOrder(team, order.id)).last_event.status, 'received.testkit.testkit_registered')
})

test('a tracking number can be corrected while the parcel is in transit, but not later', async () => {
  const order = await createKitWithParcels()
  assert.equal((await staffActionOk(team, order, 'tracking', outbound)).changed, false)
  await staffActionOk(team, order, 'scan', scan('outbound', 'picked_up'))
  const corrected = { ...outbound, tracking_number: '9400000000000000000002', tracking_url: 'https://tracking.example/2' }
  assert.equal((await staffActionOk(team, order, 'tracking', corrected)).changed, true)
  await staffActionOk(team, order, 'scan', scan('outbound', 'delivered'))
  assert.equal((await staffAction(team, order, 'tracking', outbound)).status, 400)
  const { details } = await getOrder(team, order.id)
  assert(details.type === 'testkit')
  assert.deepEqual(
    [details.data.shipment!.outbound_tracking_number, details.data.shipment!.outbound_tracking_url],
    ['9400000000000000000002', 'https://tracking.example/2'],
  )
})

const way = ['transit_customer', 'out_for_delivery', 'with_customer', 'transit_lab', 'delivered_to_lab']
const anyScan = fc.record({
  direction: fc.constantFrom('outbound', 'inbound'),
  event: fc.constantFrom(...scans),
})

test('no sequence of scans moves a kit back, except after a delivery problem', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyScan, { minLength: 4, maxLength: 14 }), async (scans) => {
      const order = await createKitWithParcels()
      for (const each of scans) await staffActionOk(team, order, 'scan', each)
      const reached = (await lowLevelStatuses(team, order)).slice(2).map((status) => status.split('.').at(-1)!)
      for (const [i, low] of reached.entries()) {
        const before = reached[i - 1]
        if (before === undefined || !way.includes(low) || !way.includes(before)) continue
        assert(way.indexOf(low) > way.indexOf(before), reached.join())
      }
    }),
    { numRuns: 25, seed: 20300101 },
  )
})
