// EHR pipelines over HTTP: what is stored and shown, and access to them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { client, createTestTeam, vault, type TestTeam, type Reply } from '../../../test/support/server.ts'
import { createAnotherTeam } from '../../../test/support/teams.ts'

const PATH = '/team_ehr_pipelines/sandbox/us'
const oauth = {
  type: 'client_credentials',
  client_id: 'fictional-clinic',
  client_secret: 'an-invented-secret',
  token_url: 'https://ehr.example.com/token',
}
const google = {
  type: 'google_iam',
  service_account_email: 'ehr@clinic.example',
  audience: 'https://healthcare.googleapis.com/',
}
const body = (changes: Record<string, unknown> = {}) => ({
  ehr_type: 'fhir',
  base_url: 'https://ehr.example.com/fhir',
  authentication: oauth,
  ...changes,
})
const teams = ({ body }: Reply): string[] => body.data.map(({ team_id }: { team_id: string }) => team_id)
const faults = ({ body }: Reply): string[] =>
  body.detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.join('.')} ${type}`)

/** Requests with a key that is bound to teams. */
async function bound({ manage, org_id }: TestTeam, ...ids: string[]) {
  const team_role_bindings = ids.map((team_id) => ({ team_id }))
  const { key } = (await manage.post('/management_key', { label: 'x', role: 'team_admin', team_role_bindings })).body
  return client(key, 'x-management-key', `/v1/org/${org_id}`)
}

describe('an EHR pipeline', () => {
  test('is created as a bare list and listed in an envelope with next_token, with its secret masked', async () => {
    const team = await createTestTeam()
    const shown = {
      team_id: team.team,
      type: 'native',
      ehr_type: 'fhir',
      base_url: 'https://ehr.example.com/fhir',
      authentication: { ...oauth, client_secret: '********' },
      allowed_mappers: ['heart_rate', 'steps'],
    }
    const made = await team.manage.post(PATH, body({ team_ids: [team.team], allowed_mappers: ['heart_rate', 'steps'] }))
    assert.deepEqual([made.status, made.body], [200, [shown]])
    const { status, body: listed } = await team.manage.get(PATH)
    assert.deepEqual([status, listed], [200, { data: [shown], next_token: null }])
  })

  for (const [kind, authentication, secret] of [
    ['client credentials', oauth, 'an-invented-secret'],
    ['an API key', { type: 'api_key', api_key: 'an-invented-key' }, 'an-invented-key'],
    ['a Google account', google, undefined],
  ] as const)
    test(`with ${kind} its secret is stored encrypted, separately for each team`, async () => {
      const team = await createTestTeam()
      const apart = await createAnotherTeam(team)
      const { status, body: made } = await team.manage.post(PATH, body({ authentication }))
      assert.equal(status, 200)
      assert.deepEqual(made.map(({ team_id }: { team_id: string }) => team_id).sort(), [team.team, apart].sort())
      if (!secret) assert.deepEqual(made[0].authentication, authentication)
      else assert(!JSON.stringify(made).includes(secret))
      const { rows } = await team.db.pool.query<{ team_id: string; secret: string | null; row: string }>(
        'select team_id, secret, p::text as row from ehr_pipeline p where team_id = any ($1)',
        [[team.team, apart]],
      )
      for (const row of rows) {
        if (secret) assert(!row.row.includes(secret))
        assert.equal(row.secret && vault.decrypt(row.secret, `secret of EHR pipeline fhir of ${row.team_id}`), secret ?? null)
      }
      if (secret) assert.throws(() => vault.decrypt(rows[0]!.secret!, `secret of EHR pipeline fhir of ${rows[1]!.team_id}`))
    })

  test('is replaced as a whole by the next one of its type, and leaves the other type unchanged', async () => {
    const team = await createTestTeam()
    await team.manage.post(PATH, body({ allowed_mappers: ['steps'] }))
    const next = { base_url: 'http://localhost:9/fhir', authentication: { type: 'API_KEY', api_key: 'x' }, allowed_mappers: [] }
    await team.manage.post(PATH, body(next))
    await team.manage.post(PATH, body({ ehr_type: 'hint_health', authentication: google }))
    const { data } = (await team.manage.get(PATH)).body
    assert.deepEqual(
      data.map((pipeline: Record<string, unknown>) => [
        pipeline.ehr_type,
        pipeline.base_url,
        pipeline.authentication,
        pipeline.allowed_mappers,
      ]),
      [
        ['hint_health', 'https://ehr.example.com/fhir', google, null],
        ['fhir', 'http://localhost:9/fhir', { type: 'api_key', api_key: '********' }, null],
      ],
    )
  })

  test('is deleted by type, and teams without that type do not change', async () => {
    const team = await createTestTeam()
    await team.manage.post(PATH, body())
    await team.manage.post(PATH, body({ ehr_type: 'hint_health' }))
    for (const query of [`ehr_type=fhir&team_id=${team.team}`, 'ehr_type=fhir']) {
      const { status, body: answer } = await team.manage.delete(`${PATH}?${query}`)
      assert.deepEqual([status, answer], [200, {}])
    }
    assert.deepEqual(
      (await team.manage.get(PATH)).body.data.map(({ ehr_type }: { ehr_type: string }) => ehr_type),
      ['hint_health'],
    )
    const audit = (await team.manage.get('/audit/sandbox/us')).body.data
    assert.deepEqual(
      audit.map(({ operation }: { operation: string }) => operation),
      ['delete_team_ehr_pipelines', 'delete_team_ehr_pipelines', 'upsert_team_ehr_pipelines', 'upsert_team_ehr_pipelines'],
    )
  })

  test('of a deleted team is not listed', async () => {
    const team = await createTestTeam()
    const apart = await createAnotherTeam(team)
    await team.manage.post(PATH, body())
    await team.manage.delete(`/team/${apart}`)
    assert.deepEqual(teams(await team.manage.get(PATH)), [team.team])
  })
})

describe('EHR pipelines', () => {
  test('lists pages newest first, and rejects cursors of other lists', async () => {
    const team = await createTestTeam()
    for (let i = 0; i < 50; i += 10)
      await Promise.all(Array.from({ length: 10 }, () => team.manage.post('/team', { name: 'One more', region: 'us' })))
    await team.manage.post(PATH, body())
    const first = (await team.manage.get(PATH)).body
    const second = (await team.manage.get(`${PATH}?next_cursor=${first.next_token}`)).body
    assert.deepEqual([first.data.length, second.data.length, second.next_token], [50, 1, null])
    assert.equal(new Set([...first.data, ...second.data].map(({ team_id }) => team_id)).size, 51)
    for (const path of [
      `${PATH}?next_cursor=nonsense`,
      `${PATH}?team_id=${team.team}&next_cursor=${first.next_token}`,
      `/team_ehr_pipelines/production/us?next_cursor=${first.next_token}`,
    ])
      assert.equal((await team.manage.get(path)).status, 400, path)
  })

  test('without teams a pipeline is created for every team of the organization in the cell', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const apart = await createAnotherTeam(team)
    await createAnotherTeam(team, 'eu')
    const made = (await team.manage.post(PATH, body({ team_ids: null }))).body
    assert.deepEqual(made.map(({ team_id }: { team_id: string }) => team_id).sort(), [team.team, apart].sort())
    assert.deepEqual(teams(await other.manage.get(PATH)), [])
    assert.deepEqual(teams(await team.manage.get('/team_ehr_pipelines/production/us')), [])
    await other.manage.delete(`${PATH}?ehr_type=fhir`)
    assert.equal(teams(await team.manage.get(PATH)).length, 2)
  })

  test('a key bound to teams manages only their pipelines: another team in a list rejects a write and is skipped in a deletion', async () => {
    const team = await createTestTeam()
    const [apart, third] = [await createAnotherTeam(team), await createAnotherTeam(team)]
    const api = await bound(team, team.team, apart)
    await team.manage.post(PATH, body())
    assert.deepEqual(teams(await api.get(PATH)).sort(), [team.team, apart].sort())
    assert.equal((await api.get(`${PATH}?team_id=${third}`)).status, 403)
    assert.deepEqual(teams(await api.get(`${PATH}?team_id=${apart}`)), [apart])
    assert.equal((await api.post(PATH, body({ ehr_type: 'hint_health', team_ids: [apart, third] }))).status, 403)
    assert.equal((await api.post(PATH, body({ ehr_type: 'hint_health' }))).body.length, 2)
    assert.equal((await api.delete(`${PATH}?ehr_type=fhir&team_id=${apart}&team_id=${third}`)).status, 200)
    assert.equal(teams(await team.manage.get(PATH)).length, 4)
    assert.equal((await api.delete(`${PATH}?ehr_type=fhir`)).status, 200)
    assert.deepEqual(teams(await team.manage.get(`${PATH}?team_id=${third}`)), [third])
  })

  test('inaccessible teams are rejected in writes, skipped in deletions, and teams of another region have an empty list', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const european = await createAnotherTeam(team, 'eu')
    for (const [id, status, detail] of [
      [other.team, 404, 'Team not found'],
      [randomUUID(), 404, 'Team not found'],
      [european, 400, `Team ${european} is in region eu`],
    ] as const) {
      const reply = await team.manage.post(PATH, body({ team_ids: [team.team, id] }))
      assert.deepEqual([reply.status, reply.body], [status, { detail }])
      assert.equal((await team.manage.delete(`${PATH}?ehr_type=fhir&team_id=${id}`)).status, 200)
    }
    assert.deepEqual(teams(await team.manage.get(PATH)), [])
    assert.deepEqual(teams(await team.manage.get(`${PATH}?team_id=${european}`)), [])
    assert.equal((await team.manage.get(`${PATH}?team_id=${other.team}`)).status, 404)
    const production = await team.manage.post('/team_ehr_pipelines/production/us', body({ team_ids: [team.team] }))
    assert.deepEqual([production.status, production.body], [400, { detail: 'A team does not exist in this environment' }])
  })

  test('rejects an invalid pipeline with all errors, by its kind of authentication', async () => {
    const { manage } = await createTestTeam()
    const post = async (changes: Record<string, unknown>) => faults(await manage.post(PATH, body(changes)))
    assert.deepEqual(faults(await manage.post(PATH, {})), [
      'body.ehr_type missing',
      'body.base_url missing',
      'body.authentication missing',
    ])
    assert.deepEqual(await post({ ehr_type: 'epic', base_url: 'ftp://ehr.example', team_ids: [], authentication: {} }), [
      'body.team_ids too_short',
      'body.ehr_type enum',
      'body.base_url value_error',
      'body.authentication.type missing',
    ])
    assert.deepEqual(await post({ authentication: { type: 'password' }, allowed_mappers: [1] }), [
      'body.authentication.type enum',
      'body.allowed_mappers.0 string_type',
    ])
    assert.deepEqual(await post({ authentication: { type: 'api_key' } }), ['body.authentication.api_key missing'])
    assert.deepEqual(await post({ authentication: { type: 'google_iam', service_account_email: 'x', audience: 'y' } }), [
      'body.authentication.service_account_email value_error',
      'body.authentication.audience enum',
    ])
    assert.deepEqual(await post({ authentication: 'api_key' }), ['body.authentication model_attributes_type'])
    assert.deepEqual(
      await post({
        base_url: 'https://user:pass@ehr.example',
        authentication: { ...oauth, client_secret: '********', token_url: 'nowhere' },
      }),
      ['body.base_url value_error', 'body.authentication.client_secret value_error', 'body.authentication.token_url value_error'],
    )
    for (const query of ['', 'ehr_type=epic', 'ehr_type=fhir&team_id=x', 'ehr_type=fhir&team_id='])
      assert.equal((await manage.delete(`${PATH}?${query}`)).status, 422, query)
    assert.equal((await manage.get('/team_ehr_pipelines/staging/us')).status, 422)
  })

  test('requires https in production', async () => {
    const team = await createTestTeam('production-us')
    const path = '/team_ehr_pipelines/production/us'
    const plain = { base_url: 'http://ehr.example.com', authentication: { ...oauth, token_url: 'http://ehr.example.com/token' } }
    const refused = await team.manage.post(path, body(plain))
    assert.deepEqual(
      [refused.status, faults(refused)],
      [422, ['body.base_url value_error', 'body.authentication.token_url value_error']],
    )
    assert.equal((await team.manage.post(path, body())).status, 200)
  })
})
