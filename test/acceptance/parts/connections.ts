// Connections of users to health stores, through the SDK. A phone makes them by a call that the SDK does not have.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertRejected, type Customer } from '../client.ts'

export const connections = ({ sdk, user, passthrough }: Customer): void =>
  void describe('connections of users', () => {
    test('lists the providers that users can be connected to', async () => {
      const providers = await sdk.providers.getAll()
      const apple = providers.find(({ slug }) => slug === 'apple_health_kit')
      assert.equal(apple?.authType, 'sdk')
      assert(apple?.supportedResources?.includes('sleep'))
      assert.deepEqual(
        (await sdk.providers.getAll({ sourceType: 'sdk' })).map(({ slug }) => slug),
        ['apple_health_kit', 'health_connect', 'samsung_health'],
      )
    })

    test('a phone connects a user; the connection is listed, shown with the user, counted and ended', async () => {
      const { userId } = await user()
      const { body } = await passthrough('/v2/link/provider/manual/apple_health_kit', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ user_id: userId }),
      })
      assert.deepEqual(body, { success: true })
      const { providers } = await sdk.user.getConnectedProviders({ userId })
      assert.deepEqual(
        providers?.map(({ slug, status }) => [slug, status]),
        [['apple_health_kit', 'connected']],
      )
      assert.equal(providers?.[0]?.resourceAvailability.sleep?.status, 'available')
      assert.equal((await sdk.user.get({ userId })).connectedSources[0]?.provider.slug, 'apple_health_kit')
      assert.equal((await sdk.user.getTeamMetrics()).numberOfConnectedSources, 1)
      assert.deepEqual(await sdk.user.deregisterProvider({ userId, provider: 'apple_health_kit' }), { success: true })
      assert.deepEqual(await sdk.user.getConnectedProviders({ userId }), { providers: [] })
      await assertRejected(sdk.user.deregisterProvider({ userId, provider: 'apple_health_kit' }), 404)
    })
  })
