// Connections of users to health stores, through the SDK. A phone makes them by a call that the SDK does not have.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { assertRejected, type Customer } from '../client.ts'

export const connections = ({ sdk, user, passthrough, base_url, management_key }: Customer): void =>
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
      const refreshed = await sdk.user.refresh({ userId })
      // A phone sends by itself.
      assert.deepEqual([refreshed.success, refreshed.refreshedSources, refreshed.failedSources], [true, [], []])
      assert.deepEqual(await sdk.user.deregisterProvider({ userId, provider: 'apple_health_kit' }), { success: true })
      assert.deepEqual(await sdk.user.getConnectedProviders({ userId }), { providers: [] })
      await assertRejected(sdk.user.deregisterProvider({ userId, provider: 'apple_health_kit' }), 404)
    })

    test(
      'a cloud notifies of new data, signed with the secret of the application of the team',
      { skip: !management_key && 'there is no management key' },
      async () => {
        const { teamId } = await user()
        const { orgId } = await sdk.team.get({ teamId })
        const headers = { 'x-management-key': management_key!, 'content-type': 'application/json' }
        const path = `${base_url}/v1/org/${orgId}/team_custom_credentials/sandbox/us`
        const secret = 'fictional-secret'
        const application = { team_id: teamId, provider: 'oura', client_id: 'fictional', client_secret: secret }
        const set = await fetch(path, { method: 'POST', headers, body: JSON.stringify(application) })
        assert.equal(set.status, 200)
        const { id } = (await set.json()) as { id: string }
        const body = '{"event_type":"update","data_type":"sleep","object_id":"fictional","user_id":"nobody"}'
        const notify = async (key: string): Promise<number> => {
          const time = String(Math.floor(Date.now() / 1000))
          const signature = createHmac('sha256', key).update(`${time}${body}`).digest('hex').toUpperCase()
          const signed = { 'x-oura-timestamp': time, 'x-oura-signature': signature, 'content-type': 'application/json' }
          const address = `${base_url}/v2/link/webhook/sandbox-us/${teamId}/oura`
          return (await fetch(address, { method: 'POST', headers: signed, body })).status
        }
        assert.deepEqual([await notify(secret), await notify('another secret')], [200, 401])
        assert.equal((await fetch(`${path}?credential_id=${id}`, { method: 'DELETE', headers })).status, 200)
      },
    )
  })
