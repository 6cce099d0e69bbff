import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { client, createTestTeam, url, type TestTeam } from '../../../test/support/server.ts'
import { preparationSteps } from './preparation.ts'

const CREDENTIALS = '/team_custom_credentials/sandbox/us'

describe('setup steps for credentials', () => {
  const prepare = async (org: TestTeam, provider: string, place = 'sandbox/us') =>
    org.manage.post(`/prepare_team_custom_credentials/${place}`, { team_id: org.team, provider })

  test('contains the addresses of this server that a provider needs', async () => {
    const org = await createTestTeam()
    const steps = async (provider: string) =>
      (await prepare(org, provider)).body.preparation_steps.map(({ type, key, value }: Record<string, string>) => [
        type,
        key,
        value,
      ])
    const { body } = await prepare(org, 'oura')
    assert.equal(body.status, 'preparations_required')
    assert.equal(typeof body.preparation_steps[0].description, 'string')
    assert.deepEqual(await steps('oura'), [['redirect_uri', null, `${url}/v2/link/connect/oura`]])
    const hook = `${url}/v2/link/webhook/sandbox-us/${org.team}`
    assert.deepEqual(await steps('garmin'), [
      ['redirect_uri', null, `${url}/v2/link/connect/garmin`],
      ['webhook_uri', null, `${hook}/garmin`],
    ])
    assert.deepEqual(
      (await steps('fitbit')).slice(1).map(([, key, value]: string[]) => [key, value]),
      ['workout', 'sleep', 'body', 'foods'].map((kind) => [kind, `${hook}/fitbit/${kind}`]),
    )
  })

  test('names the authorization of notifications of Google Health, another one for each team', async () => {
    const [org, other] = [await createTestTeam(), await createTestTeam()]
    const tokenOf = async (team: TestTeam) => {
      const [, step] = (await prepare(team, 'google_health')).body.preparation_steps
      assert.deepEqual([step.type, step.value], ['webhook_uri', `${url}/v2/link/webhook/sandbox-us/${team.team}/google_health`])
      return /: Bearer (\S{40,})$/.exec(step.description)?.[1]
    }
    assert(await tokenOf(org))
    assert.equal(await tokenOf(org), await tokenOf(org))
    assert.notEqual(await tokenOf(org), await tokenOf(other))
  })

  test('names the principal to allow in place of an address, if the operator has a service account', () => {
    const place = { env: 'sandbox', region: 'us', team_id: randomUUID() }
    const google = { token: 'a-token', principal: 'drawbridge@operator.example' }
    const [redirect, step, ...others] = preparationSteps('https://lab.example', place, 'google_health', null, google)
    assert.deepEqual([redirect!.type, step!.type, step!.value, others], ['redirect_uri', 'iam_principal', google.principal, []])
    assert(!step!.description!.includes(google.token))
    assert.deepEqual(
      preparationSteps('https://lab.example', place, 'oura', null, google).map(({ type }) => type),
      ['redirect_uri'],
    )
  })

  test("contains the team's own redirect address", async () => {
    const org = await createTestTeam()
    const redirect_url_override = 'https://app.example.com/back'
    await org.manage.post(CREDENTIALS, { team_id: org.team, provider: 'oura', redirect_url_override })
    assert.equal((await prepare(org, 'oura')).body.preparation_steps[0].value, 'https://app.example.com/back')
    assert.match((await prepare(org, 'oura', 'production/us')).body.preparation_steps[0].value, /connect\/oura$/)
  })

  test('returns no steps for providers without an OAuth application', async () => {
    const org = await createTestTeam()
    for (const provider of ['freestyle_libre', 'apple_health_kit', 'quest'])
      assert.deepEqual((await prepare(org, provider)).body, { status: 'no_action_needed', preparation_steps: [] })
    assert.equal((await prepare(org, 'twilio')).status, 422)
  })

  test('changes nothing, and requires an accessible team', async () => {
    const org = await createTestTeam()
    const apart = (await org.manage.post('/team', { name: 'Apart', region: 'us' })).body.id
    const { key } = (await org.manage.post('/management_key', { label: 'bound', team_id: org.team })).body
    const bound = client(key, 'x-management-key', `/v1/org/${org.org_id}`)
    const status = async (api: TestTeam['manage'], team_id: string, place = 'sandbox/us') =>
      (await api.post(`/prepare_team_custom_credentials/${place}`, { team_id, provider: 'oura' })).status
    assert.deepEqual(
      [
        await status(bound, org.team),
        await status(bound, apart),
        await status(org.manage, randomUUID()),
        await status(org.manage, org.team, 'sandbox/eu'),
      ],
      [200, 403, 404, 400],
    )
    assert.deepEqual((await org.manage.get(CREDENTIALS)).body.credentials, [])
    assert.deepEqual((await org.manage.get(`/team/${org.team}/sandbox/audit`)).body.data, [])
  })
})
