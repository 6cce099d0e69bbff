// Orders at laboratories without an integration.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createTestWith } from '../../../test/support/fulfillment.ts'
import { address, kit, orderBody, getOrder, patient, createOrder, shipping } from '../../../test/support/orders.ts'
import { createTestTeam, settings, type TestTeam } from '../../../test/support/server.ts'

const refusal = (lab: string) => ({
  detail: `This installation has no integration with ${lab}. Available laboratories: manual`,
})
const USSL = refusal('Lantern Bay ussl (ussl)')
const QUEST = refusal('Lantern Bay quest (quest)')

describe('a production order at a laboratory without an integration', () => {
  const take = (isEnabled: boolean) => void (settings.orders_without_integration = isEnabled)
  before(() => take(false))
  after(() => take(true))

  const askedFor = async (team: TestTeam, path: string, changes: Record<string, unknown>) => {
    const { status, body } = await team.api.post(path, await orderBody(team, changes))
    return [status, body]
  }

  test('a production order at a laboratory without an integration is rejected on every path with the names of available laboratories, and writes nothing', async () => {
    const team = await createTestTeam('production-us')
    const walkIn = await team.test('walk_in_test')
    assert.deepEqual(await askedFor(team, '/v3/order', {}), [400, USSL])
    assert.deepEqual(await askedFor(team, '/v3/order/create', { order_set: { lab_test_ids: [walkIn] } }), [400, QUEST])
    assert.deepEqual(await askedFor(team, '/v3/order', { activate_by: '2100-01-31' }), [400, USSL])
    const body = { user_id: await team.user(), lab_test_id: await team.test(), shipping_details: shipping }
    const refused = await team.api.post('/v3/order/testkit', body)
    assert.deepEqual([refused.status, refused.body], [400, USSL])
    assert.deepEqual([await team.events(), await team.jobs()], [[], []])
  })

  test('an order without an integration is accepted under manual fulfillment, or as an import', async () => {
    const team = await createTestTeam('production-us')
    const order = await createOrder(team, { lab_test_id: await createTestWith(team, 'walk_in_test') })
    await kit(team, { lab_test_id: await createTestWith(team, 'testkit') })
    await team.settle()
    assert.equal((await getOrder(team, order.id)).last_event.status_detail, null)
    const { status, body } = await team.api.post('/v3/order/import', {
      user_id: await team.user(),
      billing_type: 'client_bill',
      order_set: { lab_test_ids: [await team.test('walk_in_test')] },
      collection_method: 'walk_in_test',
      patient_details: patient,
      patient_address: { ...address, receiver_name: 'Testa' },
      sample_id: 'FICTIONAL-0004',
    })
    assert.equal(status, 200, JSON.stringify(body))
  })

  test('an order without an integration is accepted in the sandbox, and in production if the operator allows it', async () => {
    assert.equal((await createOrder(await createTestTeam())).lab_test.lab!.slug, 'ussl')
    take(true)
    const team = await createTestTeam('production-us')
    const { id } = await createOrder(team)
    await team.settle()
    assert.equal((await getOrder(team, id)).last_event.status_detail, 'fulfillment_error')
  })
})
