import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cells, createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const path = (org: TestTeam): string => `/team/${org.team}/scope_requirements`
const readRequirements = async (org: TestTeam, provider: string) =>
  (await org.manage.get(`${path(org)}?provider=${provider}`)).body.requirements as Record<string, unknown>[]

test('requirements are listed for every provider with scopes, with the defaults where nothing is set', async () => {
  const org = await createTestTeam()
  const { requirements } = (await org.manage.get(path(org))).body
  assert.deepEqual(
    requirements.map(({ provider }: { provider: string }) => provider),
    ['fitbit', 'google_fit', 'google_health', 'oura', 'strava', 'withings', 'wahoo', 'whoop_v2', 'my_fitness_pal_v2'],
  )
  for (const { team_id, user_must_grant, user_may_grant } of requirements) {
    assert.deepEqual([team_id, user_must_grant], [org.team, []])
    assert(user_may_grant.length > 0)
  }
  assert.deepEqual(await readRequirements(org, 'strava'), [
    { team_id: org.team, provider: 'strava', user_must_grant: [], user_may_grant: ['activity:read_all', 'profile:read_all'] },
  ])
  assert.deepEqual(await readRequirements(org, 'garmin'), [])
  assert.equal((await org.manage.get(`${path(org)}?provider=peloton`)).status, 422)
})

test('a requirement stays until it is replaced; absent keeps it, and null resets it to the default', async () => {
  const org = await createTestTeam()
  const usual = await readRequirements(org, 'oura')
  const reply = await org.manage.post(path(org), {
    oura: { user_must_grant: ['daily', 'daily'], user_may_grant: ['workout'] },
    wahoo: { user_must_grant: [], user_may_grant: [] },
  })
  assert.deepEqual([reply.status, reply.body], [200, {}])
  const expected = [{ team_id: org.team, provider: 'oura', user_must_grant: ['daily'], user_may_grant: ['workout'] }]
  assert.deepEqual(await readRequirements(org, 'oura'), expected)
  await org.manage.post(path(org), { wahoo: { user_must_grant: ['email'], user_may_grant: [] } })
  assert.deepEqual(await readRequirements(org, 'oura'), expected)
  assert.deepEqual((await readRequirements(org, 'wahoo'))[0]!.user_must_grant, ['email'])
  await org.manage.post(path(org), { oura: null })
  assert.deepEqual(await readRequirements(org, 'oura'), usual)
  assert.deepEqual((await readRequirements(org, 'wahoo'))[0]!.user_must_grant, ['email'])
})

test('reports every scope that is unknown or both required and optional, and changes nothing', async () => {
  const org = await createTestTeam()
  const wahoo = { user_must_grant: ['email'], user_may_grant: [] }
  const faults = async (body: object) => {
    const reply = await org.manage.post(path(org), body)
    assert.equal(reply.status, 422)
    return reply.body.detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.slice(1).join('.')} ${type}`)
  }
  assert.deepEqual(await faults({ wahoo, oura: { user_must_grant: ['read:sleep'] }, strava: { user_may_grant: [1] } }), [
    'oura.user_must_grant.0 enum',
    'oura.user_may_grant missing',
    'strava.user_must_grant missing',
    'strava.user_may_grant.0 string_type',
  ])
  const both = { user_must_grant: ['email', 'daily'], user_may_grant: ['tag', 'daily', 'email'] }
  assert.deepEqual(await faults({ wahoo, oura: both }), [
    'oura.user_may_grant.1 value_error',
    'oura.user_may_grant.2 value_error',
  ])
  assert.deepEqual((await readRequirements(org, 'wahoo'))[0]!.user_must_grant, [])
})

test("requirements are stored once for both environments, and changes are in the organization's audit log", async () => {
  const org = await createTestTeam()
  await org.manage.post(path(org), { oura: { user_must_grant: ['daily'], user_may_grant: [] } })
  const { rows } = await cells.control.pool.query('select provider from scope_requirement where team_id = $1', [org.team])
  assert.deepEqual(rows, [{ provider: 'oura' }])
  const [line] = (await org.manage.get('/audit?limit=1')).body.data
  assert.deepEqual([line.operation, line.team_id], ['upsert_team_scope_requirements', org.team])
})
