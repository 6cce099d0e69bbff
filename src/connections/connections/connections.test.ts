// Connections of users to providers whose data a phone or a client sends. Source: users-wearables.md 1, 3, 4, 16.3; events.md 4.4.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { asOwner, createTestTeam, url, type TestTeam } from '../../../test/support/server.ts'
import { permissionNames } from './permission-names.ts'
import { providerOf } from './providers.ts'

const connect = ({ api }: TestTeam, provider: string, user_id: string, overrides: object = {}) =>
  api.post(`/v2/link/provider/manual/${provider}`, { user_id, ...overrides })
const listConnections = async ({ api }: TestTeam, user_id: string) =>
  (await api.get(`/v2/user/providers/${user_id}`)).body.providers
const events = async ({ api }: TestTeam, user_id: string) => {
  const { data } = (await api.get('/v1/events?type=provider.connection.created')).body
  return data
    .map((event: { body: { user_id: string; data: unknown } }) => event.body)
    .filter((body: { user_id: string }) => body.user_id === user_id)
}
const fail = ({ team }: TestTeam, user_id: string, status: string) =>
  asOwner(
    `update sandbox_us.connection
     set status = $3, error_type = case $3 when 'error' then 'unknown' end, error_message = case $3 when 'error' then 'Test' end,
         errored_at = case $3 when 'error' then timestamptz '2026-01-01 00:00:00+00' end
     where team_id = $1 and user_id = $2`,
    [team, user_id, status],
  )

describe('connecting a user to a health store', () => {
  test('shows the connection of the user and emits one event, however often the phone repeats the call', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    assert.deepEqual(await listConnections(team, user_id), [])
    for (const more of [{}, {}, { granted_permissions: ['activity'] }]) {
      const { status, body } = await connect(team, 'apple_health_kit', user_id, more)
      assert.deepEqual([status, body], [200, { success: true }])
    }
    const [one, ...others] = await listConnections(team, user_id)
    assert.deepEqual(others, [])
    const { created_on, resource_availability, ...rest } = one
    assert.match(created_on, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
    assert.deepEqual(rest, {
      name: 'Apple HealthKit',
      slug: 'apple_health_kit',
      logo: '',
      status: 'connected',
      external_user_id: null,
      error_details: null,
    })
    assert.deepEqual(resource_availability.activity, { status: 'available', scope_requirements: null })
    assert.deepEqual(resource_availability.sleep, { status: 'unavailable', scope_requirements: null })
    const shown = { name: 'Apple HealthKit', slug: 'apple_health_kit', logo: '' }
    const user = (await team.api.get(`/v2/user/${user_id}`)).body
    assert.deepEqual(user.connected_sources, [{ created_on, provider: shown, source: shown }])
    const emitted = await events(team, user_id)
    assert.equal(emitted.length, 1)
    assert.deepEqual([emitted[0].client_user_id, emitted[0].team_id], [user.client_user_id, team.team])
    const { resource_availability: atFirst, ...data } = emitted[0].data
    assert.deepEqual(data, { user_id, source: shown, provider: shown, external_user_id: null })
    assert.deepEqual(atFirst.sleep, { status: 'available', scope_requirements: null })
  })

  test('creates one connection and one event when many calls arrive at once', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const answers = await Promise.all(Array.from({ length: 12 }, () => connect(team, 'health_connect', user_id)))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    assert.equal((await listConnections(team, user_id)).length, 1)
    assert.equal((await events(team, user_id)).length, 1)
  })

  test('keeps connections to several providers, oldest first, and the name that a client gives its device', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await connect(team, 'samsung_health', user_id, { provider_id: 'not of a health store' })
    await connect(team, 'contour_ble', user_id, { provider_id: 'meter-0001' })
    await connect(team, 'contour_ble', user_id)
    const shown = (await listConnections(team, user_id)).map((connection: Record<string, unknown>) => [
      connection.slug,
      connection.external_user_id,
    ])
    assert.deepEqual(shown, [
      ['samsung_health', null],
      ['contour_ble', 'meter-0001'],
    ])
    const { body } = await team.api.get(`/v2/user/${user_id}`)
    assert.deepEqual(
      body.connected_sources.map(({ source }: { source: { slug: string } }) => source.slug),
      ['samsung_health', 'contour_ble'],
    )
  })

  test('has the resources that a phone names, in the words of its health store', async () => {
    const team = await createTestTeam()
    const READ = 'android.permission.health.READ_'
    const cases: [provider: string, names: string[] | undefined, available: string[] | 'all'][] = [
      ['apple_health_kit', undefined, 'all'],
      ['apple_health_kit', ['something else'], 'all'],
      ['apple_health_kit', [], []],
      [
        'apple_health_kit',
        [
          'HKQuantityTypeIdentifierStepCount',
          'HKCategoryTypeIdentifierSleepAnalysis',
          'HKQuantityTypeIdentifierBloodPressureSystolic',
        ],
        ['activity', 'sleep', 'sleep_cycle', 'steps'],
      ],
      [
        'apple_health_kit',
        ['BloodPressureSystolic', 'BloodPressureDiastolic'].map((name) => `HKQuantityTypeIdentifier${name}`),
        ['blood_pressure'],
      ],
      [
        'apple_health_kit',
        ['HKWorkoutTypeIdentifier', 'HKDataTypeIdentifierElectrocardiogram', 'HKCharacteristicTypeIdentifierDateOfBirth'],
        ['electrocardiogram', 'electrocardiogram_voltage', 'profile', 'workout_stream', 'workouts'],
      ],
      ['health_connect', [`${READ}SLEEP`, `${READ}HEART_RATE`, 'android.permission.health.WRITE_WEIGHT'], ['heartrate', 'sleep']],
      ['health_connect', [`${READ}HEALTH_DATA_IN_BACKGROUND`], []],
      ['samsung_health', ['read:HEART_RATE', 'read:SleepType', 'write:WATER_INTAKE'], ['heartrate', 'sleep']],
      ['samsung_health', ['heartrate'], ['heartrate']],
    ]
    for (const [provider, granted_permissions, expected] of cases) {
      const user_id = await team.user()
      await connect(team, provider, user_id, granted_permissions && { granted_permissions })
      const [{ resource_availability }] = await listConnections(team, user_id)
      const all = Object.entries(resource_availability as Record<string, { status: string }>)
      const available = all.flatMap(([name, { status }]) => (status === 'available' ? [name] : []))
      if (expected === 'all') assert(all.every(([, { status }]) => status === 'available'))
      else assert.deepEqual(available.toSorted(), expected, `${granted_permissions}`)
    }
  })

  test('has a permission for each resource of a phone', async () => {
    for (const provider of ['apple_health_kit', 'health_connect', 'samsung_health'] as const) {
      const { resources } = providerOf(provider)
      const every = new Set(permissionNames(provider).flatMap(({ resource }) => resource))
      const unknown = resources.filter((resource) => !every.has(resource))
      assert.deepEqual(unknown, provider === 'samsung_health' ? ['hrv', 'respiratory_rate', 'menstrual_cycle'] : [], provider)
    }
  })

  test('rejects unknown users, users of another team, and providers whose data phones do not send', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    for (const user_id of [randomUUID(), await other.user()]) {
      const { status, body } = await connect(team, 'apple_health_kit', user_id)
      assert.deepEqual([status, body], [404, { detail: 'User not found' }])
      assert.equal((await team.api.get(`/v2/user/providers/${user_id}`)).status, 404)
      assert.equal((await team.api.delete(`/v2/user/${user_id}/apple_health_kit`)).status, 404)
    }
    for (const provider of ['oura', 'token of nobody', '__proto__'])
      assert.equal((await connect(team, encodeURIComponent(provider), await team.user())).status, 422, provider)
  })
})

describe('a connection that needs the user again', () => {
  for (const status of ['error', 'paused'])
    test(`is connected again from ${status} by the phone, keeps its time of creation, and emits the event again`, async () => {
      const team = await createTestTeam()
      const user_id = await team.user()
      await connect(team, 'manual', user_id)
      const [before] = await listConnections(team, user_id)
      await fail(team, user_id, status)
      const [broken] = await listConnections(team, user_id)
      assert.equal(broken.status, status)
      assert.deepEqual(
        broken.error_details,
        status === 'error' ? { error_type: 'unknown', error_message: 'Test', errored_at: '2026-01-01T00:00:00+00:00' } : null,
      )
      const { body } = await team.api.get('/v2/user/metrics')
      assert.equal(body.number_of_errored_connected_sources, status === 'error' ? 1 : 0)
      await connect(team, 'manual', user_id)
      assert.deepEqual(await listConnections(team, user_id), [before])
      assert.equal((await events(team, user_id)).length, 2)
    })
})

describe('ending connections', () => {
  test('ends one connection without an event; a new one emits it', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await connect(team, 'apple_health_kit', user_id)
    await connect(team, 'omron_ble', user_id)
    const { status, body } = await team.api.delete(`/v2/user/${user_id}/apple_health_kit`)
    assert.deepEqual([status, body], [200, { success: true }])
    const again = await team.api.delete(`/v2/user/${user_id}/apple_health_kit`)
    assert.deepEqual([again.status, again.body], [404, { detail: 'The user has no connection to this provider' }])
    assert.deepEqual(
      (await listConnections(team, user_id)).map((connection: { slug: string }) => connection.slug),
      ['omron_ble'],
    )
    assert.equal((await team.api.get(`/v2/user/${user_id}`)).body.connected_sources.length, 1)
    assert.equal((await events(team, user_id)).length, 2)
    await connect(team, 'apple_health_kit', user_id)
    assert.equal((await events(team, user_id)).length, 3)
  })

  test('ends all connections of a deleted user; undoing the deletion restores no connection', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await connect(team, 'apple_health_kit', user_id)
    await connect(team, 'manual', user_id)
    await team.api.delete(`/v2/user/${user_id}`)
    assert.equal((await connect(team, 'manual', user_id)).status, 404)
    assert.equal((await team.api.get(`/v2/user/providers/${user_id}`)).status, 404)
    assert.equal((await team.api.get('/v2/user/metrics')).body.number_of_connected_sources, 0)
    await team.api.post(`/v2/user/undo_delete?user_id=${user_id}`)
    assert.deepEqual(await listConnections(team, user_id), [])
    assert.deepEqual((await team.api.get(`/v2/user/${user_id}`)).body.connected_sources, [])
  })
})

test('the counts of a team show its connections and the new and total connections of each week', async () => {
  const [team, other] = [await createTestTeam(), await createTestTeam()]
  await connect(other, 'manual', await other.user())
  const users = [await team.user(), await team.user(), await team.user()]
  for (const user_id of users) await connect(team, 'manual', user_id)
  const at = ['2026-01-05', '2026-01-11', '2026-01-12']
  for (const [n, user_id] of users.entries())
    await asOwner('update sandbox_us.connection set created_at = $3::timestamptz where team_id = $1 and user_id = $2', [
      team.team,
      user_id,
      `${at[n]} 23:59:59+00`,
    ])
  const { body } = await team.api.get('/v2/user/metrics')
  assert.equal(body.number_of_connected_sources, 3)
  assert.deepEqual(body.number_of_connected_sources_by_week, [
    { date: '2026-01-05T00:00:00+00:00', value: 2, all: 2 },
    { date: '2026-01-12T00:00:00+00:00', value: 1, all: 3 },
  ])
})

test('the list of providers shows the providers that users can be connected to, and can be limited to one kind', async () => {
  const { api } = await createTestTeam()
  const all = (await api.get('/v2/providers')).body
  const unauthenticated = await fetch(`${url}/v2/providers`)
  assert.deepEqual([unauthenticated.status, await unauthenticated.json()], [200, all])
  assert.deepEqual(Object.keys(all[0]).sort(), ['auth_type', 'description', 'logo', 'name', 'slug', 'supported_resources'])
  const slugs = async (source_type: string) =>
    (await api.get(`/v2/providers/?source_type=${source_type}`)).body.map(({ slug }: { slug: string }) => slug)
  assert.deepEqual(await slugs('sdk'), ['apple_health_kit', 'health_connect', 'samsung_health'])
  const vendors = ['dexcom_v3', 'google_health', 'oura', 'polar', 'strava', 'whoop_v2', 'withings']
  assert.deepEqual((await slugs('team_oauth')).toSorted(), vendors)
  assert.deepEqual((await slugs('app')).toSorted(), [
    'accuchek_ble',
    'beurer_ble',
    'contour_ble',
    'freestyle_libre_ble',
    'omron_ble',
    'onetouch_ble',
  ])
  assert.deepEqual(await slugs(''), ['manual'])
  // No provider is reached with credentials of this installation, with a password or with an e-mail address.
  for (const kind of ['oauth', 'password', 'email']) assert.deepEqual(await slugs(kind), [], kind)
  const kinds = await Promise.all(['sdk', 'team_oauth', 'app', ''].map(slugs))
  assert.deepEqual(kinds.flat().toSorted(), all.map(({ slug }: { slug: string }) => slug).toSorted())
})

test('connections in error are listed with their users, page by page, for the team alone', async () => {
  const [team, other] = [await createTestTeam(), await createTestTeam()]
  const ids = [await team.user(), await team.user(), await team.user()]
  for (const user_id of ids) await connect(team, 'apple_health_kit', user_id)
  for (const user_id of ids.slice(0, 2)) await fail(team, user_id, 'error')
  const list = async (query = '', { api } = team) => (await api.get(`/console/v1/failing_connections${query}`)).body
  const all = await list()
  assert.deepEqual(all.data.map(({ user_id }: { user_id: string }) => user_id).toSorted(), ids.slice(0, 2).toSorted())
  const { id: _, user_id: _user, ...row } = all.data[0]
  assert.deepEqual(row, {
    provider: 'apple_health_kit',
    provider_name: 'Apple HealthKit',
    error_type: 'unknown',
    errored_at: '2026-01-01T00:00:00+00:00',
  })
  const first = await list('?limit=1')
  assert.deepEqual([...first.data, ...(await list(`?limit=1&next_cursor=${first.next_cursor}`)).data], all.data)
  assert.deepEqual(await list('', other), { data: [], next_cursor: null })
  await team.api.delete(`/v2/user/${ids[0]}`)
  assert.deepEqual(
    (await list()).data.map(({ user_id }: { user_id: string }) => user_id),
    [ids[1]],
  )
})
