// Delivery dates of kits: what staff enter, and the messages to the patient.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemNow, addSeconds } from '../../platform/runtime/clock.ts'
import { dayIn } from '../../platform/runtime/zoned-time.ts'
import { SECONDS_PER_DAY, getOrder, advanceClock } from '../../../test/support/orders.ts'
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

const inDays = (days: number): string => dayIn(addSeconds(systemNow(), days * SECONDS_PER_DAY), 'America/Phoenix')
const expected = (days: number) => ({ ...outbound, expected_on: inDays(days) })
const speakDays = (days: number): string =>
  addSeconds(systemNow(), days * SECONDS_PER_DAY).toLocaleDateString('en-US', {
    weekday: 'long',
    month: 'long',
    day: 'numeric',
    timeZone: 'America/Phoenix',
  })

const team = await production()

async function createAcceptedKit(owner: TestTeam = team) {
  const order = await createAcceptedOrder(owner, 'testkit')
  await staffActionOk(owner, order, 'accept')
  return order
}

/** The messages to the patient about a kit in transit. */
const onItsWay = async (owner: TestTeam, { id }: { id: string }): Promise<string[]> =>
  (await owner.api.get(`/v3/order/${id}/messages`)).body.data
    .filter(({ kind }: { kind: string }) => kind === 'transit_customer')
    .map(({ body }: { body: string }) => body)

const PLAIN = 'Your test kit is on its way to you.'

test("the patient's message names the expected delivery date of the kit", async () => {
  const order = await createAcceptedKit()
  await staffActionOk(team, order, 'tracking', { ...expected(4), tracking_url: 'https://tracking.example/4' })
  await staffActionOk(team, order, 'scan', scan('outbound', 'picked_up'))
  assert.deepEqual(await onItsWay(team, order), [
    `Your test kit is on its way to you and should arrive on ${speakDays(4)}. https://tracking.example/4`,
  ])
  assert.doesNotMatch(JSON.stringify(await getOrder(team, order.id)), /expected_on|arrives_on/)
})

test("the patient's message contains no date if no date was entered", async () => {
  const order = await createAcceptedKit()
  await staffActionOk(team, order, 'tracking', outbound)
  await staffActionOk(team, order, 'scan', scan('outbound', 'picked_up'))
  assert.deepEqual(await onItsWay(team, order), [PLAIN])
})

test('the last entered delivery date counts, and a request without a date clears it', async () => {
  const order = await createAcceptedKit()
  const changes = [expected(4), expected(4), expected(6), inbound, outbound, outbound, expected(60)]
  const changed = []
  for (const body of changes) changed.push((await staffActionOk(team, order, 'tracking', body)).changed)
  assert.deepEqual(changed, [true, false, true, true, true, false, true])
  await staffActionOk(team, order, 'scan', scan('outbound', 'picked_up'))
  assert.deepEqual(await onItsWay(team, order), [PLAIN.replace('.', ` and should arrive on ${speakDays(60)}.`)])
})

test('after a delivery problem the message names a date only if it is entered again', async () => {
  const order = await createAcceptedKit()
  await staffActionOk(team, order, 'tracking', expected(4))
  for (const event of ['picked_up', 'exception', 'in_transit', 'exception'])
    await staffActionOk(team, order, 'scan', scan('outbound', event))
  await staffActionOk(team, order, 'tracking', expected(9))
  await staffActionOk(team, order, 'scan', scan('outbound', 'in_transit'))
  assert.deepEqual(await onItsWay(team, order), [
    PLAIN.replace('.', ` and should arrive on ${speakDays(4)}.`),
    PLAIN,
    PLAIN.replace('.', ` and should arrive on ${speakDays(9)}.`),
  ])
})

test("a message names no delivery date that is past on the team's clock", async () => {
  const sandbox = await createTestTeam()
  const order = await createAcceptedKit(sandbox)
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
  test(`a delivery date that ${sentence} is rejected and changes nothing`, async () => {
    const order = await createAcceptedKit()
    assert.equal((await staffAction(team, order, 'tracking', body)).status, status)
    const { details } = await getOrder(team, order.id)
    assert.equal(details.type === 'testkit' && (details.data.shipment?.outbound_tracking_number ?? null), null)
  })
