// Zones of heart rate that the server computes for workouts. Source: users-wearables.md 8; events.md 4.1 P5.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sentSample, counts, DAY, post, watch, type Sent } from '../../../test/support/samples.ts'
import { list, ofKind, postSummary } from '../../../test/support/summaries.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'

const START = `${DAY}T09:00:00Z`
/** An hour. */
const workout = (overrides: object = {}) => ({
  id: 'workout-0001',
  sport: 'Running',
  start_date: START,
  end_date: `${DAY}T10:00:00Z`,
  ...watch,
  ...overrides,
})
/** A stream with a heart rate every so many seconds. */
const withStream = (value: number[], seconds: number) =>
  workout({
    stream: {
      components: {
        heart_rate: [
          {
            anchor: START,
            value,
            start_offset: value.map((_, i) => i * seconds),
            end_offset: value.map((_, i) => i * seconds),
            ...watch,
          },
        ],
      },
    },
  })
const beat = (time: string, value: number, overrides: Partial<Sent> = {}) => sentSample(time, value, { ...watch, ...overrides })
const readWorkout = async (team: TestTeam, user_id: string, n = 0) => (await list(team, 'workouts', user_id)).workouts[n]
const readZones = async (team: TestTeam, user_id: string) => (await readWorkout(team, user_id)).hr_zones
const readEvents = async (team: TestTeam) =>
  (await ofKind(team, 'workouts')).map(({ event_type, data }) => [
    event_type.slice(11),
    (data as Record<string, unknown>).hr_zones,
  ])
const start = async () => {
  const team = await createTestTeam()
  return { team, user_id: await team.user() }
}

describe('heart rate zones of a workout whose source sends no zones', () => {
  test('are computed from its stream, already in the first event', async () => {
    const { team, user_id } = await start()
    // Of 190, without an age: below 50 % until 94, from 90 % on 171.
    const rates = [94, 95, 114, 133, 152, 170, 171]
    const sent = withStream(rates, 60)
    for (let i = 0; i < 2; i++) await postSummary(team, 'workouts', user_id, [sent])
    const zones = [60, 60, 60, 60, 120, 300]
    assert.deepEqual(await readZones(team, user_id), zones)
    assert.deepEqual(await readEvents(team), [['workouts.created', zones]])
    const { id } = await readWorkout(team, user_id)
    assert.deepEqual((await ofKind(team, 'workouts'))[0]!.data.id, id)
  })

  test('change when its stream comes later, or changes', async () => {
    const { team, user_id } = await start()
    await postSummary(team, 'workouts', user_id, [workout()])
    await post(team, user_id, 'heartrate', [beat('09:00:00', 180)])
    for (const rates of [[100], [100, 100], [100, 100], [150]])
      await postSummary(team, 'workouts', user_id, [withStream(rates, 60)])
    assert.deepEqual(await readEvents(team), [
      ['workouts.created', null],
      ['workouts.updated', [0, 0, 0, 0, 0, 300]],
      ['workouts.updated', [0, 300, 0, 0, 0, 0]],
      ['workouts.updated', [0, 360, 0, 0, 0, 0]],
      ['workouts.updated', [0, 0, 0, 300, 0, 0]],
    ])
    await post(team, user_id, 'heartrate', [beat('09:30:00', 180)])
    assert.deepEqual(await readZones(team, user_id), [0, 0, 0, 300, 0, 0])
  })

  test('are computed from stored heart rates between its ends, each for at most 5 minutes', async () => {
    const { team, user_id } = await start()
    await post(team, user_id, 'heartrate', [
      beat('08:59:59', 180),
      beat('09:10:00', 100),
      beat('09:12:00', 180),
      beat('09:58:00', 120),
      beat('10:00:00', 180),
    ])
    await postSummary(team, 'workouts', user_id, [workout()])
    assert.deepEqual(await readEvents(team), [['workouts.created', [0, 120, 120, 0, 0, 300]]])
  })

  test('change with heart rates that come later, once for each change, and with no others', async () => {
    const { team, user_id } = await start()
    await postSummary(team, 'workouts', user_id, [
      workout(),
      workout({ id: 'workout-0002', start_date: `${DAY}T12:00:00Z`, end_date: `${DAY}T13:00:00Z` }),
    ])
    await post(team, user_id, 'heartrate', [beat('08:59:00', 180), beat('10:00:00', 180), beat('11:00:00', 180)])
    await post(team, user_id, 'heartrate', [beat('09:30:00', 180)], { provider: 'health_connect' })
    await post(team, user_id, 'steps', [sentSample('09:30:00', 180, { unit: 'count' })])
    assert.deepEqual((await readEvents(team)).length, 2)
    const late = [beat('09:30:00', 100)]
    for (let i = 0; i < 2; i++) await post(team, user_id, 'heartrate', late)
    // Another value in the same zone changes nothing that is shown.
    await post(team, user_id, 'heartrate', [beat('09:30:00', 101)])
    await post(team, user_id, 'heartrate', [beat('09:30:00', 150)])
    assert.deepEqual((await readEvents(team)).slice(2), [
      ['workouts.updated', [0, 300, 0, 0, 0, 0]],
      ['workouts.updated', [0, 0, 0, 300, 0, 0]],
    ])
    assert.deepEqual((await readWorkout(team, user_id, 1)).hr_zones, null)
    const [created, , last] = await ofKind(team, 'workouts')
    assert.equal(last!.data.id, created!.data.id)
    assert.deepEqual(last!.data, {
      ...(await readWorkout(team, user_id)),
      hr_zones: [0, 300, 0, 0, 0, 0],
      updated_at: last!.data.updated_at,
    })
  })

  test('are of the age in the profile, else of the fallback birth date', async () => {
    const { team, user_id } = await start()
    const rates = [beat('09:30:00', 120)]
    await team.api.patch(`/v2/user/${user_id}`, { fallback_birth_date: '1966-01-31' })
    await post(team, user_id, 'heartrate', rates)
    await postSummary(team, 'workouts', user_id, [workout()])
    // 75 % of 160.
    assert.deepEqual(await readZones(team, user_id), [0, 0, 0, 300, 0, 0])
    await postSummary(team, 'profile', user_id, { date_of_birth: '2006-02-01', biological_sex: 'female' })
    await postSummary(team, 'workouts', user_id, [workout({ id: 'workout-0002' })])
    // 60 % of 201 is 120.6.
    const zones = (await list(team, 'workouts', user_id)).workouts.map((workout: { hr_zones: unknown }) => workout.hr_zones)
    assert.deepEqual(zones, [
      [0, 0, 0, 300, 0, 0],
      [0, 300, 0, 0, 0, 0],
    ])
  })

  test('change when the birth date comes later, for all workouts, including workouts of other providers', async () => {
    const { team, user_id } = await start()
    const later = workout({ id: 'workout-0002', start_date: `${DAY}T09:15:00Z` })
    await post(team, user_id, 'heartrate', [beat('09:30:00', 120)])
    await postSummary(team, 'workouts', user_id, [workout(), later])
    for (const provider of ['health_connect', 'apple_health_kit'])
      await post(team, user_id, 'heartrate', [beat('09:30:00', 120)], { provider })
    await postSummary(team, 'workouts', user_id, [workout({ id: 'workout-0003' })], { provider: 'health_connect' })
    const shown = async () =>
      (await list(team, 'workouts', user_id)).workouts.map(({ hr_zones }: { hr_zones: unknown }) => JSON.stringify(hr_zones))
    const all = (zones: number[]) => Array.from({ length: 3 }, () => JSON.stringify(zones))
    // 63 % of 190.
    assert.deepEqual(await shown(), all([0, 0, 300, 0, 0, 0]))
    const before = (await readEvents(team)).length
    await team.api.patch(`/v2/user/${user_id}`, { fallback_birth_date: '1966-01-31' })
    await team.settle()
    assert.deepEqual(await shown(), all([0, 0, 0, 300, 0, 0]))
    assert.deepEqual(
      (await readEvents(team)).slice(before),
      Array.from({ length: 3 }, () => ['workouts.updated', [0, 0, 0, 300, 0, 0]]),
    )
    await postSummary(team, 'profile', user_id, { date_of_birth: '2006-02-01', biological_sex: 'female' })
    await team.settle()
    // 60 % of 201 is 120.6.
    assert.deepEqual(await shown(), all([0, 300, 0, 0, 0, 0]))
    const events = (await readEvents(team)).length
    await postSummary(team, 'profile', user_id, { date_of_birth: '2006-02-01', biological_sex: 'female', height: 170 })
    await team.api.patch(`/v2/user/${user_id}`, { fallback_birth_date: null })
    await team.settle()
    assert.equal((await readEvents(team)).length, events)
  })

  test('of more than a hundred workouts all change with the birth date', async () => {
    const { team, user_id } = await start()
    const minute = (n: number) => `${DAY}T${String(Math.floor(n / 60)).padStart(2, '0')}:${String(n % 60).padStart(2, '0')}:00Z`
    const workouts = Array.from({ length: 230 }, (_, i) =>
      workout({ id: `workout-${i}`, start_date: minute(i * 2), end_date: minute(i * 2 + 2) }),
    )
    await post(
      team,
      user_id,
      'heartrate',
      workouts.map(({ start_date }) => beat(start_date.slice(11, 19), 120)),
    )
    await postSummary(team, 'workouts', user_id, workouts)
    await team.api.patch(`/v2/user/${user_id}`, { fallback_birth_date: '1966-01-31' })
    await team.settle()
    const changed = (await readEvents(team)).filter(([type]) => type === 'workouts.updated')
    assert.equal(changed.length, 230)
    assert.deepEqual(new Set(changed.map(([, zones]) => JSON.stringify(zones))), new Set(['[0,0,0,120,0,0]']))
  })

  test('are of one device: that of the workout, else the one with the most heart rates', async () => {
    const { team, user_id } = await start()
    const strap = { source_bundle: 'com.example.strap', type: 'chest_strap' }
    const other = { source_bundle: 'com.example.other', type: 'ring' }
    await post(team, user_id, 'heartrate', [
      beat('09:10:00', 180, strap),
      beat('09:20:00', 180, strap),
      beat('09:15:00', 100, other),
    ])
    await postSummary(team, 'workouts', user_id, [workout()])
    assert.deepEqual(await readZones(team, user_id), [0, 0, 0, 0, 0, 600])
    await post(team, user_id, 'heartrate', [beat('09:30:00', 140)])
    assert.deepEqual(await readZones(team, user_id), [0, 0, 0, 300, 0, 0])
  })

  test('are there when a workout and its heart rates are posted at the same time', async () => {
    const { team, user_id } = await start()
    await post(team, user_id, 'heartrate', [beat('07:00:00', 60)])
    for (let i = 0; i < 10; i++) {
      const time = `${String(i + 10)}:30:00`
      const [start_date, end_date] = [`${DAY}T${i + 10}:00:00Z`, `${DAY}T${i + 10}:59:00Z`]
      await Promise.all([
        postSummary(team, 'workouts', user_id, [workout({ id: `workout-1${i}`, start_date, end_date })]),
        post(team, user_id, 'heartrate', [beat(time, 100)]),
      ])
    }
    const { workouts } = await list(team, 'workouts', user_id)
    assert.deepEqual(
      workouts.map((workout: { hr_zones: unknown }) => workout.hr_zones),
      Array.from({ length: 10 }, () => [0, 300, 0, 0, 0, 0]),
    )
  })

  test('that change with a history are reported as part of it, which webhooks do not get', async () => {
    const { team, user_id } = await start()
    await postSummary(team, 'workouts', user_id, [workout()])
    await post(team, user_id, 'heartrate', [beat('09:30:00', 100)], { stage: 'historical', is_final_chunk: false })
    assert.deepEqual(await readZones(team, user_id), [0, 300, 0, 0, 0, 0])
    const rows = await team.db.tx(team.tenant, (tx) =>
      tx.many(
        T.Object({ type: T.String(), historical: T.Boolean() }),
        sql`select type, historical from event where team_id = ${tx.team} and starts_with(type, 'daily.data.workouts.') order by id`,
      ),
    )
    assert.deepEqual(
      rows.map(({ type, historical }) => [type.slice(20), historical]),
      [
        ['created', false],
        ['updated', true],
      ],
    )
  })
})

describe('zones that the source of a workout sends', () => {
  test('win over computed ones, which are shown again if the source stops sending zones', async () => {
    const { team, user_id } = await start()
    await post(team, user_id, 'heartrate', [beat('09:30:00', 100)])
    await postSummary(team, 'workouts', user_id, [workout({ heart_rate_zone_1: 10 })])
    await post(team, user_id, 'heartrate', [beat('09:40:00', 100)])
    assert.deepEqual(counts((await postSummary(team, 'workouts', user_id, [withStream([150], 60)])).body).slice(1, 3), [1, 1])
    await postSummary(team, 'workouts', user_id, [workout({ heart_rate_zone_1: 10 })])
    assert.deepEqual(await readEvents(team), [
      ['workouts.created', [10, 0, 0, 0, 0, 0]],
      ['workouts.updated', [0, 0, 0, 300, 0, 0]],
      ['workouts.updated', [10, 0, 0, 0, 0, 0]],
    ])
  })

  test('and computed ones are columns of queries', async () => {
    const { team, user_id } = await start()
    const zones = [1, 2, 3, 4, 5, 6].map((n) => ({ workout: `heart_rate_zone_${n}` }))
    const timeframe = { type: 'relative', anchor: DAY, past: { value: 1, unit: 'week' } }
    await post(team, user_id, 'heartrate', [beat('09:30:00', 100)])
    await postSummary(team, 'workouts', user_id, [workout()])
    const columns = async () => {
      const { body } = await team.api.post(`/aggregate/v1/user/${user_id}/query`, { timeframe, queries: [{ select: zones }] })
      return zones.map(({ workout }) => body.results[0].table[workout][0])
    }
    assert.deepEqual(await columns(), [0, 300, 0, 0, 0, 0])
    await postSummary(team, 'workouts', user_id, [workout({ heart_rate_zone_1: 10 })])
    assert.deepEqual(await columns(), [10, 0, 0, 0, 0, 0])
  })
})
