import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { delivering, receiver } from '../../../test/support/webhook-receiver.ts'
import { client, createTestTeam, guard, type TestTeam } from '../../../test/support/server.ts'

const UNSET = {
  lab_tests_patient_sms_communication_enabled: true,
  lab_tests_patient_email_communication_enabled: true,
  critical_result_notification_email: null,
  brand_information: null,
  logo_url: null,
  reject_duplicate_connection: false,
  sdk_per_device_activity_timeseries: false,
  partial_webhooks_enabled: false,
  appointment_booking_url: null,
  link_redirect_origins: null,
}
const SANDBOX = { ...UNSET, minor_ordering_enabled: true }
const PRODUCTION = { ...UNSET, minor_ordering_enabled: false }
const LOGO = 'https://clinic.example/logo.png'
const BRAND = {
  company_name: 'Fictional Clinic',
  company_website: '',
  support_email: '',
  support_contact: '',
  company_address: '',
  brand_color: '',
}

const create = (org: TestTeam, body: Record<string, unknown>) =>
  org.manage.post('/team', { name: 'North', region: 'us', ...body })
const faults = (body: { detail: { loc: string[]; type: string }[] }) =>
  body.detail.map(({ loc, type }) => `${loc.join('.')} ${type}`)
const names = (body: { teams: { name: string }[] }) => body.teams.map(({ name }) => name)

describe('the organization', () => {
  test('is read and renamed; a name may not have other signs, and nothing else may be changed', async () => {
    const org = await createTestTeam()
    assert.deepEqual((await org.manage.get('')).body, { id: org.org_id, name: 'Test organization', expires_at: null })
    const renamed = await org.manage.patch('', { name: "Dr O’Fiction & Søn (North), 'a|b'" })
    assert.equal(renamed.status, 200)
    assert.deepEqual((await org.manage.get('')).body, renamed.body)
    for (const name of ['a\tb', 'a.b', 'a<b', 'x'.repeat(81)]) assert.equal((await org.manage.patch('', { name })).status, 422)
    const { status, body } = await org.manage.patch('', { name: 'x', expires_at: null })
    assert.equal(status, 422)
    assert.deepEqual(faults(body), ['body.expires_at extra_forbidden'])
  })
})

describe('creating a team', () => {
  test('returns its settings in both environments, and creates rows in both cells', async () => {
    const org = await createTestTeam()
    const { status, body } = await create(org, { region: 'eu', integration_team_id: 'reference-1' })
    assert.equal(status, 200)
    assert.deepEqual(body, {
      id: body.id,
      name: 'North',
      created_on: body.created_on,
      region: 'eu',
      integration_team_id: 'reference-1',
      environments: ['sandbox', 'production'],
      sandbox: SANDBOX,
      production: PRODUCTION,
    })
    for (const [env, tests] of [
      ['sandbox', 4],
      ['production', 0],
    ] as const) {
      const key: string = (await org.manage.post(`/team_api_keys/${env}/eu`, { label: 'x', team_id: body.id })).body.value
      assert.equal((await client(key).get('/v3/lab_tests')).body.length, tests, env)
    }
  })

  test('sets both environments alike', async () => {
    const org = await createTestTeam()
    const { body } = await create(org, {
      lab_tests_patient_sms_communication_enabled: false,
      critical_result_notification_email: 'alerts@clinic.example',
      brand_information: { company_name: 'Fictional Clinic', brand_color: 'teal' },
      logo_url: LOGO,
      minor_ordering_enabled: true,
    })
    const settings = {
      ...UNSET,
      lab_tests_patient_sms_communication_enabled: false,
      critical_result_notification_email: 'alerts@clinic.example',
      brand_information: { ...BRAND, brand_color: 'teal' },
      logo_url: LOGO,
      minor_ordering_enabled: true,
    }
    assert.deepEqual([body.sandbox, body.production], [settings, settings])
  })

  test('takes an id of the caller; a repeated one is refused with it at the top level', async () => {
    const org = await createTestTeam()
    const id = randomUUID()
    assert.equal((await create(org, { id })).body.id, id)
    const again = await create(org, { id, name: 'South' })
    assert.deepEqual([again.status, again.body.team_id, typeof again.body.detail], [409, id, 'string'])
    const elsewhere = await create(await createTestTeam(), { id })
    assert.equal(elsewhere.status, 409)
    // What is kept for an organization's own idempotency keys stands under its id: a team of that id would share it, and erase it.
    const named = await create(await createTestTeam(), { id: org.org_id })
    assert.deepEqual([named.status, named.body.team_id], [409, org.org_id])
    assert.equal((await org.manage.get(`/team/${id}`)).body.name, 'North')
  })

  test('with a reference in use is rejected with its team; other organizations have their own references', async () => {
    const org = await createTestTeam()
    const first = await create(org, { integration_team_id: 'reference-1' })
    const again = await create(org, { integration_team_id: 'reference-1' })
    assert.deepEqual([again.status, again.body.team_id], [409, first.body.id])
    assert.equal((await create(await createTestTeam(), { integration_team_id: 'reference-1' })).status, 200)
    assert.equal((await org.manage.get('/team')).body.teams.length, 2)
  })

  test('twice at once under one reference makes one team', async () => {
    const org = await createTestTeam()
    const both = await Promise.all([1, 2].map(() => create(org, { integration_team_id: 'reference-1' })))
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409])
  })

  test('lists every fault, extra keys among them', async () => {
    const { status, body } = await create(await createTestTeam(), { name: 'a<b', region: 'moon', logo_url: 'ftp://a', more: 1 })
    assert.equal(status, 422)
    assert.deepEqual(faults(body), [
      'body.name string_pattern_mismatch',
      'body.region enum',
      'body.logo_url value_error',
      'body.more extra_forbidden',
    ])
  })

  test('with the name of a company needs a logo', async () => {
    const { status, body } = await create(await createTestTeam(), { brand_information: { company_name: 'Fictional Clinic' } })
    assert.deepEqual([status, faults(body)], [422, ['body.logo_url value_error']])
  })

  test('under an idempotency key is done once', async () => {
    const org = await createTestTeam()
    const headers = { 'x-idempotency-key': 'the-same' }
    const first = await org.manage.post('/team', { name: 'North', region: 'us' }, headers)
    const second = await org.manage.post('/team', { name: 'North', region: 'us' }, headers)
    assert.deepEqual([second.status, second.body], [200, first.body])
    const others = await createTestTeam()
    assert.notEqual((await others.manage.post('/team', { name: 'North', region: 'us' }, headers)).body.id, first.body.id)
  })
})

describe('changing a team', () => {
  test('leaves absent fields, clears nullable ones, and takes effect for its keys at once', async () => {
    const org = await createTestTeam()
    const { id } = (await create(org, { integration_team_id: 'reference-1', critical_result_notification_email: 'a@b.example' }))
      .body
    const { status, body } = await org.manage.patch(`/team/${id}`, {
      name: 'South',
      sandbox: { critical_result_notification_email: null, partial_webhooks_enabled: true, reject_duplicate_connection: null },
      production: { minor_ordering_enabled: true, patient_experience: true, unknown: 1 },
    })
    assert.equal(status, 200)
    assert.deepEqual([body.name, body.integration_team_id], ['South', 'reference-1'])
    assert.deepEqual(body.sandbox, { ...SANDBOX, partial_webhooks_enabled: true })
    assert.deepEqual(body.production, {
      ...PRODUCTION,
      minor_ordering_enabled: true,
      critical_result_notification_email: 'a@b.example',
    })
    assert.deepEqual((await org.manage.get(`/team/${id}`)).body, body)
    const cleared = await org.manage.patch(`/team/${id}`, { integration_team_id: null, name: null })
    assert.deepEqual([cleared.body.name, cleared.body.integration_team_id], ['South', null])
  })

  test('changes a brand field by field', async () => {
    const org = await createTestTeam()
    const path = `/team/${org.team}`
    const brand = async (sandbox: unknown) => org.manage.patch(path, { sandbox })
    assert.deepEqual(faults((await brand({ brand_information: { brand_color: 'teal' } })).body), [
      'body.sandbox.brand_information.company_name missing',
    ])
    assert.deepEqual(faults((await brand({ brand_information: { company_name: 'Fictional Clinic' } })).body), [
      'body.sandbox.logo_url value_error',
    ])
    await brand({ brand_information: { company_name: 'Fictional Clinic' }, logo_url: LOGO })
    const { body } = await brand({ brand_information: { brand_color: 'teal', company_name: null } })
    assert.deepEqual(body.sandbox.brand_information, { ...BRAND, brand_color: 'teal' })
    assert.deepEqual(faults((await brand({ logo_url: null })).body), ['body.sandbox.logo_url value_error'])
    const cleared = await brand({ brand_information: null, logo_url: null })
    assert.deepEqual([cleared.body.sandbox.brand_information, cleared.body.sandbox.logo_url], [null, null])
  })

  test('to a reference in use is refused with its team, and changes nothing', async () => {
    const org = await createTestTeam()
    const first = (await create(org, { integration_team_id: 'reference-1' })).body
    const second = (await create(org, {})).body
    const { status, body } = await org.manage.patch(`/team/${second.id}`, { name: 'x', integration_team_id: 'reference-1' })
    assert.deepEqual([status, body.team_id], [409, first.id])
    assert.deepEqual((await org.manage.get(`/team/${second.id}`)).body, second)
    assert.equal((await org.manage.patch(`/team/${first.id}`, { integration_team_id: 'reference-1' })).status, 200)
  })

  test('stores the booking URL for each environment until it is cleared', async () => {
    const org = await createTestTeam()
    const { id } = (await create(org, {})).body
    const set = (appointment_booking_url: unknown) => org.manage.patch(`/team/${id}`, { sandbox: { appointment_booking_url } })
    const start = 'https://clinic.example/visits/{order_id}?from='
    const longest = start.padEnd(500, 'x')
    const { body } = await set(longest)
    assert.deepEqual([body.sandbox.appointment_booking_url, body.production.appointment_booking_url], [longest, null])
    for (const refused of [
      start.padEnd(501, 'x'),
      '',
      7,
      'clinic.example/visits',
      'http://clinic.example/visits',
      'http://localhost/visits',
      'javascript:alert(1)',
      'https://',
      'https://clinic.example/visits?user={user_id}',
      'https://clinic.example/visits/{order_id',
      'https://clinic.example/my visits',
      ' https://clinic.example/visits',
      'https://clinic.example/visits\n',
      'https://staff:fictional@clinic.example/visits',
      'https://@clinic.example/visits',
      'https://clinic.example\\@evil.example/visits',
    ]) {
      const { status, body: refusal } = await set(refused)
      assert.equal(status, 422, String(refused))
      assert.match(faults(refusal)[0]!, /^body\.sandbox\.appointment_booking_url /)
    }
    await org.manage.patch(`/team/${id}`, { sandbox: { partial_webhooks_enabled: true } })
    assert.equal((await org.manage.get(`/team/${id}`)).body.sandbox.appointment_booking_url, longest)
    assert.equal((await set(null)).body.sandbox.appointment_booking_url, null)
  })

  test('with an error in one environment leaves the other unchanged', async () => {
    const org = await createTestTeam()
    const { id } = (await create(org, {})).body
    const { status } = await org.manage.patch(`/team/${id}`, {
      sandbox: { partial_webhooks_enabled: true },
      production: { brand_information: { company_name: 'Fictional Clinic' } },
    })
    assert.equal(status, 422)
    assert.deepEqual((await org.manage.get(`/team/${id}`)).body.sandbox, SANDBOX)
  })

  test('takes no other keys', async () => {
    const org = await createTestTeam()
    const { status, body } = await org.manage.patch(`/team/${org.team}`, { region: 'eu' })
    assert.deepEqual([status, faults(body)], [422, ['body.region extra_forbidden']])
  })
})

describe('deleting a team', () => {
  test('stops its keys and tokens at once, hides it, and frees its reference but not its id', async () => {
    const org = await createTestTeam()
    const { id } = (await create(org, { integration_team_id: 'reference-1' })).body
    const key = (await org.manage.post('/team_api_keys/sandbox/us', { label: 'x', team_id: id })).body.value
    const { access_token } = (await org.manage.post(`/team/${id}/create_api_access_token`, { env: 'sandbox' })).body
    const authorization = `Bearer ${access_token}`
    assert.equal((await client(key).get('/v2/user')).status, 200)
    assert.equal((await client(undefined).get('/v2/user', { authorization })).status, 200)

    const { status, body } = await org.manage.delete(`/team/${id}`)
    assert.deepEqual([status, body], [200, {}])
    assert.equal((await client(key).get('/v2/user')).status, 401)
    assert.equal((await client(undefined).get('/v2/user', { authorization })).status, 401)
    assert.equal((await org.manage.delete(`/team/${id}`)).status, 404)
    assert.equal((await org.manage.get(`/team/${id}`)).status, 404)
    assert.deepEqual(names((await org.manage.get('/team')).body), ['Test team'])
    assert.equal((await org.manage.post('/resolve_team', { integration_team_id: 'reference-1' })).status, 404)
    assert.equal((await create(org, { integration_team_id: 'reference-1' })).status, 200)
    assert.equal((await create(org, { id })).status, 409)
    assert.equal((await org.manage.post('/team_api_keys/sandbox/us', { label: 'x', team_id: id })).status, 404)
  })

  test('unbinds its keys, and keeps keys that have other teams', async () => {
    const org = await createTestTeam()
    const { id } = (await create(org, {})).body
    const { body: made } = await org.manage.post('/management_key', {
      label: 'both',
      role: 'team_admin',
      team_role_bindings: [{ team_id: id }, { team_id: org.team }],
    })
    await org.manage.delete(`/team/${id}`)
    const [key] = (await org.manage.get('/management_key?role=team_admin')).body.data
    assert.deepEqual(key.team_role_bindings, [{ team_id: org.team }])
    const bound = client(made.key, 'x-management-key')
    assert.equal((await bound.get(`/v1/org/${org.org_id}/team/${org.team}`)).status, 200)
    assert.equal((await bound.get(`/v1/org/${org.org_id}/team/${id}`)).status, 404)
  })

  test('ends its deliveries, including pending ones', async () => {
    const [org, other] = [await createTestTeam(), await createTestTeam()]
    const { received, url } = await receiver()
    for (const { manage, team } of [org, other]) {
      const { id } = (await manage.post(`/team/${team}/sandbox/webhook`, { url })).body
      await manage.post(`/team/${team}/sandbox/webhook/${id}/test`, { event_type: 'labtest.order.created' })
    }
    assert.equal((await org.manage.delete(`/team/${org.team}`)).status, 200)
    await delivering().drain()
    assert.deepEqual(
      received.map(({ body }) => JSON.parse(body).team_id),
      [other.team],
    )
  })

  test("stops the team's background work, also for a team in a single cell", async () => {
    const org = await createTestTeam()
    assert.equal((await guard.tenant('sandbox-us', org.team))?.team, org.team)
    assert.equal((await org.manage.delete(`/team/${org.team}`)).status, 200)
    assert.equal(await guard.tenant('sandbox-us', org.team), undefined)
    assert.equal((await org.api.get('/v2/user')).status, 401)
  })
})
