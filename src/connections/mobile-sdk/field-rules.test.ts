// What users of comparable systems have suffered from, with the number of the rule that prevents it. Rules about clouds of vendors are tested
// with their connectors, those about sessions of phones with their sign-in.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { sentSample, counts, events, post, read, types, watch } from '../../../test/support/samples.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import { list, ofKind, postSummary } from '../../../test/support/summaries.ts'

const ofDay = (calendar_date: string, overrides: object = {}) => ({ day_summary: { calendar_date, ...overrides } })
const dates = (entries: { calendar_date: string }[]) => entries.map(({ calendar_date }) => calendar_date)
const night = (id: string, start_date: string, end_date: string, overrides: object = {}) => ({
  id,
  start_date,
  end_date,
  source_bundle: 'com.apple.health.0000',
  product_type: 'Watch6,1',
  ...overrides,
})
const stage = (start_date: string, end_date: string) => ({ value: 1, unit: '', start_date, end_date })

describe('days', () => {
  test('rule 1: a day keeps the local date that its phone reported, in any zone', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    for (const time_zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'UTC'])
      await postSummary(team, 'activity', user_id, [ofDay('2026-01-31', { steps_sum: 1 })], { time_zone })
    assert.deepEqual(dates((await list(team, 'activity', user_id, 'start_date=2026-01-01&end_date=2026-02-28')).activity), [
      '2026-01-31',
    ])
  })

  test('rule 2: the offset of a sample is stored with it, and is null where the zone is not known', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const own = { ...watch, metadata: { HKTimeZone: 'Asia/Kathmandu' } }
    await post(team, user_id, 'heartrate', [sentSample('09:00:00', 61), sentSample('10:00:00', 62, own)])
    await post(team, user_id, 'steps', [sentSample('09:00:00', 5)], { time_zone: 'Mars/Olympus_Mons' })
    const zones = async (resource: string) => {
      const { groups } = await read(team, user_id, resource)
      return Object.values(groups as Record<string, { data: { timezone_offset: number | null }[] }[]>)
        .flat()
        .flatMap(({ data }) => data.map(({ timezone_offset }) => timezone_offset))
        .toSorted()
    }
    assert.deepEqual(await zones('heartrate'), [-25_200, 20_700])
    assert.deepEqual(await zones('steps'), [null])
  })

  test('rule 3: a night belongs to the local day on which it ended, on either side of UTC and of a change of clocks', async () => {
    for (const [time_zone, start, end, date] of [
      ['America/Los_Angeles', '2026-01-31T06:00:00Z', '2026-01-31T14:00:00Z', '2026-01-31'],
      // Still the 30th there.
      ['America/Los_Angeles', '2026-01-31T01:00:00Z', '2026-01-31T07:59:00Z', '2026-01-30'],
      ['Pacific/Auckland', '2026-01-31T10:00:00Z', '2026-01-31T18:00:00Z', '2026-02-01'],
      // Clocks went forward in that night: midnight in UTC is 8 hours away before and 7 after.
      ['America/Los_Angeles', '2026-03-08T06:00:00Z', '2026-03-09T06:30:00Z', '2026-03-08'],
      ['America/Los_Angeles', '2026-03-08T06:00:00Z', '2026-03-09T07:30:00Z', '2026-03-09'],
      ['Europe/Berlin', '2026-10-24T21:00:00Z', '2026-10-24T22:30:00Z', '2026-10-25'],
    ] as const) {
      const team = await createTestTeam()
      const user_id = await team.user()
      await postSummary(team, 'sleep', user_id, [night('a night', start, end)], { time_zone })
      const { sleep } = await list(team, 'sleep', user_id, 'start_date=2026-01-01&end_date=2026-12-31')
      assert.deepEqual(dates(sleep), [date], `${time_zone} ${end}`)
    }
  })

  test('rule 3: a night and a workout of a trip belong to the local day there, although the phone sends them at home', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const there = { metadata: { HKTimeZone: 'Pacific/Auckland' } }
    // 07:00 on the 1st of February in Auckland, 11:00 on the 31st of January in Phoenix.
    const slept = night('night', '2026-01-31T10:00:00Z', '2026-01-31T18:00:00Z', {
      ...there,
      sleep_stages: { deep_sleep_samples: [stage('2026-01-31T10:00:00Z', '2026-01-31T18:00:00Z')] },
    })
    const covered = { anchor: '2026-01-31T19:00:00Z', value: [12], start_offset: [0], end_offset: [5] }
    const ran = {
      ...night('run', '2026-01-31T19:00:00Z', '2026-01-31T20:00:00Z', there),
      sport: 'Running',
      stream: { components: { distance_walking_running: [covered] } },
    }
    // A zone that this server does not know leaves that of the phone.
    const unknown = { ...ran, id: 'elsewhere', metadata: { HKTimeZone: 'Mars/Olympus_Mons' } }
    await postSummary(team, 'sleep', user_id, [slept])
    await postSummary(team, 'workouts', user_id, [ran, unknown])
    const query = 'start_date=2026-01-01&end_date=2026-12-31'
    const [{ calendar_date, timezone_offset }] = (await list(team, 'sleep', user_id, query)).sleep
    assert.deepEqual([calendar_date, timezone_offset], ['2026-02-01', 46_800])
    const { sleep_cycle } = await list(team, 'sleep_cycle', user_id, 'start_date=2026-02-01&end_date=2026-02-01')
    assert.deepEqual(
      sleep_cycle.map(({ time_zone }: { time_zone: string }) => time_zone),
      ['Pacific/Auckland'],
    )
    const { workouts } = await list(team, 'workouts', user_id, query)
    assert.deepEqual(
      workouts.map((workout: { calendar_date: string; timezone_offset: number }) => [
        workout.calendar_date,
        workout.timezone_offset,
      ]),
      [
        ['2026-01-31', -25_200],
        ['2026-02-01', 46_800],
      ],
    )
    const { groups } = await read(team, user_id, 'workout_distance')
    const offsets = groups.apple_health_kit.map(({ data }: { data: { timezone_offset: number }[] }) => data[0]!.timezone_offset)
    assert.deepEqual(offsets.toSorted(), [-25_200, 46_800])
  })

  test('days travelled across the date line are two records or one, by their dates', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    // Eastward from Auckland to Honolulu the same date comes twice: the later count is that of the whole date.
    await postSummary(team, 'activity', user_id, [ofDay('2026-01-31', { steps_sum: 900 })], { time_zone: 'Pacific/Auckland' })
    await postSummary(team, 'activity', user_id, [ofDay('2026-01-31', { steps_sum: 4100 })], { time_zone: 'Pacific/Honolulu' })
    // Westward a date is left out.
    await postSummary(team, 'activity', user_id, [ofDay('2026-02-02', { steps_sum: 70 })], { time_zone: 'Pacific/Auckland' })
    const { activity } = await list(team, 'activity', user_id, 'start_date=2026-01-01&end_date=2026-12-31')
    assert.deepEqual(
      activity.map((day: { calendar_date: string; steps: number }) => [day.calendar_date, day.steps]),
      [
        ['2026-01-31', 4100],
        ['2026-02-02', 70],
      ],
    )
    // Samples have instants, which are not confused by dates.
    for (const [time_zone, time] of [
      ['Pacific/Auckland', '09:00:00'],
      ['Pacific/Honolulu', '10:00:00'],
    ] as const)
      await post(team, user_id, 'heartrate', [sentSample(time, 60)], { time_zone })
    const [{ data }] = (await read(team, user_id, 'heartrate')).groups.apple_health_kit
    assert.deepEqual(
      data.map((sample: { timezone_offset: number }) => sample.timezone_offset),
      [46_800, -36_000],
    )
  })
})

describe('nights', () => {
  test('rule 5: a fragment inside of a night is a part of it, and a nap is a short session of its own', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const sent = [
      night('whole', '2026-01-31T05:00:00Z', '2026-01-31T13:00:00Z'),
      night('fragment', '2026-01-31T09:00:00Z', '2026-01-31T09:20:00Z'),
      night('nap', '2026-01-31T21:00:00Z', '2026-01-31T22:00:00Z'),
    ]
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(sent, { minLength: 3, maxLength: 3 }), fc.boolean(), async (order, isOnePost) => {
        for (const data of isOnePost ? [order] : order.map((night) => [night])) await postSummary(team, 'sleep', user_id, data)
        const { sleep } = await list(team, 'sleep', user_id)
        const shown = sleep.map((night: { bedtime_start: string; type: string; duration: number }) => [
          night.bedtime_start.slice(11, 16),
          night.type,
          night.duration,
        ])
        assert.deepEqual(shown.toSorted(), [
          ['05:00', 'long_sleep', 28_800],
          ['21:00', 'short_sleep', 3600],
        ])
      }),
      { numRuns: 8 },
    )
    const reported = (await ofKind(team, 'sleep')).map(({ data }) => data.id)
    assert.equal(new Set(reported).size, reported.length, 'none is reported twice')
  })

  test('rule 6: the time in bed, the time asleep and the end are three numbers, and no number is derived from another', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const sleep_stages = {
      awake_sleep_samples: [stage('2026-01-31T05:00:00Z', '2026-01-31T06:00:00Z')],
      deep_sleep_samples: [stage('2026-01-31T06:00:00Z', '2026-01-31T12:00:00Z')],
    }
    await postSummary(team, 'sleep', user_id, [night('n', '2026-01-31T05:00:00Z', '2026-01-31T13:00:00Z', { sleep_stages })])
    const [one] = (await list(team, 'sleep', user_id)).sleep
    assert.deepEqual([one.duration, one.total, one.awake, one.bedtime_stop], [28_800, 21_600, 3600, '2026-01-31T13:00:00+00:00'])
  })

  test('rule 13: a score belongs to its night: the night sent again with another score has the new one only', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    for (const score of [71, 78])
      await postSummary(team, 'sleep', user_id, [night('n', '2026-01-31T05:00:00Z', '2026-01-31T13:00:00Z', { score })])
    assert.deepEqual(
      (await list(team, 'sleep', user_id)).sleep.map(({ score }: { score: number }) => score),
      [78],
    )
    assert.deepEqual(types(await ofKind(team, 'sleep')), ['daily.data.sleep.created', 'daily.data.sleep.updated'])
  })
})

describe('identity', () => {
  test('rule 7: samples that are sent by several clients at the same time are stored once', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const sent = Array.from({ length: 300 }, (_, i) =>
      sentSample(`09:${String(Math.floor(i / 60)).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}`, i + 1, watch),
    )
    const replies = await Promise.all(Array.from({ length: 5 }, () => post(team, user_id, 'heartrate', sent)))
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    )
    assert.equal(
      replies.reduce((sum, { body }) => sum + body.created, 0),
      300,
    )
    const { groups } = await read(team, user_id, 'heartrate')
    assert.equal(groups.apple_health_kit[0].data.length, 300)
    const emitted = (await events(team)).filter(({ event_type }) => event_type.includes('heartrate'))
    assert.equal(
      emitted.reduce((sum, { data }) => sum + data.data.length, 0),
      300,
    )
  })

  test('rule 8: a workout is known by the id of its provider, although its times differ by 100 ms when it comes again', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    for (const start_date of ['2026-01-31T15:00:00.000Z', '2026-01-31T15:00:00.100Z'])
      await postSummary(team, 'workouts', user_id, [
        { id: 'run-1', sport: 'Running', start_date, end_date: '2026-01-31T16:00:00Z' },
      ])
    assert.equal((await list(team, 'workouts', user_id)).workouts.length, 1)
  })

  test('rule 10: the provider, the app and the device are three fields', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    await postSummary(team, 'workouts', user_id, [
      { id: 'run-1', sport: 'Running', start_date: '2026-01-31T15:00:00Z', end_date: '2026-01-31T16:00:00Z', ...watch },
    ])
    const [{ source }] = (await list(team, 'workouts', user_id)).workouts
    assert.deepEqual([source.provider, source.app_id, source.type], ['apple_health_kit', 'com.apple.health.0000', 'watch'])
  })
})

describe('totals', () => {
  test('rules 11 and 12: the steps of a day are the sum that the platform merged, not the sum of phone and watch', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const from = (value: number, source: object) => sentSample('15:00:00', value, { end_date: '2026-01-31T16:00:00Z', ...source })
    const phone = { source_bundle: 'com.apple.health.1111', product_type: 'iPhone14,2' }
    await postSummary(team, 'activity', user_id, [
      { ...ofDay('2026-01-31', { steps_sum: 2560 }), steps: [from(2506, watch), from(1919, phone)] },
    ])
    const [day] = (await list(team, 'activity', user_id)).activity
    assert.equal(day.steps, 2560)
    const { groups } = await read(team, user_id, 'steps')
    const bySource = groups.apple_health_kit.map(({ source, data }: { source: { type: string }; data: { value: number }[] }) => [
      source.type,
      data.map(({ value }) => value),
    ])
    assert.deepEqual(bySource.toSorted(), [
      ['phone', [1919]],
      ['watch', [2506]],
    ])
    // Samples that come later do not change the total.
    await post(team, user_id, 'steps', [sentSample('17:00:00', 100, { ...watch, end_date: '2026-01-31T18:00:00Z' })])
    assert.equal((await list(team, 'activity', user_id)).activity[0].steps, 2560)
  })

  test('rule 20: the response to a post names the stored samples, and introspection counts the new ones', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const sent = [sentSample('09:00:00', 60), sentSample('09:01:00', 61)]
    assert.deepEqual(counts((await post(team, user_id, 'heartrate', sent)).body), [2, 2, 0, 0])
    assert.deepEqual(counts((await post(team, user_id, 'heartrate', sent)).body), [2, 0, 0, 0])
    const { data } = (await team.api.get(`/v2/introspect/resources?user_id=${user_id}`)).body
    assert.equal(data[0].provider.apple_health_kit.heartrate.sent_count, 2)
  })

  test('alerts of heart rate are refused without their type, and shown with it', async () => {
    const team = await createTestTeam()
    const user_id = await team.user()
    const alert = (metadata?: object) => [
      sentSample('09:30:00', 1, { metadata: { type: 'low_heart_rate' } }),
      sentSample('09:40:00', 1, { metadata }),
    ]
    for (const metadata of [undefined, {}, { type: '\ud800' }]) {
      const { status, body } = await post(team, user_id, 'heart_rate_alert', alert(metadata).slice(1))
      assert.deepEqual([status, body.detail[0].loc.slice(-3)], [422, [0, 'metadata', 'type']])
    }
    assert.deepEqual((await read(team, user_id, 'heart_rate_alert')).groups, {})
    const part = (await post(team, user_id, 'heart_rate_alert', alert({}))).body
    assert.deepEqual([part.accepted, part.rejected], [1, 1])
    assert.equal((await post(team, user_id, 'heart_rate_alert', alert({ type: 'irregular_rhythm' }))).status, 200)
    const [{ data }] = (await read(team, user_id, 'heart_rate_alert')).groups.apple_health_kit
    assert.deepEqual(data.map(({ type }: { type: string }) => type).toSorted(), ['irregular_rhythm', 'low_heart_rate'])
  })
})
