// Patient addresses in each region. Source: lab-testing.md 5.2.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { orderBody, patient, createOrder, proxy, shipping } from '../../../test/support/orders.ts'
import { createTestTeam } from '../../../test/support/server.ts'

const addressIn = (country: string, zip: string, state?: string) => ({
  first_line: '1 Sample Way',
  city: 'Sampleton',
  zip,
  country,
  ...(state && { state }),
})
const sound: [ReturnType<typeof addressIn>, zip: string, state: string][] = [
  [addressIn('GB', 'SW1A 1AA'), 'SW1A 1AA', ''],
  [addressIn('GB', 'sw1a 1aa', 'England'), 'SW1A 1AA', 'England'],
  [addressIn('NL', '1012 AB'), '1012 AB', ''],
  [addressIn('CA', 'K1A 0B1', 'ON'), 'K1A 0B1', 'ON'],
  [addressIn('DE', '10115'), '10115', ''],
  [addressIn('US', '85004-1234', 'arizona'), '85004-1234', 'AZ'],
]
const faulty: [ReturnType<typeof addressIn>, string][] = [
  [addressIn('GB', '85004'), 'zip'],
  [addressIn('NL', '0012 AB'), 'zip'],
  [addressIn('CA', 'K1A 0B1'), 'state'],
  [addressIn('US', 'SW1A 1AA', 'AZ'), 'zip'],
  [addressIn('US', '85004'), 'state'],
  [addressIn('US', '85004', 'England'), 'state'],
]

describe('addresses', () => {
  test('a patient address in the EU requires the postal code format of its country, and a state only in countries with states', async () => {
    const team = await createTestTeam('sandbox-eu')
    for (const [patient_address, zip, state] of sound) {
      const order = await createOrder(team, { patient_address })
      assert.deepEqual([order.patient_address?.zip, order.patient_address?.state], [zip, state])
    }
    for (const [patient_address, field] of faulty) {
      const { status, body } = await team.api.post('/v3/order', await orderBody(team, { patient_address }))
      assert.equal(status, 422, JSON.stringify(patient_address))
      assert.deepEqual(
        body.detail.map(({ loc }: { loc: string[] }) => loc.join('.')),
        [`body.patient_address.${field}`],
      )
    }
  })

  test('a kit address in the EU follows the same rules', async () => {
    const team = await createTestTeam('sandbox-eu')
    const { state: _, ...rest } = shipping
    const body = { user_id: await team.user(), lab_test_id: await team.test() }
    const shipping_details = { ...rest, zip: '1012 AB', country: 'NL' }
    const reply = await team.api.post('/v3/order/testkit', { ...body, shipping_details })
    assert.deepEqual([reply.status, reply.body.order?.shipping_details.state], [200, ''])
  })

  test('addresses of imported orders and of medical proxies in the EU need no state either', async () => {
    const team = await createTestTeam('sandbox-eu')
    const place = addressIn('GB', 'SW1A 1AA')
    const medical_proxy = { ...proxy, address: place }
    const order = await createOrder(team, { patient_address: place, patient_details: { ...patient, medical_proxy } })
    assert.equal(order.patient_details?.medical_proxy?.address.state, '')
    const { status, body } = await team.api.post('/v3/order/import', {
      user_id: order.user_id,
      billing_type: 'client_bill',
      order_set: { lab_test_ids: [await team.test('walk_in_test')] },
      collection_method: 'walk_in_test',
      patient_details: patient,
      patient_address: { ...place, receiver_name: 'Testa' },
      sample_id: 'FICTIONAL-0005',
    })
    assert.deepEqual([status, body.order?.patient_address.state], [200, ''])
  })

  test('an address in the US requires a ZIP code and a state', async () => {
    const team = await createTestTeam()
    for (const patient_address of [addressIn('GB', 'SW1A 1AA', 'England'), addressIn('GB', '85004')])
      assert.equal((await team.api.post('/v3/order', await orderBody(team, { patient_address }))).status, 422)
    assert.equal((await createOrder(team, { patient_address: addressIn('US', '85004', 'AZ') })).patient_address?.zip, '85004')
  })
})
