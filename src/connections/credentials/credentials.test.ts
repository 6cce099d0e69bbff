import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { createTestTeam, vault, type TestTeam } from '../../../test/support/server.ts'
import { providers } from '../../people/users/sources.ts'
import { createAnotherTeam, createBoundKey } from '../../../test/support/teams.ts'

const HERE = '/team_custom_credentials/sandbox/us'
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const set = async (org: TestTeam, body: object = {}) => {
  const reply = await org.manage.post(HERE, { team_id: org.team, provider: 'oura', ...body })
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
  return reply.body
}
const verified = { workout_verify_token: 'w-fictional', sleep_verify_token: 's-fictional', body_verify_token: 'b-fictional' }

describe('credentials', () => {
  test('credentials are set and listed with a hash of the secret, under source and not provider', async () => {
    const org = await createTestTeam()
    const body = await set(org, { client_id: 'fictional-client', client_secret: 'fictional-secret' })
    assert.deepEqual(body, {
      id: body.id,
      client_id: 'fictional-client',
      client_secret_hash: sha256('fictional-secret'),
      source: 'oura',
      team_id: org.team,
      created_at: body.created_at,
      updated_at: body.created_at,
      details: null,
      app_url: null,
      redirect_url_override: null,
    })
    assert.deepEqual((await org.manage.get(HERE)).body, { credentials: [body], next_cursor: null })
    assert.deepEqual((await org.manage.get('/team_custom_credentials/production/us')).body.credentials, [])
  })

  test('there is one credential per team, environment and provider: absent fields stay, null clears, except for the secret', async () => {
    const org = await createTestTeam()
    const first = await set(org, {
      client_id: 'one',
      client_secret: 'fictional-secret',
      redirect_url_override: 'https://app.example.com/back',
    })
    const second = await set(org, { client_id: 'two', client_secret: null })
    assert.deepEqual({ ...second, updated_at: '' }, { ...first, client_id: 'two', updated_at: '' })
    const third = await set(org, { client_id: null, client_secret: 'another', redirect_url_override: null })
    assert.deepEqual(
      [third.id, third.client_id, third.client_secret_hash, third.redirect_url_override],
      [first.id, null, sha256('another'), null],
    )
  })

  test('a redirect address with a user name, a password or a backslash is refused', async () => {
    const org = await createTestTeam()
    const statusOf = async (redirect_url_override: string) =>
      (await org.manage.post(HERE, { team_id: org.team, provider: 'fitbit', redirect_url_override })).status
    for (const address of [
      'https://clinic.example@evil.example/back',
      'https://:x@evil.example/back',
      'https://@evil.example/back',
      'https://clinic.example\\@evil.example/back',
      'https:///evil.example',
    ])
      assert.equal(await statusOf(address), 422, address)
    assert.equal(await statusOf('https://Clinic.example/back?x=@y'), 200)
  })

  test('credentials of one environment are not visible in the other', async () => {
    const org = await createTestTeam()
    const team_id = await createAnotherTeam(org)
    const sandbox = await set(org, { team_id, client_secret: 'fictional-secret' })
    const { body } = await org.manage.post('/team_custom_credentials/production/us', { team_id, provider: 'oura' })
    assert.notEqual(body.id, sandbox.id)
    assert.equal(body.client_secret_hash, null)
    assert.deepEqual((await org.manage.get('/team_custom_credentials/production/us')).body.credentials, [body])
    const absent = await org.manage.post('/team_custom_credentials/production/us', { team_id: org.team, provider: 'oura' })
    assert.equal(absent.status, 404)
  })

  test('two concurrent requests set one credential', async () => {
    const org = await createTestTeam()
    const both = await Promise.all([set(org, { client_id: 'one' }), set(org, { client_id: 'two' })])
    assert.equal(both[0].id, both[1].id)
    assert.equal((await org.manage.get(HERE)).body.credentials.length, 1)
  })

  test('credentials are filtered by team and provider, and paged newest first', async () => {
    const org = await createTestTeam()
    const apart = await createAnotherTeam(org)
    const oura = await set(org)
    const strava = await set(org, { team_id: apart, provider: 'strava' })
    const ids = async (query: string, api = org.manage) =>
      (await api.get(HERE + query)).body.credentials.map(({ id }: { id: string }) => id)
    assert.deepEqual(await ids(''), [strava.id, oura.id])
    assert.deepEqual(await ids('?provider=strava'), [strava.id])
    assert.deepEqual(await ids(`?team_id=${org.team}`), [oura.id])
    assert.deepEqual(await ids('?team_id='), [strava.id, oura.id])
    assert.deepEqual(await ids(`?team_id=${org.team}&team_id=${apart}&provider=oura`), [oura.id])
    assert.deepEqual(await ids(`?team_id=${randomUUID()}`), [])
    assert.deepEqual(await ids(`?team_id=${(await createTestTeam()).team}`), [])
    assert.deepEqual(await ids('', await createBoundKey(org, apart)), [strava.id])
    assert.deepEqual(await ids(`?team_id=${org.team}`, await createBoundKey(org, apart)), [])
    assert.equal((await org.manage.get(`${HERE}?provider=nobody`)).status, 422)
    assert.equal((await org.manage.get(`${HERE}?next_cursor=nonsense`)).status, 400)
  })

  test('the list has pages of fifty credentials', async () => {
    const org = await createTestTeam()
    const apart = await createAnotherTeam(org)
    for (const provider of providers.slice(0, 37)) await set(org, { provider })
    for (const provider of providers.slice(0, 15)) await set(org, { team_id: apart, provider })
    const first = (await org.manage.get(HERE)).body
    const second = (await org.manage.get(`${HERE}?next_cursor=${first.next_cursor}`)).body
    assert.deepEqual([first.credentials.length, second.credentials.length, second.next_cursor], [50, 2, null])
    const ids = [...first.credentials, ...second.credentials].map(({ id }: { id: string }) => id)
    assert.equal(new Set(ids).size, 52)
    assert.equal((await org.manage.get(`${HERE}?provider=oura&next_cursor=${first.next_cursor}`)).status, 400)
  })

  test('credentials require a team of the region that belongs to the organization and is accessible to the key', async () => {
    const org = await createTestTeam()
    const apart = await createAnotherTeam(org)
    const bound = await createBoundKey(org, org.team)
    const status = async (api: TestTeam['manage'], place: string, team_id: string) =>
      (await api.post(`/team_custom_credentials/${place}`, { team_id, provider: 'oura' })).status
    assert.equal(await status(org.manage, 'sandbox/eu', org.team), 400)
    assert.equal(await status(org.manage, 'sandbox/us', await createAnotherTeam(org, 'eu')), 400)
    assert.equal(await status(org.manage, 'sandbox/us', (await createTestTeam()).team), 404)
    assert.equal(await status(org.manage, 'sandbox/us', randomUUID()), 404)
    assert.equal(await status(bound, 'sandbox/us', apart), 403)
    assert.equal(await status(bound, 'sandbox/us', org.team), 200)
    assert.equal(await status(org.manage, 'sandbox/moon', org.team), 422)
    assert.deepEqual((await org.manage.get(`/team_custom_credentials/sandbox/eu?team_id=${org.team}`)).body.credentials, [])
  })

  test('credentials are deleted by id, and unknown, remote or inaccessible ones are reported as not found', async () => {
    const org = await createTestTeam()
    const apart = await createAnotherTeam(org)
    const good = await set(org)
    const unbound = await set(org, { team_id: apart })
    const production = (await org.manage.post('/team_custom_credentials/production/us', { team_id: apart, provider: 'oura' }))
      .body
    const other = await createTestTeam()
    const foreign = await set(other)
    const unknown = randomUUID()
    const bound = await createBoundKey(org, org.team)
    const asked = [good.id, good.id, unbound.id, production.id, foreign.id, unknown]
    const { status, body } = await bound.delete(`${HERE}?${asked.map((id) => `credential_id=${id}`).join('&')}`)
    assert.equal(status, 200)
    assert.deepEqual(body, { success: [good.id], failure: [], not_found: [unbound.id, production.id, foreign.id, unknown] })
    assert.equal((await org.manage.get(HERE)).body.credentials.length, 1)
    assert.equal((await other.manage.get(HERE)).body.credentials.length, 1)
    assert.deepEqual((await org.manage.delete(`${HERE}?credential_id=${good.id}`)).body.not_found, [good.id])
    assert.equal((await org.manage.delete(HERE)).status, 422)
  })

  test('changes of credentials write an audit entry of the team, with the id only', async () => {
    const org = await createTestTeam()
    const { id } = await set(org, { client_secret: 'fictional-secret' })
    await org.manage.delete(`${HERE}?credential_id=${id}`)
    const { data } = (await org.manage.get(`/team/${org.team}/sandbox/audit`)).body
    assert.deepEqual(
      data.map(({ operation, team_id, object }: Record<string, string>) => [operation, team_id, object]),
      [
        ['delete_team_custom_credentials', org.team, id],
        ['upsert_team_custom_credentials', org.team, id],
      ],
    )
  })
})

describe('credential details', () => {
  const refused = async (org: TestTeam, provider: string, details: unknown) => {
    const { status, body } = await org.manage.post(HERE, { team_id: org.team, provider, details })
    assert.equal(status, 422, JSON.stringify(body))
    return body.detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.slice(1).join('.')} ${type}`)
  }

  test('details are shown with secrets masked, and a returned mask keeps the stored secret', async () => {
    const org = await createTestTeam()
    const details = { fitbit: { is_hr_enabled: true, ...verified } }
    const mask = '********'
    const shown = { is_hr_enabled: true, workout_verify_token: mask, sleep_verify_token: mask, body_verify_token: mask }
    assert.deepEqual((await set(org, { provider: 'fitbit', details })).details, { fitbit: shown })
    const changed = { fitbit: { ...shown, is_hr_enabled: false, sleep_verify_token: 'another-fictional' } }
    await set(org, { provider: 'fitbit', details: changed })
    assert.deepEqual((await org.manage.get(HERE)).body.credentials[0].details, { fitbit: { ...shown, is_hr_enabled: false } })
    assert.deepEqual(await stored(org), {
      fitbit: { is_hr_enabled: false, ...verified, sleep_verify_token: 'another-fictional' },
    })
    await set(org, { provider: 'fitbit' })
    assert.equal((await stored(org)).fitbit.sleep_verify_token, 'another-fictional')
    assert.equal((await set(org, { provider: 'fitbit', details: null })).details, null)
    assert.deepEqual(await refused(org, 'fitbit', changed), [
      'details.fitbit.workout_verify_token value_error',
      'details.fitbit.body_verify_token value_error',
    ])
  })

  test('arbitrary details are masked whatever their names, except those that every requisition prints', async () => {
    const mask = '********'
    const open = { account_number: '1', facility: 'NE', is_live: true, note: null }
    const hidden = {
      login: { name: 'north', pin: 7, account_number: '2' },
      sftp: 'north:fictional@sftp.example',
      signing: ['a', 'b'],
      account_numbers: ['3'],
      Account_Number: '4',
    }
    const masked = { login: { name: mask, pin: mask, account_number: mask }, sftp: mask, signing: [mask, mask] }
    for (const provider of ['quest', 'bioreference']) {
      const org = await createTestTeam()
      const written = { ...open, ...hidden }
      const { details } = await set(org, { provider, details: { [provider]: written, sub_account_id: '5' } })
      const shown = { ...open, ...masked, account_numbers: [mask], Account_Number: mask }
      assert.deepEqual(details, { [provider]: shown, sub_account_id: '5' })
      await set(org, { provider, details })
      assert.deepEqual((await stored(org))[provider], written)
      const [listed] = (await org.manage.get(HERE)).body.credentials
      assert.deepEqual(listed.details, details)
    }
  })

  test('a mask is never stored: neither where values are shown, nor with spaces, nor as the secret of the application', async () => {
    const mask = '********'
    const org = await createTestTeam()
    const quest = { account_number: '1', password: 'fictional', list: ['a'] }
    await set(org, { provider: 'quest', details: { quest } })
    await set(org, { provider: 'quest', details: { quest: { account_number: mask, password: ` ${mask}\n`, list: [mask] } } })
    assert.deepEqual((await stored(org)).quest, quest)
    const at = (...names: string[]) => names.map((name) => `details.${name} value_error`)
    const refusals: [unknown, string[]][] = [
      [{ quest: { business_unit: mask } }, at('quest.business_unit')],
      [
        { quest: { password: [mask], list: { length: mask, 1: mask } } },
        at('quest.password.0', 'quest.list.1', 'quest.list.length'),
      ],
      [{ quest: { toString: mask, constructor: { name: mask } } }, at('quest.toString', 'quest.constructor.name')],
      [{ quest: {}, sub_account_id: mask }, at('sub_account_id')],
    ]
    for (const [details, faults] of refusals) assert.deepEqual(await refused(org, 'quest', details), faults)
    for (const client_secret of [mask, ` ${mask}`]) {
      const body = { team_id: org.team, provider: 'oura', client_id: 'c', client_secret }
      assert.equal((await org.manage.post(HERE, body)).status, 422)
    }
    assert.deepEqual((await stored(org)).quest, quest)
  })

  const good: Record<string, unknown> = {
    google_fit: { redirect_uri: 'https://app.example.com', data_scopes: ['openid'] },
    google_health: { project_number: '1', service_account_email: 'robot@example.com' },
    polar: { webhook_secret: '********' },
    my_fitness_pal_v2: { client: 'fictional' },
    getlabs: { getlabs: { webhook_secret_key: '********', webhook_secret_token: '********' } },
    phlebfinders: {
      phlebfinders: {
        account_id: '1',
        account_name: 'North',
        team_id: '2',
        team_name: 'South',
        webhook_token: '********',
        email: 'north@example.com',
      },
    },
    labcorp: { sub_account_name: null, labcorp: { account_number: '1', billing_method: 'CM' } },
    bioreference: {
      bioreference: {},
      disallowed_billing_states: { client_bill: ['NY'] },
      allowed_billing_types: ['client_bill'],
    },
  }
  for (const [provider, details] of Object.entries(good))
    test(`details of ${provider} have their own shape`, async () => {
      const org = await createTestTeam()
      const open = JSON.parse(JSON.stringify(details).replaceAll('********', 'fictional'))
      const body = await set(org, { provider, details: open })
      assert.deepEqual([body.source, body.details], [provider, details])
      assert.deepEqual(await stored(org), open)
      const wrong = await refused(org, provider, {})
      assert(wrong.length > 0 && wrong.every((fault: string) => fault.endsWith(' missing')), wrong.join())
    })

  test('details of labcorp may list facilities instead', async () => {
    const org = await createTestTeam()
    const names = ['sending_facility', 'sending_application', 'receiving_facility', 'receiving_application']
    const details = Object.fromEntries(names.map((name) => [name, 'fictional']))
    assert.deepEqual((await set(org, { provider: 'labcorp', details })).details, details)
    assert.deepEqual(await refused(org, 'labcorp', { sending_facility: 'x' }), [
      'details.sending_application missing',
      'details.receiving_facility missing',
      'details.receiving_application missing',
    ])
  })

  test('rejects details of another provider, or for a provider without details, together with every other error', async () => {
    const org = await createTestTeam()
    assert.deepEqual(await refused(org, 'polar', { client: 'x' }), ['details.webhook_secret missing'])
    assert.deepEqual(await refused(org, 'oura', { client: 'x' }), ['details none_required'])
    assert.deepEqual(await refused(org, 'google_health', { project_number: '1', service_account_email: 'x', more: 1 }), [
      'details.more extra_forbidden',
    ])
    const { body } = await org.manage.post(HERE, { team_id: 'x', provider: 'fitbit', client_id: 7, details: { fitbit: {} } })
    assert.equal(body.detail.length, 5)
    const deep = `${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`
    const reply = await org.manage.post(HERE, `{"team_id":"${org.team}","provider":"quest","details":{"quest":${deep}}}`)
    assert.deepEqual([reply.status, reply.body.detail[0].loc], [422, ['body', 'details', 'quest']])
    assert.deepEqual(await refused(org, 'bioreference', { bioreference: { a: 'nul\0' } }), ['details.bioreference value_error'])
  })

  /** Returns the details as stored. */
  async function stored(org: TestTeam) {
    const { rows } = await org.db.pool.query('select id, details from custom_credential where team_id = $1', [org.team])
    return JSON.parse(vault.decrypt(rows[0].details, `details of credential ${rows[0].id}`))
  }
})
