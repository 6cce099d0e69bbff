// Which time zone the documents and messages of an order use.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { address, createOrder, kit, orderBody, patient, shipping, tenantOf } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { collectionZone } from '../../lab/orders/collection-zone.ts'
import type { Order } from '../../lab/orders/schema.ts'
import { dayIn } from '../../platform/runtime/zoned-time.ts'
import { teamNow } from '../../platform/db/database.ts'
import { plusDays } from '../phlebotomy/local-time.ts'

const readZone = ({ db, tenant }: TestTeam, order: Order) => db.read(tenant, (tx) => collectionZone(tx, order))

test('the zone is the zone of the patient address if there is no appointment', async () => {
  const team = await createTestTeam()
  const order = await createOrder(team)
  const at = (changes: Partial<NonNullable<Order['patient_address']>>) =>
    readZone(team, { ...order, patient_address: { ...order.patient_address!, ...changes } })
  assert.equal(await at({}), 'America/Phoenix')
  assert.equal(await at({ city: 'Honolulu', state: 'HI', zip: '96813' }), 'Pacific/Honolulu')
  assert.equal(await at({ city: 'New York', state: 'NY', zip: '10001-1234' }), 'America/New_York')
  assert.equal(await at({ city: 'San Juan', state: 'PR', zip: '00901' }), 'America/Puerto_Rico')
})

test('the zone of a kit without a patient is that of the address it is sent to', async () => {
  const team = await createTestTeam()
  const order = await kit(team, { shipping_details: { ...shipping, city: 'Honolulu', state: 'HI', zip: '96813' } })
  assert.equal(order.patient_address, null)
  assert.equal(await readZone(team, order), 'Pacific/Honolulu')
})

test('without a location of the postal code, the zone is that of a country whose clocks agree', async () => {
  const team = await createTestTeam()
  const order = await createOrder(team)
  const inCountry = (country: string) =>
    readZone(team, { ...order, patient_address: { ...order.patient_address!, country, state: '', zip: 'XX99' } })
  assert.equal(await inCountry('Germany'), 'Europe/Berlin')
  assert.equal(await inCountry('Japan'), 'Asia/Tokyo')
  assert.equal(await inCountry('Australia'), 'Etc/UTC')
})

test("where the place is not known, the zone is the user's fallback, else UTC", async () => {
  const team = await createTestTeam()
  const order = await createOrder(team, { patient_address: { ...address, zip: '00000' } })
  assert.equal(await readZone(team, order), 'Etc/UTC')
  const { status } = await team.api.patch(`/v2/user/${order.user_id}`, { fallback_time_zone: 'America/Denver' })
  assert.equal(status, 204)
  assert.equal(await readZone(team, order), 'America/Denver')
  // The post of forces abroad is handed over elsewhere than where it is read.
  const military = { ...order.patient_address!, city: 'APO', state: 'AE', zip: '09012' }
  assert.equal(await readZone(team, { ...order, patient_address: military }), 'America/Denver')
  assert.equal(await readZone(team, { ...order, patient_address: null }), 'America/Denver')
})

test('the zone is that of the service center of an appointment before that of the address', async () => {
  const team = await createTestTeam()
  const newYork = { ...address, city: 'New York', state: 'NY', zip: '10001' }
  const order = await createOrder(team, { lab_test_id: await team.test('walk_in_test'), patient_address: newYork })
  assert.equal(await readZone(team, order), 'America/New_York')
  await team.api.post(`/v3/order/${order.id}/test?final_status=received.walk_in_test.requisition_created`)
  await team.settle()
  const { slots } = (await team.api.post('/v3/order/psc/appointment/availability?lab=quest&zip_code=85004')).body
  const { booking_key } = slots.find((day: { slots: unknown[] }) => day.slots.length).slots[0]
  const booked = await team.api.post(`/v3/order/${order.id}/psc/appointment/book`, { booking_key })
  assert.equal(booked.status, 200)
  assert.equal(await readZone(team, order), booked.body.iana_timezone)
})

test('a patient is an adult from the birthday on by the calendar of the address', async () => {
  const team = await createTestTeam()
  const tenant = await tenantOf(team)
  const now = teamNow(tenant)
  const ages = async (dob: string, patient_address: Record<string, unknown>) => {
    const user_id = await team.user()
    const body = await orderBody(team, { user_id, patient_details: { ...patient, dob }, patient_address })
    return (await team.api.post('/v3/order', body)).status
  }
  const honolulu = { ...address, city: 'Honolulu', state: 'HI', zip: '96813' }
  const there = dayIn(now, 'Pacific/Honolulu')
  const eighteenYearsBefore = (day: string) => `${Number(day.slice(0, 4)) - 18}${day.slice(4)}`
  assert.equal(await ages(eighteenYearsBefore(there).replace('02-29', '02-28'), honolulu), 200)
  assert.equal(await ages(eighteenYearsBefore(plusDays(there, 1)).replace('02-29', '03-01'), honolulu), 400)
})
