// A backend makes link tokens and link codes, through the SDK; a page and an app use them without a key.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { assertRejected, UNKNOWN_ID, type Customer } from '../client.ts'

export const link = ({ sdk, user, passthrough, base_url, management_key }: Customer): void =>
  void describe('links', () => {
    const ask = async (method: string, path: string, init: RequestInit = {}) => {
      const response = await fetch(base_url + path, { method, ...init })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    }
    const asJson = { 'content-type': 'application/json' }

    test('a link token is made for a user, and serves the older steps', async () => {
      const { userId } = await user()
      const { linkToken, linkWebUrl } = await sdk.link.token({ userId, redirectUrl: 'https://clinic.example/linked' })
      assert.equal(new URL(linkWebUrl).searchParams.get('token'), linkToken)
      const headers = { 'x-vital-link-token': linkToken }
      assert.equal((await ask('GET', '/v2/team/link/config', { headers })).body.user_id, userId)
      const valid = { headers: asJson, body: JSON.stringify({ token: linkToken }) }
      assert.deepEqual((await ask('POST', '/v2/link/token/isValid', valid)).body, { is_valid: true, error_type: null })
      const start = { headers: asJson, body: JSON.stringify({ link_token: linkToken, provider: 'oura' }) }
      assert.equal((await ask('POST', '/v2/link/start', start)).status, 200)
      assert.equal((await ask('GET', '/v2/link/state', { headers })).body.state, 'started')
      const auth = (path: string, body: unknown) =>
        ask('POST', path, { headers: { ...headers, ...asJson }, body: JSON.stringify(body) })
      const password = { username: 'testa', password: 'fictional', provider: 'peloton' }
      assert.equal((await auth('/v2/link/auth', password)).body.error_type, 'token_not_validated')
      const email = { email: 'testa@example.com', provider: 'freestyle_libre' }
      assert.equal((await auth('/v2/link/auth/email', email)).body.error_type, 'token_not_validated')
      await assertRejected(sdk.link.token({ userId: UNKNOWN_ID }), 400)
    })

    test('a user of a sandbox is connected to a demo provider, whose data is made up', async () => {
      const { userId } = await user()
      const { success, detail } = await sdk.link.connectDemoProvider({ userId, provider: 'freestyle_libre' })
      assert.deepEqual([success, detail], [true, `Connected user ${userId} to provider freestyle_libre`])
      const { providers } = await sdk.user.getConnectedProviders({ userId })
      assert.equal(providers![0]!.slug, 'freestyle_libre')
      await assertRejected(sdk.link.connectDemoProvider({ userId: UNKNOWN_ID, provider: 'fitbit' }), 404)
    })

    test('a demo connection records a sample on request, and ends in an error on request', async () => {
      const { userId: user_id } = await user()
      await sdk.link.connectDemoProvider({ userId: user_id, provider: 'fitbit' })
      const post = (path: string, body: object) =>
        passthrough(path, { method: 'POST', headers: asJson, body: JSON.stringify(body) })
      const sample = { user_id, provider: 'fitbit', resource: 'stress_level', value: 41 }
      // 409 until the history of the connection is there.
      await eventually(async () => (await post('/v1/sandbox/demo/sample', sample)).status === 200, 'the sample is recorded')
      const failure = { user_id, provider: 'fitbit', error_type: 'deregistered_per_provider' }
      assert.equal((await post('/v1/sandbox/demo/error', failure)).status, 200)
      const { providers } = await sdk.user.getConnectedProviders({ userId: user_id })
      assert.equal(providers![0]!.status, 'error')
    })

    test('a page lists the providers of a link token, and a password is refused without a failure', async () => {
      const { userId } = await user()
      const { linkToken: vitalLinkToken } = await sdk.link.token({ userId })
      assert(Array.isArray(await sdk.link.getAllProviders({ vitalLinkToken })))
      const credentials = { vitalLinkToken, username: 'testa', password: 'fictional' }
      const refused = await sdk.link.connectPasswordProvider({ provider: 'peloton', ...credentials })
      assert.deepEqual([refused.state, refused.errorType, refused.connected], ['error', 'provider_api_error', false])
      const mfa = await sdk.link.completePasswordProviderMfa({ provider: 'peloton', vitalLinkToken, mfaCode: '000000' })
      assert.equal(mfa.state, 'error')
      const email = await sdk.link.connectEmailAuthProvider({
        provider: 'freestyle_libre',
        vitalLinkToken,
        email: 'testa@example.com',
        region: 'gb',
      })
      assert.equal((email as { state: string }).state, 'error')
      await assertRejected(sdk.link.getAllProviders({ vitalLinkToken: 'x' }), 401)
    })

    /** Gives the team of a user an application of a provider while a check runs. */
    const withApplication = async (provider: string, check: (userId: string) => Promise<void>): Promise<void> => {
      const { userId, teamId } = await user()
      const { orgId } = await sdk.team.get({ teamId })
      const headers = { 'x-management-key': management_key!, ...asJson }
      const path = `/v1/org/${orgId}/team_custom_credentials/sandbox/us`
      const application = { team_id: teamId, provider, client_id: 'fictional', client_secret: 'fictional' }
      const { status, body } = await ask('POST', path, { headers, body: JSON.stringify(application) })
      assert.equal(status, 200, JSON.stringify(body))
      await check(userId)
      assert.equal((await ask('DELETE', `${path}?credential_id=${String(body.id)}`, { headers })).status, 200)
    }

    test(
      'a page gets the address at which the user agrees, for a provider that the team has set up',
      { skip: !management_key && 'there is no management key' },
      () =>
        withApplication('strava', async (userId) => {
          const { linkToken: vitalLinkToken } = await sdk.link.token({ userId })
          const source = await sdk.link.generateOauthLink({ oauthProvider: 'strava', vitalLinkToken })
          assert.equal(source.slug, 'strava')
          assert.equal(new URL(source.oauthUrl!).searchParams.get('client_id'), 'fictional')
          assert.deepEqual(
            (await sdk.link.getAllProviders({ vitalLinkToken })).map(({ slug }) => slug),
            ['strava'],
          )
          await assertRejected(sdk.link.generateOauthLink({ oauthProvider: 'garmin', vitalLinkToken }), 400)
        }),
    )

    test(
      'users who have agreed elsewhere are imported, asked for their histories, exported and paused',
      { skip: !management_key && 'there is no management key' },
      () =>
        withApplication('dexcom_v3', async (userId) => {
          const connection = {
            userId,
            accessToken: 'fictional-access',
            refreshToken: 'fictional-refresh',
            providerId: `fictional-${userId}`,
            expiresAt: 4_102_444_800,
          }
          const imported = await sdk.link.bulkImport({
            provider: 'dexcom_v3',
            connections: [connection],
            waitForCompletion: true,
          })
          assert.deepEqual(imported, { userIdsImported: [userId], userIdsFailed: [] })
          const { data } = await sdk.link.listBulkOps({ pageSize: 1 })
          assert.deepEqual([data[0]!.type, data[0]!.status, data[0]!.pending], ['link_bulk_import', 'success', 0])
          const exported = await sdk.link.bulkExport({ provider: 'dexcom_v3', userIds: [userId] })
          assert.deepEqual([exported.data[0]!.accessToken, exported.nextToken], ['fictional-access', null])
          const paused = await sdk.link.bulkPause({ provider: 'dexcom_v3', userIds: [userId] })
          assert.deepEqual((paused as { user_ids_paused: string[] }).user_ids_paused, [userId])
          await sdk.link.bulkTriggerHistoricalPull({ provider: 'dexcom_v3', userIds: [userId] })
          const { providers } = await sdk.user.getConnectedProviders({ userId })
          assert.equal(providers![0]!.status, 'paused')
        }),
    )

    test('a link code signs a user in on a phone, once', async () => {
      const { userId } = await user()
      const { code, exchangeUrl, expiresAt } = await sdk.link.codeCreate({ userId })
      assert(exchangeUrl.endsWith(code) && new Date(expiresAt) > new Date())
      const path = `/v2/link/code/exchange?code=${code}&grant_type=sign_in_token`
      assert.equal((await ask('POST', path)).body.user_id, userId)
      assert.equal((await ask('POST', path)).status, 401)
    })
  })
