// The Management API: the SDK has no methods for it, so that it is spoken to plainly; what it gives is used with the SDK.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { JunctionClient } from '@junction-api/sdk'
import { assertRejected, type Customer } from '../client.ts'
import type { Server } from '../server.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- a test looks into answers of every shape
type Answer = { status: number; body: any }

export function management(server: Server, { sdk, user, order, leave }: Customer): void {
  describe('management', { skip: !server.management_key && 'there is no management key' }, () => {
    let [org, teamId] = ['', '']
    const manage = async (method: string, path: string, body?: unknown, key = server.management_key!): Promise<Answer> => {
      const response = await fetch(`${server.base_url}/v1/org/${org}${path}`, {
        method,
        headers: { 'x-management-key': key, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: await response.json() }
    }
    const done = async (...args: Parameters<typeof manage>): Promise<Answer['body']> => {
      const { status, body } = await manage(...args)
      assert.equal(status, 200, JSON.stringify(body))
      return body
    }
    const clientOf = (apiKey: string) => new JunctionClient({ apiKey, environment: server.base_url })

    test('a team reads itself, its physicians and its priorities', async () => {
      teamId = (await user()).teamId
      await leave()
      const team = await sdk.team.get({ teamId })
      org = team.orgId
      assert.deepEqual([team.id, team.apiKey], [teamId, null])
      assert.deepEqual(await sdk.team.getPhysicians({ teamId }), [])
      assert.deepEqual(await sdk.team.updateSourcePriorities(), await sdk.team.getSourcePriorities())
      await assertRejected(sdk.team.get({ teamId: randomUUID() }), 404)
    })

    test('a team gets the URL where its webhooks are managed, and the page is there', async () => {
      const { url } = (await sdk.team.getSvixUrl()) as { url: string }
      assert(url.startsWith(server.base_url), url)
      assert.match(await (await fetch(url)).text(), /<script src="[^"]*api-reference\.js" defer>/)
    })

    test('staff of the laboratory accept an order of a patient with Medicare, whose notice is then a document', async () => {
      const { id: labTestId } = await sdk.labTests.create({
        name: 'Fictional Check',
        method: 'walk_in_test',
        description: 'By hand.',
        labSlug: 'manual',
        providerIds: ['MAN-A1C'],
      })
      await done('POST', `/lab_test/sandbox/us/${labTestId}/approve`)
      const healthInsurance = {
        payorCode: 'MEDICARE-AZ',
        insuranceId: 'FICTIONAL-2',
        responsibleRelationship: 'Self' as const,
        diagnosisCodes: ['E11.9'],
      }
      const { id: orderId, hasAbn } = await order({ labTestId, healthInsurance })
      assert.equal(hasAbn, false)
      await assertRejected(sdk.labTests.getOrderAbnPdf({ orderId }), 404)
      await done('POST', `/team/${teamId}/sandbox/fulfillment/${orderId}/accept`, { sample_id: 'FICTIONAL-ABN', has_abn: true })
      assert.equal((await sdk.labTests.getOrder({ orderId })).hasAbn, true)
      const notice = Buffer.from(await (await sdk.labTests.getOrderAbnPdf({ orderId })).arrayBuffer())
      assert.equal(notice.subarray(0, 5).toString(), '%PDF-')
      await leave()
    })

    test('a continuous query is created, and its result and its evaluations are read', async () => {
      const query = {
        select: [{ group_key: '*' }, { func: 'mean', arg: { timeseries: 'heartrate', field: 'value' } }],
        group_by: [{ date_trunc: { unit: 'day' }, arg: { index: 'timeseries' } }],
      }
      const body = { slug: `daily-${randomUUID()}`, title: 'Heart rate by the day', query }
      const { id, slug } = await done('POST', `/team/${teamId}/sandbox/continuous_query`, body)
      const { userId } = await user()
      const { table } = await sdk.aggregate.getResultTableForContinuousQuery({ userId, queryIdOrSlug: slug })
      assert.deepEqual(table, { 'group_key.0': [], 'mean.value': [] })
      const history = await sdk.aggregate.getTaskHistoryForContinuousQuery({ userId, queryIdOrSlug: id, limit: 10 })
      assert.deepEqual(history, { data: [], nextCursor: null })
      await done('DELETE', `/team/${teamId}/sandbox/continuous_query/${id}`)
      await leave()
    })

    test('the organization is read and renamed', async () => {
      const { name } = await done('GET', '')
      assert.equal((await done('PATCH', '', { name })).name, name)
    })

    test('a team is made, used with a key and with tokens, changed and deleted', async () => {
      const reference = randomUUID()
      const made = await done('POST', '/team', { name: 'Acceptance', region: 'us', integration_team_id: reference })
      const path = `/team/${made.id}`
      assert.equal(
        (await manage('POST', '/team', { name: 'x', region: 'us', integration_team_id: reference })).body.team_id,
        made.id,
      )
      assert.deepEqual(await done('POST', '/resolve_team', { integration_team_id: reference }), made)
      assert.equal((await done('PATCH', path, { name: 'Changed' })).name, 'Changed')
      assert.equal((await done('GET', path)).name, 'Changed')
      assert((await done('GET', `/team?search_query=${made.id}`)).teams.length === 1)

      const keys = '/team_api_keys/sandbox/us'
      const key = await done('POST', keys, { label: 'acceptance', team_id: made.id })
      assert.equal((await clientOf(key.value).labTests.get()).length, 4)
      assert(!(await done('GET', keys)).api_keys.some(({ value }: { value: string }) => value === key.value))
      for (const mint of ['create_api_access_token', 'create_access_token']) {
        const { access_token, expires_in } = await done('POST', `${path}/${mint}`, { env: 'sandbox' })
        assert.equal(expires_in, 600)
        const headers = { authorization: `Bearer ${access_token}` }
        assert.equal((await fetch(`${server.base_url}/v2/user`, { headers })).status, 200)
      }
      assert.deepEqual((await done('DELETE', `${keys}?api_key_id=${key.id}`)).success, [key.id])
      await assertRejected(clientOf(key.value).user.getAll(), 401)
      assert.deepEqual(await done('DELETE', path), {})
      assert.equal((await manage('GET', path)).status, 404)
    })

    test('a key is bound to a team, and what it does is recorded', async () => {
      const made = await done('POST', '/management_key', {
        label: 'bound',
        role: 'team_admin',
        team_role_bindings: [{ team_id: teamId }],
      })
      assert.equal((await manage('GET', '/team', undefined, made.key)).body.teams.length, 1)
      assert.equal((await manage('GET', '', undefined, made.key)).status, 403)
      assert.equal((await done('PATCH', `/management_key/${made.id}`, { label: 'changed' })).label, 'changed')
      assert.equal((await done('GET', `/management_key?team_id=${teamId}`)).data[0].id, made.id)
      assert.equal((await done('DELETE', `/management_key/${made.id}`)).id, made.id)
      assert.equal((await done('GET', '/audit?limit=1')).data[0].operation, 'remove_management_key')
      assert(Array.isArray((await done('GET', `/team/${teamId}/sandbox/audit`)).data))
    })

    test('lab accounts of the organization are listed, and linked by those who have one', async () => {
      const path = '/lab_account/sandbox/us'
      const { data } = await done('GET', path)
      assert(Array.isArray(data))
      assert.equal((await manage('PATCH', `${path}/${randomUUID()}`, { team_id_allowlist: [teamId] })).status, 404)
      assert(Array.isArray((await done('GET', '/audit/sandbox/us')).data))
    })

    test('an EHR pipeline is made, shown without its secret, and deleted', async () => {
      const path = '/team_ehr_pipelines/sandbox/us'
      const pipeline = { ehr_type: 'fhir', base_url: 'https://ehr.example.com/fhir', allowed_mappers: null }
      const authentication = { type: 'api_key', api_key: 'an-invented-key' }
      const [made] = await done('POST', path, { team_ids: [teamId], ...pipeline, authentication })
      const shown = { team_id: teamId, type: 'native', ...pipeline, authentication: { type: 'api_key', api_key: '********' } }
      assert.deepEqual(made, shown)
      assert.deepEqual(await done('GET', `${path}?team_id=${teamId}`), { data: [shown], next_token: null })
      assert.deepEqual(await done('DELETE', `${path}?ehr_type=fhir&team_id=${teamId}`), {})
    })

    test('a domain is registered, looked for in vain, explained by email and deleted', async () => {
      const name = `${randomUUID()}.example.com`
      const made = await manage('POST', '/domain', { domain: name.toUpperCase() })
      assert.deepEqual([made.status, made.body.domain, made.body.is_verified], [201, name, false])
      const path = `/domain/${made.body.id}`
      assert.equal((await manage('POST', '/domain', { domain: name })).status, 409)
      assert.deepEqual(await done('GET', path), made.body)
      assert((await done('GET', '/domain')).data.some(({ id }: { id: string }) => id === made.body.id))
      assert.deepEqual(await done('POST', `${path}/verify`), { status: 'pending' })
      const sent = await done('POST', `${path}/send_domain_instructions`, { to_email: 'testa@example.com' })
      assert.deepEqual(sent, { sent: true, sendgrid_message_id: null })
      assert.deepEqual(await done('DELETE', path), {})
      assert.equal((await manage('GET', path)).status, 404)
    })

    test('the dashboard is opened once by a launch URL, until its member is removed', async () => {
      const integration = '/ehr_integration'
      const configuration = {
        slug: `acceptance-${randomUUID()}`,
        modalities: ['link_out'],
        origin_configs: [{ origin: 'https://app.example.com', session_continuation_url: null }],
      }
      assert.deepEqual(await done('PUT', `${integration}/configuration`, configuration), configuration)
      assert.deepEqual(await done('GET', `${integration}/configuration`), configuration)
      const reference = randomUUID()
      const profile = { integration_member_id: reference, name: 'Testa Fictional', email: 'testa@example.com' }
      const member = await done('POST', `${integration}/member`, profile)
      const path = `${integration}/member/${member.id}`
      assert.equal((await manage('POST', `${integration}/member`, profile)).body.member_id, member.id)
      assert.deepEqual(await done('POST', `${integration}/resolve_member`, { integration_member_id: reference }), member)
      assert.equal((await done('PATCH', path, { name: 'Testa Changed' })).name, 'Testa Changed')
      assert.equal((await done('GET', path)).name, 'Testa Changed')
      assert.equal((await done('GET', `${integration}/member`)).data[0].id, member.id)

      const wanted = { feature: 'team_panels', modality: 'link_out', environment: 'sandbox' }
      const { url, expires_in } = await done('POST', `${integration}/create_dashboard_url`, {
        ...wanted,
        integration_member_id: reference,
        team_id: teamId,
      })
      assert.equal(expires_in, 300)
      const launched = await fetch(url, { redirect: 'manual' })
      assert.equal(launched.status, 303)
      assert.equal((await fetch(url, { redirect: 'manual' })).status, 410)
      const cookie = launched.headers.get('set-cookie')!.split(';')[0]!
      const session = () => fetch(new URL(launched.headers.get('location')!, url), { headers: { cookie } })
      assert.match(await (await session()).text(), /Drawbridge/)
      assert.deepEqual(await done('DELETE', path), {})
      assert.equal((await session()).status, 401)
    })

    test('a team brings credentials, and says what it wants of providers', async () => {
      const here = '/team_custom_credentials/sandbox/us'
      const body = { team_id: teamId, provider: 'polar', client_secret: 'fictional', details: { webhook_secret: 'fictional' } }
      const { preparation_steps: steps } = await done('POST', `/prepare${here.replace('/', '_')}`, {
        team_id: teamId,
        provider: 'polar',
      })
      assert(steps.every(({ value }: { value: string }) => value.includes('/v2/link/')))
      const made = await done('POST', here, body)
      assert(!JSON.stringify(made).includes('fictional'))
      assert.deepEqual((await done('GET', `${here}?team_id=${teamId}&provider=polar`)).credentials, [made])
      assert.deepEqual((await done('DELETE', `${here}?credential_id=${made.id}`)).success, [made.id])

      const pulls = '/team_data_pull_preferences/sandbox/us'
      const oura = { default: { historical_days_to_pull: 60 } }
      await done('POST', pulls, { team_ids: [teamId], providers: { oura } })
      const daysOf = async () =>
        (await done('GET', `${pulls}?team_id=${teamId}&provider=oura`)).data_pull_preferences[0].providers.oura
      assert.equal((await daysOf()).default.historical_days_to_pull, 60)
      await done('DELETE', `${pulls}?team_id=${teamId}&provider=oura`)
      assert.equal((await daysOf()).default.historical_days_to_pull, 180)

      const scopes = `/team/${teamId}/scope_requirements`
      await done('POST', scopes, { oura: { user_must_grant: ['daily'], user_may_grant: [] } })
      assert.deepEqual((await done('GET', `${scopes}?provider=oura`)).requirements[0].user_must_grant, ['daily'])
      await done('POST', scopes, { oura: null })
    })

    test('a continuous query is validated, kept, changed and archived', async () => {
      const path = `/team/${teamId}/sandbox/continuous_query`
      const query = {
        select: [{ group_key: '*' }, { func: 'mean', arg: { sleep: 'efficiency' } }],
        group_by: [{ date_trunc: { unit: 'week' }, arg: { index: 'sleep' } }],
      }
      const body = { slug: `acceptance-${randomUUID()}`, title: 'Acceptance', query }
      const { result_table_schema } = await done('POST', path.replace('continuous', 'validate_continuous'), body)
      assert.deepEqual(result_table_schema, { 'group_key.0': 'string', 'mean.efficiency': 'double' })
      const { id } = await done('POST', path, body)
      assert.equal((await manage('POST', path, body)).status, 409)
      assert.equal((await done('PATCH', `${path}/${id}`, { title: 'Changed' })).title, 'Changed')
      assert.deepEqual(await done('DELETE', `${path}/${id}`), {})
      assert.equal((await done('GET', path)).data.find((query: { id: string }) => query.id === id).status, 'archived')
    })

    test('the events of a team are sent to a broker, until that is ended', async () => {
      const path = '/team_etl_pipelines/sandbox/us'
      const { id } = await done('POST', '/team', { name: 'Acceptance', region: 'us' })
      const [made] = await done('POST', path, {
        team_ids: [id],
        preferences: { preferred: 'rabbitmq', enabled: ['rabbitmq', 'svix'] },
        rabbitmq: { uri: 'amqps://events:fictional@broker.example.com', exchange: 'events' },
      })
      assert.equal(made.rabbitmq.uri, 'amqps://events:***@broker.example.com')
      assert.deepEqual((await done('GET', `${path}?team_id=${id}`)).pipelines, [made])
      assert.deepEqual(await done('DELETE', `${path}?team_id=${id}`), [made])
      assert.deepEqual(await done('DELETE', `/team/${id}`), {})
    })

    test('a person is invited, and the invite is revoked', async () => {
      const email = `testa-${randomUUID()}@example.com`
      assert.deepEqual(await done('POST', '/invite', { email, role: 'no_role' }), { status: 'invite_created' })
      const [invite] = (await done('GET', `/invite?search_query=${email}`)).invites
      assert.deepEqual(await done('DELETE', `/invite/${invite.id}`), {})
      assert.deepEqual((await done('GET', `/member?search_query=${email}`)).members, [])
    })
  })
}
