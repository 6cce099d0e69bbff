// Streams of workouts that phones post, and the deprecated streams of nights. Source: users-wearables.md 11, 16.6; events.md 4.3.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sentSample, counts, DAY, events, post, read, types } from '../../../test/support/samples.ts'
import { list, ofKind, postSummary } from '../../../test/support/summaries.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const START = `${DAY}T09:00:00Z`
const START_S = Date.parse(START) / 1000
const watch = { source_bundle: 'com.apple.health.0000', product_type: 'Watch6,1' }
const phone = { source_bundle: 'com.apple.health.0001', product_type: 'iPhone14,5' }

/** Values of a component, each of so many seconds. */
const part = (value: number[], seconds: number, source: object = watch, length = seconds) => ({
  anchor: START,
  value,
  start_offset: value.map((_, i) => i * seconds),
  end_offset: value.map((_, i) => i * seconds + length),
  ...source,
})
const workout = (components: object | undefined, overrides: object = {}) => ({
  id: 'workout-0001',
  sport: 'Open Water Swim',
  start_date: START,
  end_date: `${DAY}T12:00:00Z`,
  ...watch,
  ...(components && { stream: { components } }),
  ...overrides,
})
const workoutIn = async (team: TestTeam, user_id: string) => (await list(team, 'workouts', user_id)).workouts[0]
const readStream = async ({ api }: TestTeam, id: string) => (await api.get(`/v2/timeseries/workouts/${id}/stream`)).body

describe('the stream of a workout', () => {
  test('has lists of one length by second, with gaps as null and distances as running totals', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const components = {
      heart_rate: [part([120.4, 125, 130], 5, watch, 0)],
      distance_swimming: [part([10, 12], 5)],
      swimming_stroke_count: [part([4, 5], 5)],
      of_a_later_version: [part([1], 5)],
    }
    await postSummary(team, 'workouts', user_id, [workout(components)])
    const { id } = await workoutIn(team, user_id)
    const stream = await readStream(team, id)
    assert.deepEqual(
      { ...stream, time: stream.time.map((second: number) => second - START_S) },
      {
        time: [0, 5, 10],
        cadence: [],
        altitude: [],
        velocity_smooth: [],
        heartrate: [120, 125, 130],
        lat: [],
        lng: [],
        distance: [null, 10, 22],
        power: [],
        resistance: [],
        temperature: [],
      },
    )
    const [distances] = (await read(team, user_id, 'workout_distance')).groups.apple_health_kit
    assert.deepEqual(
      [distances.source.workout_id, distances.source.sport, distances.source.type],
      [id, 'open_water_swimming', 'watch'],
    )
    assert.deepEqual(
      distances.data.map((distance: { value: number; end: string; unit: string }) => [
        distance.value,
        distance.end.slice(11, 19),
        distance.unit,
      ]),
      [
        [10, '09:00:05', 'm'],
        [12, '09:00:10', 'm'],
      ],
    )
    const [strokes] = (await read(team, user_id, 'workout_swimming_stroke')).groups.apple_health_kit
    assert.deepEqual(
      strokes.data.map((stroke: { value: number }) => stroke.value),
      [4, 5],
    )
  })

  test('is announced when it can be read: once, and again when it changes', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const replies = []
    for (const value of [[10], [10], [10, 12]])
      replies.push(counts((await postSummary(team, 'workouts', user_id, [workout({ distance_running: [part(value, 5)] })])).body))
    assert.deepEqual(replies, [
      [3, 3, 0, 0],
      [3, 0, 0, 0],
      [4, 1, 1, 0],
    ])
    const shallow = await ofKind(team, 'workout_stream')
    assert.deepEqual(types(shallow), ['daily.data.workout_stream.created', 'daily.data.workout_stream.updated'])
    const { id, sport, source, provider_id } = await workoutIn(team, user_id)
    const { message, ...data } = shallow[0]!.data as unknown as Record<string, unknown>
    assert.ok(message)
    assert.deepEqual(data, { provider_id, workout_id: id, sport, source, user_id })
    assert.deepEqual((await readStream(team, id)).distance, [10, 22])
  })

  test('of two devices that recorded one distance only one counts', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await postSummary(team, 'workouts', user_id, [
      workout({ distance_cycling: [part([100, 100], 5, phone), part([90, 90], 5, watch), part([95, 95, 95], 5, phone)] }),
    ])
    const { id } = await workoutIn(team, user_id)
    assert.deepEqual((await readStream(team, id)).distance, [90, 180])
  })

  test('of three hours is read whole, and stays when its workout is posted without it', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const values = Array.from({ length: 3 * 3600 }, (_, i) => 100 + (i % 60))
    const components = {
      heart_rate: [part(values, 1, watch, 0)],
      power: [part(values, 1, watch, 0)],
      altitude: [part(values, 1, watch, 0)],
    }
    await postSummary(team, 'workouts', user_id, [workout(components)])
    await postSummary(team, 'workouts', user_id, [workout(undefined)])
    const { id } = await workoutIn(team, user_id)
    const stream = await readStream(team, id)
    assert.deepEqual([stream.time.length, stream.heartrate.length, stream.power.at(-1)], [10_800, 10_800, values.at(-1)])
    assert.equal((await ofKind(team, 'workout_stream')).length, 1)
  })

  test('is empty for a workout without one, and not found for another team, a deleted user and an unknown id', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const user_id = await team.user()
    await postSummary(team, 'workouts', user_id, [workout(undefined)])
    const { id } = await workoutIn(team, user_id)
    assert.deepEqual(new Set(Object.values(await readStream(team, id)).map((values) => JSON.stringify(values))), new Set(['[]']))
    assert.equal((await other.api.get(`/v2/timeseries/workouts/${id}/stream`)).status, 404)
    assert.equal((await team.api.get(`/v2/timeseries/workouts/${user_id}/stream`)).status, 404)
    await team.api.delete(`/v2/user/${user_id}`)
    assert.equal((await team.api.get(`/v2/timeseries/workouts/${id}/stream`)).status, 404)
  })

  test('is dropped with its workout', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await team.api.patch(`/v2/user/${user_id}`, { ingestion_start: '2026-02-10' })
    const { body } = await postSummary(team, 'workouts', user_id, [workout({ distance_running: [part([10], 5)] })])
    assert.deepEqual(counts(body), [0, 0, 0, 2])
    assert.deepEqual(await events(team), [])
  })

  test('that is wrong is left out, and its workout is stored', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const wrong: [object, (string | number)[]][] = [
      [{ ...part([1, 2], 5), end_offset: [5] }, ['value']],
      [{ ...part([1], 5), anchor: '2025-01-31T09:00:00Z' }, ['start_offset', 0]],
      [{ ...part([1], 5), start_offset: [1e300], end_offset: [1e300] }, ['start_offset', 0]],
      [{ ...part([1], 5), start_offset: [10], end_offset: [5] }, ['start_offset', 0]],
    ]
    for (const [bad, place] of wrong) {
      const { body } = await postSummary(team, 'workouts', user_id, [workout({ heart_rate: [bad] })])
      assert.deepEqual([body.accepted, body.rejected], [1, 1])
      const [workout_id] = (await list(team, 'workouts', user_id)).workouts.map(({ id }: { id: string }) => id)
      assert.deepEqual((await team.api.get(`/v2/timeseries/workouts/${workout_id}/stream`)).body.time, [])
      const { data } = (await team.api.get(`/v2/introspect/rejected_posts?user_id=${user_id}`)).body
      const at = ['data', 0, 'stream', 'components', 'heart_rate', 0, ...place].join('.')
      assert(
        data.some((error: { error_message: string }) => error.error_message.startsWith(`${at}: `)),
        at,
      )
    }
  })

  test('has a history that ends with the last post, and no events of its own while it is received', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const historical = { stage: 'historical', start_date: '2026-01-01T00:00:00Z', end_date: `${DAY}T12:00:00Z` }
    const more = { ...historical, is_final_chunk: false }
    await postSummary(team, 'workouts', user_id, [workout({ heart_rate: [part([99], 5)] })], more)
    await postSummary(team, 'workouts', user_id, [], historical)
    assert.deepEqual(
      types(await events(team))
        .filter((type) => type.startsWith('historical.'))
        .toSorted(),
      ['historical.data.workout_stream.created', 'historical.data.workouts.created'],
    )
  })
})

describe('the stream of a night', () => {
  const stage = (start: string, end: string) => ({
    value: 1,
    unit: '',
    start_date: `${DAY}T${start}Z`,
    end_date: `${DAY}T${end}Z`,
  })
  const night = {
    id: 'night-0001',
    start_date: `${DAY}T05:00:00Z`,
    end_date: `${DAY}T13:00:00Z`,
    ...watch,
    heart_rate: [sentSample('06:00:00', 52, watch), sentSample('07:00:00', 50, watch)],
    respiratory_rate: [sentSample('06:00:00', 14, watch)],
    sleep_stages: {
      light_sleep_samples: [stage('05:00:00', '09:00:00')],
      deep_sleep_samples: [stage('09:00:00', '13:00:00')],
    },
  }

  test('has the samples of its source while it lasted and its stages, which are the timeseries hypnogram, too', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await postSummary(team, 'sleep', user_id, [night])
    await post(team, user_id, 'heartrate', [sentSample('06:30:00', 99, phone), sentSample('14:00:00', 80, watch)])
    const [{ id }] = (await list(team, 'sleep', user_id)).sleep
    const { body } = await team.api.get(`/v2/timeseries/sleep/${id}/stream`)
    const values = (name: string) => body[name].map((entry: { value: number }) => entry.value)
    assert.deepEqual([values('heartrate'), values('hrv'), values('respiratory_rate')], [[52, 50], [], [14]])
    assert.deepEqual(
      body.hypnogram.map((stage: Record<string, unknown>) => [stage.value, stage.unit, stage.start, stage.end]),
      [
        [2, 'stage', `${DAY}T05:00:00+00:00`, `${DAY}T09:00:00+00:00`],
        [1, 'stage', `${DAY}T09:00:00+00:00`, `${DAY}T13:00:00+00:00`],
      ],
    )
    const [listed] = (await team.api.get(`/v2/summary/sleep/${user_id}/stream?start_date=${DAY}`)).body.sleep
    assert.deepEqual([listed.id, listed.sleep_stream], [id, body])
    const [group] = (await read(team, user_id, 'hypnogram')).groups.apple_health_kit
    assert.deepEqual(group.data, body.hypnogram)
    assert.equal(group.source.type, 'watch')
    assert.deepEqual((await team.api.get(`/v2/timeseries/${user_id}/hypnogram?start_date=${DAY}`)).body, body.hypnogram)
    const late = await read(team, user_id, 'hypnogram', `start_date=${DAY}T08:00:00Z&end_date=${DAY}`)
    assert.deepEqual(late.groups.apple_health_kit[0].data.length, 1)
    assert.deepEqual((await read(team, user_id, 'hypnogram', `start_date=2026-02-02`)).groups, {})
  })

  test('is not found for another team and a deleted user', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    const user_id = await team.user()
    await postSummary(team, 'sleep', user_id, [night])
    const [{ id }] = (await list(team, 'sleep', user_id)).sleep
    assert.equal((await other.api.get(`/v2/timeseries/sleep/${id}/stream`)).status, 404)
    await team.api.delete(`/v2/user/${user_id}`)
    assert.equal((await team.api.get(`/v2/timeseries/sleep/${id}/stream`)).status, 404)
  })
})
