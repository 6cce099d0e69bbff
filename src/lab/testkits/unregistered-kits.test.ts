// Kits without a patient: where they may go before they are registered.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { updateOrder } from '../orders/change-order.ts'
import { kit, getOrder, registration, tenantOf } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { moveKit } from './shipments.ts'

const register = ({ api }: TestTeam, sample_id: string | null, changes: Record<string, unknown> = {}) =>
  api.post('/v3/order/testkit/register', registration(sample_id, changes))

describe('kits without a patient', () => {
  const move = async (team: TestTeam, id: string, target: string) =>
    team.db.tx(await tenantOf(team), (tx) => updateOrder(tx, id, (lockedOrder) => moveKit(lockedOrder, target)))

  test('an unregistered kit can be delivered to its customer but not sent to the laboratory', async () => {
    const team = await createTestTeam()
    const { id, sample_id } = await kit(team)
    for (const to of ['transit_customer', 'out_for_delivery', 'with_customer']) await move(team, id, to)
    for (const to of ['transit_lab', 'delivered_to_lab'])
      await assert.rejects(move(team, id, to), {
        status: 400,
        body: { detail: `Transition from with_customer to ${to} is not allowed before registration` },
      })
    assert.equal((await getOrder(team, id)).last_event.status, 'collecting_sample.testkit.with_customer')
    await register(team, sample_id)
    await move(team, id, 'transit_lab')
    await move(team, id, 'delivered_to_lab')
    assert.equal((await getOrder(team, id)).last_event.status, 'sample_with_lab.testkit.delivered_to_lab')
  })

  test('a kit registered during transit is delivered to its customer and then to the laboratory', async () => {
    const team = await createTestTeam()
    const { id, sample_id } = await kit(team)
    await move(team, id, 'transit_customer')
    await register(team, sample_id)
    for (const to of ['out_for_delivery', 'with_customer', 'transit_lab', 'delivered_to_lab']) await move(team, id, to)
    assert.deepEqual(
      (await getOrder(team, id)).events.map((event) => event.status.split('.')[2]),
      [
        'ordered',
        'awaiting_registration',
        'transit_customer',
        'requisition_created',
        'testkit_registered',
        'out_for_delivery',
        'with_customer',
        'transit_lab',
        'delivered_to_lab',
      ],
    )
  })

  test('an unregistered kit rejects transitions outside its lifecycle', async () => {
    const team = await createTestTeam()
    const { id } = await kit(team)
    await assert.rejects(move(team, id, 'out_for_delivery'), {
      status: 400,
      body: { detail: 'Transition from awaiting_registration to out_for_delivery is not allowed' },
    })
  })
})
