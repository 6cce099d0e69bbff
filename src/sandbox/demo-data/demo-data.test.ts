// Demo connections: history, additions on the team's clock, the end. Source: users-wearables.md 1, 2.4.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { sentSample, post } from '../../../test/support/samples.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { timeseriesNames } from '../../wearables/resources/timeseries.ts'
import { summaryKinds } from '../../wearables/summaries/schema.ts'
import { demoProviders } from './demo-devices.ts'
import { createPerson } from './person.ts'
import { DAY_S } from '../../platform/runtime/durations.ts'

const connect = ({ api }: TestTeam, user_id: string, provider = 'oura', overrides: object = {}) =>
  api.post('/v2/link/connect/demo', { user_id, provider, ...overrides })
const advance = async ({ api }: TestTeam, duration: object) => {
  const { status, body } = await api.post('/v1/sandbox/clock/advance', duration)
  assert.deepEqual([status, body.complete], [200, true], JSON.stringify(body))
  return body
}
const START = '2031-03-10T00:30:00Z'
const RANGE = 'start_date=2031-02-01&end_date=2031-04-01'
const own = new Set([
  'id',
  'user_id',
  'created_at',
  'updated_at',
  'sleep_id',
  'workout_id',
  'team_id',
  'client_user_id',
  'object_id',
])
/** The same without ids and times of the database. */
const plain = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(plain)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).flatMap(([name, one]) => (own.has(name) ? [] : [[name, plain(one)]])))
      : value
const read = async ({ api }: TestTeam, path: string) => {
  const { status, body } = await api.get(path)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}
async function readEverything(team: TestTeam, user_id: string) {
  const all: unknown[] = []
  for (const kind of ['activity', 'sleep', 'sleep_cycle', 'workouts'])
    all.push(await read(team, `/v2/summary/${kind}/${user_id}?${RANGE}`))
  for (const name of ['hrv', 'heartrate']) {
    const { groups } = await read(team, `/v2/timeseries/${user_id}/${name}/grouped?start_date=2031-03-08&end_date=2031-03-13`)
    all.push(groups)
  }
  return plain(all)
}
/** Events about data that every destination gets, oldest first. */
async function listEvents(team: TestTeam) {
  const { rows } = await team.db.pool.query<{ type: string; body: string }>(
    `select e.type, b.body from event e join event_body b on b.event_id = e.id where e.team_id = $1 and not historical order by e.id`,
    [team.team],
  )
  return rows.map(({ type, body }) => [type, plain(JSON.parse(body))])
}
const demoUser = async (team: TestTeam, client_user_id = 'fictional-demo') =>
  (await team.api.post('/v2/user', { client_user_id, fallback_time_zone: 'America/Denver' })).body.user_id as string

describe('a demo connection', () => {
  test('has 30 days of history, which is announced, and more every two hours of the clock, some of it corrected', async () => {
    const team = await createTestTeam()
    await advance(team, { to: START })
    const user_id = await demoUser(team)
    const { status, body } = await connect(team, user_id)
    assert.deepEqual([status, body], [200, { success: true, detail: `Connected user ${user_id} to provider oura` }])
    await team.settle()
    const { activity } = await read(team, `/v2/summary/activity/${user_id}?${RANGE}`)
    assert.equal(activity.length, 31)
    const { sleep } = await read(team, `/v2/summary/sleep/${user_id}?${RANGE}`)
    assert.equal(sleep.length, 31)
    const types = async () => (await listEvents(team)).map(([type]) => type as string)
    const atFirst = await types()
    for (const type of ['provider.connection.created', 'historical.data.sleep.created', 'historical.data.heartrate.created'])
      assert(atFirst.includes(type), type)
    assert(!atFirst.some((type) => type.startsWith('daily.')))
    const { data } = await read(team, `/v2/introspect/historical_pull?user_id=${user_id}`)
    const { pulled } = data[0].provider.oura
    assert.deepEqual([pulled.heartrate.status, pulled.activity.days_with_data], ['success', 31])
    await advance(team, { seconds: 30 * 3600 })
    const later = (await types()).slice(atFirst.length)
    for (const type of [
      'daily.data.heartrate.created',
      'daily.data.sleep.created',
      'daily.data.sleep.updated',
      'daily.data.activity.updated',
    ])
      assert(later.includes(type), type)
    assert.equal((await read(team, `/v2/summary/sleep/${user_id}?${RANGE}`)).sleep.length, 32)
    assert.deepEqual((await team.jobs()).toSorted(), ['demo_data.expire_user', 'demo_data.write'])
  })

  test('has the same data and events for the same person and clock, whether the clock is moved at once or bit by bit', async () => {
    const run = async (steps_s: number[]) => {
      const team = await createTestTeam()
      await advance(team, { to: START })
      const user_id = await demoUser(team)
      await connect(team, user_id)
      await team.settle()
      for (const seconds of steps_s) await advance(team, { seconds })
      return { data: await readEverything(team, user_id), events: await listEvents(team) }
    }
    const atOnce = await run([20 * 3600])
    const bitByBit = await run([...Array<number>(9).fill(2 * 3600), 5000, 2200])
    assert.deepEqual(bitByBit.data, atOnce.data)
    assert.deepEqual(bitByBit.events, atOnce.events)
    assert(atOnce.events.length > 20)
  })

  test('of a glucose sensor has glucose and what its user logs; without timeseries it has summaries only', async () => {
    const team = await createTestTeam()
    const [sensor, ring] = [await demoUser(team, 'one'), await demoUser(team, 'two')]
    await connect(team, sensor, 'freestyle_libre')
    await connect(team, ring, 'oura', { timeseries: false })
    await team.settle()
    const resources = async (user_id: string) =>
      Object.entries((await read(team, `/v2/introspect/resources?user_id=${user_id}`)).data[0].provider).flatMap(([, of]) =>
        Object.entries(of as Record<string, { sent_count: number }>).flatMap(([name, { sent_count }]) =>
          sent_count ? [name] : [],
        ),
      )
    assert.deepEqual((await resources(sensor)).toSorted(), ['carbohydrates', 'glucose', 'insulin_injection', 'note'])
    assert.deepEqual((await resources(ring)).toSorted(), ['activity', 'profile', 'sleep', 'sleep_cycle', 'workouts'])
  })

  test('of a health store has measurements of the body and menstrual cycles, too', async () => {
    const team = await createTestTeam()
    const name = ['one', 'two', 'three', 'four', 'five'].find((seed) => createPerson(seed, 'UTC').sex === 'female')!
    const user_id = await demoUser(team, name)
    await connect(team, user_id, 'apple_health_kit', { timeseries: false })
    await team.settle()
    const { body } = await read(team, `/v2/summary/body/${user_id}?start_date=2020-01-01`)
    assert(body.length >= 4 && body[0].weight > 40)
    const { menstrual_cycle } = await read(team, `/v2/summary/menstrual_cycle/${user_id}?start_date=2020-01-01`)
    assert(menstrual_cycle.length >= 2)
    assert.equal(menstrual_cycle[0].menstrual_flow.length, 5)
    const profile = await read(team, `/v2/summary/profile/${user_id}`)
    assert.equal(profile.sex, 'female')
  })

  test('of each provider together fill every timeseries and every kind of summary, so that each can be tried', async () => {
    const team = await createTestTeam()
    const name = ['one', 'two', 'three', 'four', 'five'].find((seed) => createPerson(seed, 'UTC').sex === 'female')!
    const user_id = await demoUser(team, name)
    for (const provider of demoProviders) assert.equal((await connect(team, user_id, provider)).status, 200)
    await team.settle()
    await advance(team, { seconds: 6 * 3600 })
    const range = 'start_date=2020-01-01'
    for (const resource of timeseriesNames) {
      const { groups } = await read(team, `/v2/timeseries/${user_id}/${resource}/grouped?${range}`)
      assert(Object.keys(groups).length > 0, resource)
    }
    for (const kind of summaryKinds) {
      const body = await read(team, `/v2/summary/${kind}/${user_id}?${range}`)
      assert(kind === 'profile' ? body.height : Object.values(body as Record<string, unknown[]>)[0]!.length > 0, kind)
    }
    const { workouts } = await read(team, `/v2/summary/workouts/${user_id}?${range}`)
    for (const { id, source, average_hr, distance } of workouts) {
      const { time, ...lists } = await read(team, `/v2/timeseries/workouts/${id}/stream`)
      assert(time.length > 100, source.provider)
      for (const list of Object.values(lists as Record<string, unknown[]>)) assert([0, time.length].includes(list.length))
      const mean = lists.heartrate.reduce((sum: number, value: number) => sum + value, 0) / time.length
      assert(Math.abs(mean - average_hr) < 5, `${mean} and ${average_hr}`)
      assert(Math.abs((lists.distance.at(-1) ?? 0) - (distance ?? 0)) < 100)
    }
    assert(workouts.some(({ map }: { map: { polyline: string } | null }) => map?.polyline))
    const { sleep } = await read(team, `/v2/summary/sleep/${user_id}?${range}`)
    const night = await read(team, `/v2/timeseries/sleep/${sleep[0].id}/stream`)
    assert(night.heartrate.length > 50 && night.hypnogram.length > 5)
    const streams = (await read(team, '/v1/events?type=historical.data.workout_stream.created')).data
    assert.equal(streams.length, demoProviders.length - 1)
    const { data } = (await team.api.get(`/v2/introspect/rejected_posts?user_id=${user_id}`)).body
    assert.deepEqual(data, [])
  })

  test('records a sample on request, which another value at the same instant replaces', async () => {
    const team = await createTestTeam()
    const user_id = await demoUser(team)
    const sample = (body: object) => team.api.post('/v1/sandbox/demo/sample', { user_id, provider: 'fitbit', ...body })
    assert.equal((await sample({ resource: 'stress_level' })).status, 404)
    await connect(team, user_id, 'fitbit')
    assert.equal((await sample({ resource: 'stress_level' })).status, 409)
    await team.settle()
    const { status, body } = await sample({ resource: 'stress_level', value: 41 })
    assert.equal(status, 200)
    const { timestamp } = body
    assert.equal((await sample({ resource: 'stress_level', value: 42, timestamp })).status, 200)
    const types = (await listEvents(team)).map(([type]) => type as string).filter((type) => type.startsWith('daily.'))
    assert.deepEqual(types, ['daily.data.stress_level.created', 'daily.data.stress_level.updated'])
    const { groups } = await read(team, `/v2/timeseries/${user_id}/stress_level/grouped?start_date=2020-01-01`)
    const found = groups.fitbit[0].data.filter((sample: { timestamp: string }) => sample.timestamp === timestamp)
    assert.deepEqual(
      found.map(({ value }: { value: number }) => value),
      [42],
    )
    for (const [wrong, at] of [
      [{ resource: 'glucose' }, 'resource'],
      [{ resource: 'stress_level', value: 'high' }, 'value'],
      [{ resource: 'stress_level', value: 400 }, 'value'],
      [{ resource: 'stress_level', timestamp: '9999-01-01T00:00:00Z' }, 'timestamp'],
    ] as const) {
      const refused = await sample(wrong)
      assert.deepEqual([refused.status, refused.body.detail[0].loc], [422, ['body', at]], JSON.stringify(wrong))
    }
    await connect(team, user_id, 'freestyle_libre')
    await team.settle()
    const note = { provider: 'freestyle_libre', resource: 'note', value: 'A fictional dinner' }
    assert.equal((await sample(note)).status, 200)
    const notes = await read(team, `/v2/timeseries/${user_id}/note/grouped?start_date=2020-01-01`)
    assert.equal(notes.groups.freestyle_libre[0].data.filter((entry: { value: string }) => entry.value === note.value).length, 1)
    assert.equal((await sample({ ...note, value: 7 })).status, 422)
  })

  test('ends in an error on request, and begins again when the user connects again', async () => {
    const team = await createTestTeam()
    const user_id = await demoUser(team)
    const fail = () =>
      team.api.post('/v1/sandbox/demo/error', { user_id, provider: 'oura', error_type: 'deregistered_per_provider' })
    assert.equal((await fail()).status, 404)
    await connect(team, user_id, 'oura', { timeseries: false })
    await team.settle()
    assert.equal((await fail()).status, 200)
    assert.equal((await fail()).status, 409)
    const { providers } = await read(team, `/v2/user/providers/${user_id}`)
    assert.deepEqual([providers[0].status, providers[0].error_details.error_type], ['error', 'deregistered_per_provider'])
    const ended = await read(team, '/v1/events?type=provider.connection.error')
    assert.equal(ended.data[0].body.data.error_type, 'deregistered_per_provider')
    await connect(team, user_id, 'oura', { timeseries: false })
    const again = await read(team, `/v2/user/providers/${user_id}`)
    assert.equal(again.providers[0].status, 'connected')
    const production = await createTestTeam('production-us')
    const elsewhere = { user_id: await production.user(), provider: 'oura', error_type: 'unknown' }
    assert.equal((await production.api.post('/v1/sandbox/demo/error', elsewhere)).status, 404)
  })

  test('that is repeated changes nothing; one that has ended gets no more data', async () => {
    const team = await createTestTeam()
    const user_id = await demoUser(team)
    await connect(team, user_id, 'freestyle_libre')
    await team.settle()
    const { body } = await connect(team, user_id, 'freestyle_libre')
    assert.equal(body.success, true)
    assert.deepEqual((await team.jobs()).toSorted(), ['demo_data.expire_user', 'demo_data.write'])
    await team.api.delete(`/v2/user/${user_id}/freestyle_libre`)
    const before = (await listEvents(team)).length
    await advance(team, { seconds: 8 * DAY_S })
    assert.equal((await listEvents(team)).length, before)
    assert.equal((await team.api.get(`/v2/user/${user_id}`)).status, 200)
    assert.deepEqual(await team.jobs(), [])
  })

  test('ends after seven days with its user', async () => {
    const team = await createTestTeam()
    const user_id = await demoUser(team)
    await connect(team, user_id, 'freestyle_libre', { timeseries: false })
    await advance(team, { seconds: 6.9 * DAY_S })
    assert.equal((await team.api.get(`/v2/user/${user_id}`)).status, 200)
    await advance(team, { seconds: 0.2 * DAY_S })
    assert.equal((await team.api.get(`/v2/user/${user_id}`)).status, 404)
    await advance(team, { seconds: 7 * DAY_S })
    const { rows } = await team.db.pool.query('select 1 from demo_connection where team_id = $1', [team.team])
    assert.deepEqual(rows, [])
  })
})

describe('demo connections and others of one user', () => {
  test('exclude each other', async () => {
    const team = await createTestTeam()
    const [demo, real] = [await demoUser(team, 'demo'), await demoUser(team, 'real')]
    await connect(team, demo, 'apple_health_kit', { timeseries: false })
    assert.equal((await connect(team, demo, 'oura', { timeseries: false })).status, 200)
    const manual = (user_id: string, provider: string) => team.api.post(`/v2/link/provider/manual/${provider}`, { user_id })
    for (const provider of ['apple_health_kit', 'manual']) {
      const { status, body } = await manual(demo, provider)
      assert.deepEqual([status, body.detail.error_type], [400, 'INVALID_REQUEST'])
      assert.equal((await post(team, demo, 'heartrate', [sentSample('09:30:00', 61)], { provider })).status, 400)
    }
    const state = await team.api.post(`/v2/user/${demo}/sdk_sync_state/apple_health_kit`, { tzinfo: 'UTC' })
    assert.equal(state.body.status, 'paused')
    await manual(real, 'manual')
    assert.equal((await connect(team, real)).status, 400)
    const { providers } = await read(team, `/v2/user/providers/${real}`)
    assert.equal(providers.length, 1)
  })

  test('are of sandboxes and of known users and providers', async () => {
    const [team, production] = [await createTestTeam(), await createTestTeam('production-us')]
    assert.equal((await connect(team, randomUUID())).status, 404)
    assert.equal((await connect(team, await team.user(), 'garmin')).status, 422)
    assert.equal((await connect(production, await production.user())).status, 404)
  })
})
