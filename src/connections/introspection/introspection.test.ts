// What a team sees of what came in. Source: users-wearables.md 5, 13.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { sentSample, DAY, events, post, watch } from '../../../test/support/samples.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const resources = async ({ api }: TestTeam, query = '') => (await api.get(`/v2/introspect/resources${query}`)).body
const pulls = async ({ api }: TestTeam, query = '') => (await api.get(`/v2/introspect/historical_pull${query}`)).body
const connect = ({ api }: TestTeam, user_id: string, granted_permissions?: string[]) =>
  api.post('/v2/link/provider/manual/apple_health_kit', { user_id, granted_permissions })
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/
const never = { last_attempt: null, oldest_data: null, newest_data: null, sent_count: 0 }

describe('resources of users', () => {
  test('shows the newest and oldest data, the last attempt, and the number of new and changed samples', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await connect(team, user_id, ['heartrate', 'steps'])
    assert.deepEqual(await resources(team), {
      data: [{ user_id, provider: { apple_health_kit: { heartrate: never, steps: never } } }],
      next: null,
      next_cursor: null,
    })
    await post(team, user_id, 'heartrate', [sentSample('09:30:00.900', 70, watch), sentSample('09:00:00', 60)])
    await post(team, user_id, 'heartrate', [sentSample('09:00:00', 61), sentSample('09:10:00', 61)])
    await post(team, user_id, 'heartrate', [sentSample('09:10:00', 61)])
    const { heartrate, steps } = (await resources(team)).data[0].provider.apple_health_kit
    assert.deepEqual(steps, never)
    const { last_attempt, ...data } = heartrate
    assert.match(last_attempt.timestamp, INSTANT)
    assert.equal(last_attempt.status, 'success')
    assert.deepEqual(data, { oldest_data: `${DAY}T09:00:00+00:00`, newest_data: `${DAY}T09:30:00+00:00`, sent_count: 4 })
  })

  test('show a pulse that came with a blood pressure, and an attempt without samples', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const one = (value: number) => sentSample('09:30:00', value)
    await post(team, user_id, 'blood_pressure', [{ systolic: one(118), diastolic: one(76), pulse: one(61) }])
    await post(team, user_id, 'temperature', [])
    const { blood_pressure, heartrate, body_temperature } = (await resources(team)).data[0].provider.apple_health_kit
    const noon = { oldest_data: `${DAY}T09:30:00+00:00`, newest_data: `${DAY}T09:30:00+00:00`, sent_count: 1 }
    for (const { last_attempt: _, ...data } of [blood_pressure, heartrate]) assert.deepEqual(data, noon)
    assert.match(body_temperature.last_attempt.timestamp, INSTANT)
    assert.deepEqual({ ...body_temperature, last_attempt: null }, never)
  })

  test('show the failure of a post that is rejected and nothing else of it, and ignore samples that are dropped', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await team.api.patch(`/v2/user/${user_id}`, { ingestion_start: '2026-02-10' })
    await connect(team, user_id, ['heartrate'])
    assert.equal((await post(team, user_id, 'heartrate', [sentSample('09:30:00', 'NaN' as never)])).status, 422)
    const heartrate = async () => (await resources(team)).data[0].provider.apple_health_kit.heartrate
    const failed = await heartrate()
    assert.deepEqual({ ...failed, last_attempt: failed.last_attempt.status }, { ...never, last_attempt: 'failure' })
    await post(team, user_id, 'heartrate', [sentSample('09:30:00', 70)])
    assert.deepEqual({ ...(await heartrate()), last_attempt: null }, never)
    assert.equal((await heartrate()).last_attempt.status, 'success')
  })

  test('stay when a connection ends, and are hidden while their user is deleted', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await post(team, user_id, 'heartrate', [sentSample('09:30:00', 70)])
    await team.api.delete(`/v2/user/${user_id}/apple_health_kit`)
    assert.deepEqual(Object.keys((await resources(team)).data[0].provider.apple_health_kit), ['heartrate'])
    await team.api.delete(`/v2/user/${user_id}`)
    assert.deepEqual((await resources(team)).data, [])
    await team.api.post(`/v2/user/undo_delete?user_id=${user_id}`)
    assert.equal((await resources(team)).data.length, 1)
  })
})

describe('pages of users', () => {
  test('hold user_limit users each, and lead through all of them once', async () => {
    const team = await createTestTeam()
    const users = await Promise.all([team.user(), team.user(), team.user()])
    await connect(team, users[0])
    await connect(team, users[1])
    await post(team, users[1], 'heartrate', [sentSample('09:30:00', 70)])
    await post(team, users[2], 'heartrate', [sentSample('09:30:00', 70)])
    await team.api.delete(`/v2/user/${users[2]}/apple_health_kit`)
    for (const name of ['cursor', 'next_cursor']) {
      const found: string[] = []
      for (let next: string | null = ''; next !== null;) {
        const page = await resources(team, `?user_limit=1${next && `&${name}=${next}`}`)
        assert.equal(page.data.length, 1)
        assert.equal(page.next, page.next_cursor)
        found.push(page.data[0].user_id)
        next = page.next_cursor
      }
      assert.deepEqual(found, users.toSorted())
    }
    const { next_cursor } = await pulls(team, '?user_limit=1')
    assert.equal((await team.api.get(`/v2/introspect/resources?next_cursor=${next_cursor}`)).status, 400)
    const ofOne = await pulls(team, `?user_limit=1&next_cursor=${next_cursor}`)
    assert.deepEqual([ofOne.data.length, ofOne.next_cursor], [1, null])
  })

  test('keep one user or one provider; a laboratory has no histories', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const [one, two] = [await team.user(), await team.user()]
    await post(team, one, 'heartrate', [sentSample('09:30:00', 70)])
    await post(team, two, 'heartrate', [sentSample('09:30:00', 70)], { provider: 'health_connect' })
    await connect(team, two)
    const ids = ({ data }: { data: { user_id: string }[] }) => data.map(({ user_id }) => user_id)
    for (const read of [resources, pulls]) {
      assert.deepEqual(ids(await read(team, `?user_id=${two}`)), [two])
      assert.deepEqual(ids(await read(team, '?provider=apple_health_kit')), [one, two].toSorted())
      const { data } = await read(team, '?provider=health_connect')
      assert.deepEqual([ids({ data }), Object.keys(data[0].provider)], [[two], ['health_connect']])
      assert.deepEqual(ids(await read(team, '?provider=oura')), [])
      for (const user_id of [randomUUID(), await other.user()]) assert.deepEqual(ids(await read(team, `?user_id=${user_id}`)), [])
      assert.deepEqual(ids(await read(other)), [])
    }
    assert.deepEqual(ids(await pulls(team, '?provider=quest')), [])
    const wrong = ['resources?provider=quest', 'resources?user_limit=0', 'resources?user_limit=101', 'historical_pull?user_id=1']
    for (const query of wrong) assert.equal((await team.api.get(`/v2/introspect/${query}`)).status, 422, query)
  })
})

describe('histories of users', () => {
  const range = { stage: 'historical', start_date: '2026-01-01T00:00:00Z', end_date: '2026-01-31T23:59:59Z' }
  const sent = (day: string, overrides: object = {}) => ({
    ...sentSample('09:30:00', 70),
    start_date: `2026-01-${day}T09:30:00Z`,
    end_date: `2026-01-${day}T09:30:00Z`,
    ...overrides,
  })
  const heartrate = async (team: TestTeam) => (await pulls(team)).data[0].provider.apple_health_kit.pulled.heartrate

  test('are in progress until the last post, and then show the days with data', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await connect(team, user_id, ['heartrate', 'steps'])
    assert.deepEqual((await pulls(team)).data, [
      { user_id, provider: { apple_health_kit: { pulled: {}, not_pulled: ['heartrate', 'steps'] } } },
    ])
    await post(team, user_id, 'heartrate', [sent('03'), sent('04', watch)], { ...range, is_final_chunk: false })
    const [started] = (await pulls(team)).data
    assert.deepEqual(started.provider.apple_health_kit.not_pulled, ['steps'])
    const { timeline, release, ...rest } = started.provider.apple_health_kit.pulled.heartrate
    assert.deepEqual(rest, {
      status: 'in_progress',
      range_start: '2026-01-01T00:00:00+00:00',
      range_end: '2026-01-31T23:59:59+00:00',
      days_with_data: 0,
      trace_id: null,
      error_details: null,
    })
    assert.match(release, /^\d+\.\d+\.\d+/)
    assert.match(timeline.started_at, INSTANT)
    assert.deepEqual(timeline, { scheduled_at: timeline.started_at, started_at: timeline.started_at, ended_at: null })
    await post(team, user_id, 'heartrate', [sent('03', watch), sent('05')], range)
    const finished = await heartrate(team)
    assert.deepEqual([finished.status, finished.days_with_data], ['success', 3])
    assert.match(finished.timeline.ended_at, INSTANT)
  })

  test('that are complete stay so when their posts are repeated, and emit one notice', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const [first, last] = [[sent('03')], [sent('05')]]
    const unknownRange = { stage: 'historical' }
    for (const envelope of [unknownRange, range])
      for (let i = 0; i < 2; i++) {
        await post(team, user_id, 'heartrate', first, { ...envelope, is_final_chunk: false })
        await post(team, user_id, 'heartrate', last, envelope)
        assert.equal((await heartrate(team)).status, 'success')
      }
    await post(team, user_id, 'heartrate', first, { ...range, is_final_chunk: false })
    assert.equal((await heartrate(team)).status, 'success')
    const notices = (await events(team)).filter(({ event_type }) => event_type.startsWith('historical'))
    assert.deepEqual(
      notices.map(({ data }) => [data.start_date, data.end_date]),
      [
        ['2026-01-03T09:30:00+00:00', '2026-01-05T09:30:00+00:00'],
        ['2026-01-01T00:00:00+00:00', '2026-01-31T23:59:59+00:00'],
      ],
    )
  })

  test('begin again when the connection does', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await post(team, user_id, 'heartrate', [sent('03')], range)
    await team.api.delete(`/v2/user/${user_id}/apple_health_kit`)
    assert.deepEqual((await pulls(team)).data, [])
    await connect(team, user_id, ['heartrate'])
    assert.deepEqual((await pulls(team)).data[0].provider.apple_health_kit, { pulled: {}, not_pulled: ['heartrate'] })
  })
})
