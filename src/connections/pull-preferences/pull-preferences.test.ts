import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { createAnotherTeam, createBoundKey } from '../../../test/support/teams.ts'

const HERE = '/team_data_pull_preferences/sandbox/us'
const days = (n: number) => ({ historical_days_to_pull: n })
const limited = (n: number, limit = 365) => ({ historical_days_to_pull: n, historical_days_to_pull_limit: limit })
const read = async (org: TestTeam, query = '') => (await org.manage.get(HERE + query)).body.data_pull_preferences
const set = (org: TestTeam, providers: object, team_ids = [org.team]) => org.manage.post(HERE, { team_ids, providers })

/** Source: management-auth.md 14. */
const usual = {
  abbott_libreview: 90,
  fitbit: 90,
  garmin: 90,
  google_fit: 90,
  oura: 180,
  peloton: 180,
  strava: 14,
  wahoo: 180,
  whoop_v2: 180,
  zwift: 270,
  withings: 90,
  eight_sleep: 90,
  apple_health_kit: 30,
  health_connect: 30,
  hammerhead: 30,
  dexcom_v3: 30,
  dexcom: 1,
  my_fitness_pal_v2: 14,
  polar: 28,
  cronometer: 28,
  kardia: 30,
}

describe('data pull preferences', () => {
  test('returns the defaults of the table if nothing is set', async () => {
    const org = await createTestTeam()
    const [{ team_id, providers }, ...more] = await read(org)
    assert.deepEqual([team_id, more], [org.team, []])
    for (const [name, n] of Object.entries(usual)) {
      const limit = ['abbott_libreview', 'health_connect', 'dexcom', 'polar'].includes(name) ? n : 365
      assert.deepEqual(providers[name].default, limited(n, limit), name)
    }
    assert.equal(providers.oura.resource_overrides, null)
    assert.deepEqual(providers.fitbit.resource_overrides.heartrate, limited(14, 14))
  })

  test("a preference replaces the provider's default, and the response shows it", async () => {
    const org = await createTestTeam()
    const oura = { default: days(60), resource_overrides: { sleep: days(365), heartrate: days(1) } }
    const { status, body } = await set(org, { oura, strava: { default: days(30) } })
    assert.equal(status, 200)
    assert.deepEqual(body.data_pull_preferences, await read(org))
    const [{ providers }] = body.data_pull_preferences
    assert.deepEqual(providers.oura, {
      default: limited(60),
      resource_overrides: { sleep: limited(365), heartrate: limited(1) },
    })
    await set(org, { oura: { default: days(61), resource_overrides: null } })
    const [{ providers: later }] = await read(org, '?provider=oura&provider=strava')
    assert.deepEqual(later, {
      oura: { default: limited(61), resource_overrides: null },
      strava: { default: limited(30), resource_overrides: null },
    })
  })

  test('a preference applies to one environment', async () => {
    const org = await createTestTeam()
    const team_id = await createAnotherTeam(org)
    await set(org, { oura: { default: days(60) } }, [team_id])
    const [{ providers }] = (await org.manage.get('/team_data_pull_preferences/production/us')).body.data_pull_preferences
    assert.deepEqual(providers.oura.default, limited(180))
  })

  test('rejects days outside 1 to 365 and unknown providers and resources, with every error', async () => {
    const org = await createTestTeam()
    const faults = async (providers: object, team_ids = [org.team]) => {
      const { status, body } = await set(org, providers, team_ids)
      assert.equal(status, 422)
      return body.detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.slice(1).join('.')} ${type}`)
    }
    assert.deepEqual(await faults({ oura: { default: days(0) }, strava: { default: days(366) }, nobody: {} }), [
      'providers.oura.default.historical_days_to_pull greater_than_equal',
      'providers.strava.default.historical_days_to_pull less_than_equal',
      'providers.nobody extra_forbidden',
    ])
    assert.deepEqual(await faults({ oura: { default: days(1), resource_overrides: { order: days(1) } } }), [
      'providers.oura.resource_overrides value_error',
    ])
    assert.deepEqual(await faults({ oura: { resource_overrides: { sleep: days(400) } } }), [
      'providers.oura.default missing',
      'providers.oura.resource_overrides.sleep.historical_days_to_pull less_than_equal',
    ])
    assert.deepEqual(await faults({}, []), ['team_ids too_short'])
  })

  test('rejects another value for a fixed provider, and changes nothing', async () => {
    const org = await createTestTeam()
    const oura = { default: days(60) }
    for (const [name, n] of Object.entries({
      abbott_libreview: 90,
      health_connect: 30,
      dexcom: 1,
      polar: 28,
      freestyle_libre: 90,
    })) {
      const { status, body } = await set(org, { oura, [name]: { default: days(n + 1) } })
      assert.deepEqual([status, typeof body.detail], [400, 'string'], name)
      const overridden = { default: days(n), resource_overrides: { sleep: days(n + 1) } }
      assert.equal((await set(org, { [name]: overridden })).status, 400, name)
      assert.equal((await set(org, { [name]: { default: days(n) } })).status, 200, name)
    }
    const heartrate = (n: number) => ({ fitbit: { default: days(30), resource_overrides: { heartrate: days(n) } } })
    assert.equal((await set(org, heartrate(15))).status, 400)
    assert.equal((await set(org, heartrate(14))).status, 200)
    const [{ providers }] = await read(org)
    assert.deepEqual([providers.oura.default, providers.fitbit.default], [limited(180), limited(30)])
  })

  test('lists the accessible teams, five a page, newest first', async () => {
    const org = await createTestTeam()
    const teams = [org.team]
    for (let i = 0; i < 6; i++) teams.unshift(await createAnotherTeam(org))
    const page = async (query: string) => (await org.manage.get(HERE + query)).body
    const first = await page('')
    const second = await page(`?next_cursor=${first.next_cursor}`)
    const ids = (body: { data_pull_preferences: { team_id: string }[] }) =>
      body.data_pull_preferences.map(({ team_id }) => team_id)
    assert.equal(ids(first).length, 5)
    assert.deepEqual([...ids(first), ...ids(second)].sort(), teams.toSorted())
    assert.equal(second.next_cursor, null)
    assert.equal(ids(await page('?limit=50')).length, 7)
    assert.deepEqual(ids(await page(`?team_id=${teams[0]}`)), [teams[0]])
    assert.deepEqual(ids(await page(`?team_id=${randomUUID()}`)), [])
    const bound = await createBoundKey(org, org.team)
    assert.deepEqual(ids((await bound.get(HERE)).body), [org.team])
    assert.deepEqual(ids((await bound.get(`${HERE}?team_id=${teams[0]}`)).body), [])
    assert.deepEqual(ids((await org.manage.get('/team_data_pull_preferences/sandbox/eu')).body), [])
    assert.equal((await org.manage.get(`${HERE}?limit=0`)).status, 422)
    assert.equal((await org.manage.get(`${HERE}?next_cursor=nonsense`)).status, 400)
  })

  test('sets preferences for all teams of a list, or for no team if one is invalid', async () => {
    const org = await createTestTeam()
    const apart = await createAnotherTeam(org)
    const europe = await createAnotherTeam(org, 'eu')
    const bound = await createBoundKey(org, org.team)
    const status = async (api: TestTeam['manage'], ...team_ids: string[]) =>
      (await api.post(HERE, { team_ids, providers: { oura: { default: days(60) } } })).status
    assert.equal(await status(bound, org.team, apart), 403)
    assert.equal(await status(org.manage, org.team, randomUUID()), 404)
    assert.equal(await status(org.manage, org.team, (await createTestTeam()).team), 404)
    assert.equal(await status(org.manage, org.team, europe), 400)
    assert.deepEqual((await read(org, `?team_id=${org.team}`))[0].providers.oura.default, limited(180))
    assert.equal(await status(org.manage, org.team, apart, apart), 200)
    for (const { providers } of await read(org)) assert.deepEqual(providers.oura.default, limited(60))
    const { data } = (await org.manage.get(`/team/${apart}/sandbox/audit`)).body
    assert.equal(data[0].operation, 'upsert_team_data_pull_preferences')
  })
})

describe('resetting data pull preferences', () => {
  const both = { oura: { default: days(60) }, strava: { default: days(60) } }
  const standing = async (org: TestTeam, team_id: string) => {
    const [{ providers }] = await read(org, `?team_id=${team_id}`)
    return ['oura', 'strava'].map((name) => providers[name].default.historical_days_to_pull)
  }

  test('resets the given teams and providers', async () => {
    const org = await createTestTeam()
    const apart = await createAnotherTeam(org)
    await set(org, both, [org.team, apart])
    const { status, body } = await org.manage.delete(`${HERE}?team_id=${org.team}&provider=oura`)
    assert.deepEqual([status, body], [200, {}])
    assert.deepEqual(
      [await standing(org, org.team), await standing(org, apart)],
      [
        [180, 60],
        [60, 60],
      ],
    )
    await org.manage.delete(`${HERE}?team_id=${org.team}`)
    assert.deepEqual(
      [await standing(org, org.team), await standing(org, apart)],
      [
        [180, 14],
        [60, 60],
      ],
    )
    await org.manage.delete(`${HERE}?provider=strava`)
    assert.deepEqual(await standing(org, apart), [60, 14])
  })

  test('skips teams that the key cannot access', async () => {
    const org = await createTestTeam()
    const apart = await createAnotherTeam(org)
    await set(org, both, [org.team, apart])
    const bound = await createBoundKey(org, org.team)
    assert.equal((await bound.delete(`${HERE}?team_id=${apart}`)).status, 200)
    assert.equal((await bound.delete(`${HERE}?provider=oura`)).status, 200)
    assert.equal((await (await createTestTeam()).manage.delete(`${HERE}?provider=strava`)).status, 200)
    assert.deepEqual(
      [await standing(org, org.team), await standing(org, apart)],
      [
        [180, 60],
        [60, 60],
      ],
    )
  })

  test('requires team_ids or providers', async () => {
    const org = await createTestTeam()
    await set(org, both)
    assert.equal((await org.manage.delete(HERE)).status, 422)
    assert.equal((await org.manage.delete(`${HERE}?provider=nobody`)).status, 422)
    assert.deepEqual(await standing(org, org.team), [60, 60])
  })
})
