// Orders with on-site collection, for teams without that feature. Source: lab-testing.md 0, 20.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { switchFeature } from '../../tenancy/teams/teams.ts'
import { address, orderBody, createOrder } from '../../../test/support/orders.ts'
import { createTestTeam, guard, type TestTeam } from '../../../test/support/server.ts'

const METHOD = 'on_site_collection'

async function switchedOff(): Promise<TestTeam> {
  const team = await createTestTeam()
  await team.db.plainTx((tx) => switchFeature(tx, team.team, METHOD, false))
  guard.invalidate(team.team)
  return team
}

const ways: Record<string, (team: TestTeam) => Promise<[path: string, changes: Record<string, unknown>]>> = {
  'by lab_test_id': async (team) => ['/v3/order', { lab_test_id: await team.test(METHOD) }],
  'on the path that orders once': async (team) => ['/v3/order/create', { lab_test_id: await team.test(METHOD) }],
  'of a test that is collected otherwise': async (team) => [
    '/v3/order',
    { order_set: { lab_test_ids: [await team.test('walk_in_test')] }, collection_method: METHOD },
  ],
  'of a set with single markers': async (team) => {
    const { markers } = (await team.api.get('/v3/lab_tests/markers?lab_slug=quest&a_la_carte_enabled=true&size=1')).body
    return ['/v3/order', { order_set: { add_on: { marker_ids: [markers[0].id] } }, collection_method: METHOD }]
  },
  'that was placed elsewhere': async (team) => [
    '/v3/order/import',
    {
      order_set: { lab_test_ids: [await team.test(METHOD)] },
      collection_method: METHOD,
      billing_type: 'client_bill',
      sample_id: 'FICTIONAL-0003',
      patient_address: { ...address, receiver_name: 'Testa' },
    },
  ],
}

describe('teams without on_site_collection', () => {
  for (const [way, ask] of Object.entries(ways))
    test(`without on_site_collection the server rejects an order ${way}`, async () => {
      const team = await switchedOff()
      const [path, changes] = await ask(team)
      const body = await orderBody(team, changes)
      const refused = await team.api.post(path, body)
      assert.deepEqual([refused.status, refused.body], [403, { detail: 'This feature is not enabled for this team' }])
      assert.deepEqual([await team.events(), (await team.api.get('/v3/orders')).body.total], [[], 0])
      await team.db.plainTx((tx) => switchFeature(tx, team.team, METHOD, true))
      guard.invalidate(team.team)
      assert.equal((await team.api.post(path, body)).status, 200)
    })

  test('without on_site_collection the server accepts orders by other collection methods', async () => {
    const team = await switchedOff()
    for (const method of ['testkit', 'walk_in_test', 'at_home_phlebotomy'])
      await createOrder(team, { lab_test_id: await team.test(method) })
  })
})
