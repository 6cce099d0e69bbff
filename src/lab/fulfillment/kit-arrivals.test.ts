// When a kit arrives: what whoever sends it says, and what its patient is told of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utcDate, systemNow, addSeconds } from '../../platform/runtime/clock.ts'
import { SECONDS_PER_DAY, orderOf, advanceClock } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import {
  staffAction,
  staffActionOk,
  inbound,
  createAcceptedOrder,
  outbound,
  production,
  scan,
} from '../../../test/support/fulfillment.ts'

const inDays = (days: number): string => utcDate(addSeconds(systemNow(), days * SECONDS_PER_DAY))
const expected = (days: number) => ({ ...outbound, expected_on: inDays(days) })
const spoken = (days: number): string =>
  addSeconds(systemNow(), days * SECONDS_PER_DAY).toLocaleDateString('en-US', {
    weekday: 'long',
    month: 'long',
    day: 'numeric',
    timeZone: 'UTC',
  })

const team = await production()

async function accepted(of: TestTeam = team) {
  const order = await createAcceptedOrder(of, 'testkit')
  await staffActionOk(of, order, 'accept')
  return order
}

/** What the patient was told of a kit on its way. */
const onItsWay = async (of: TestTeam, { id }: { id: string }): Promise<string[]> =>
  (await of.api.get(`/v3/order/${id}/messages`)).body.data
    .filter(({ kind }: { kind: string }) => kind === 'transit_customer')
    .map(({ body }: { body: string }) => body)

const PLAIN = 'Your test kit is on its way to you.'

test('the patient is told on which day the kit should arrive', async () => {
  const order = await accepted()
  await staffActionOk(team, order, 'tracking', { ...expected(4), tracking_url: 'https://tracking.example/4' })
  await staffActionOk(team, order, 'scan', scan('outbound', 'picked_up'))
  assert.deepEqual(await onItsWay(team, order), [
    `Your test kit is on its way to you and should arrive on ${spoken(4)}. https://tracking.example/4`,
  ])
  assert.doesNotMatch(JSON.stringify(await orderOf(team, order.id)), /expected_on|arrives_on/)
})

test('without a day the patient is told of none', async () => {
  const order = await accepted()
  await staffActionOk(team, order, 'tracking', outbound)
  await staffActionOk(team, order, 'scan', scan('outbound', 'picked_up'))
  assert.deepEqual(await onItsWay(team, order), [PLAIN])
})

test('the day that was said last counts, and saying none takes it back', async () => {
  const order = await accepted()
  const changes = [expected(4), expected(4), expected(6), inbound, outbound, outbound, expected(60)]
  const changed = []
  for (const body of changes) changed.push((await staffActionOk(team, order, 'tracking', body)).changed)
  assert.deepEqual(changed, [true, false, true, true, true, false, true])
  await staffActionOk(team, order, 'scan', scan('outbound', 'picked_up'))
  assert.deepEqual(await onItsWay(team, order), [PLAIN.replace('.', ` and should arrive on ${spoken(60)}.`)])
})

test('after trouble on the way the day is told only when it is said anew', async () => {
  const order = await accepted()
  await staffActionOk(team, order, 'tracking', expected(4))
  for (const event of ['picked_up', 'exception', 'in_transit', 'exception'])
    await staffActionOk(team, order, 'scan', scan('outbound', event))
  await staffActionOk(team, order, 'tracking', expected(9))
  await staffActionOk(team, order, 'scan', scan('outbound', 'in_transit'))
  assert.deepEqual(await onItsWay(team, order), [
    PLAIN.replace('.', ` and should arrive on ${spoken(4)}.`),
    PLAIN,
    PLAIN.replace('.', ` and should arrive on ${spoken(9)}.`),
  ])
})

test("a day that is past on the team's clock is not told", async () => {
  const sandbox = await createTestTeam()
  const order = await accepted(sandbox)
  await staffActionOk(sandbox, order, 'tracking', expected(2))
  await advanceClock(sandbox, 5 * SECONDS_PER_DAY)
  assert.equal((await staffAction(sandbox, order, 'tracking', { ...outbound, expected_on: inDays(3) })).status, 400)
  await staffActionOk(sandbox, order, 'scan', scan('outbound', 'picked_up'))
  assert.deepEqual(await onItsWay(sandbox, order), [PLAIN])
})

for (const [sentence, body, status] of [
  ['is past', expected(-1), 400],
  ['is too far ahead', expected(62), 400],
  ['is of a parcel to the laboratory', { ...inbound, expected_on: inDays(4) }, 400],
  ['is none', { ...outbound, expected_on: '2031-02-30' }, 422],
  ['is no text', { ...outbound, expected_on: 4 }, 422],
] as [string, Record<string, unknown>, number][])
  test(`a day of arrival that ${sentence} is refused, and nothing changes`, async () => {
    const order = await accepted()
    assert.equal((await staffAction(team, order, 'tracking', body)).status, status)
    const { details } = await orderOf(team, order.id)
    assert.equal(details.type === 'testkit' && (details.data.shipment?.outbound_tracking_number ?? null), null)
  })
