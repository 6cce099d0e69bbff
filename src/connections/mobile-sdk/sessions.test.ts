// Nights that phones send: stages within the session, the source of their samples, and the zone of what is sent again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, read, watch } from '../../../test/support/samples.ts'
import { list, postSummary } from '../../../test/support/summaries.ts'
import { createTeamWithUser } from '../../../test/support/teams.ts'

const HOUR = 3600
const session = { start_date: '2026-01-31T05:00:00Z', end_date: '2026-01-31T13:00:00Z' }
const part = (start: string, end: string, value = 1) => ({ value, unit: '', start_date: start, end_date: end })

test('stages outside of the session do not count, and efficiency is at most 100', async () => {
  const { team, user_id } = await createTeamWithUser()
  const sleep_stages = {
    deep_sleep_samples: [part('2026-01-31T03:00:00Z', '2026-01-31T06:00:00Z')],
    light_sleep_samples: [
      part('2026-01-31T06:00:00Z', '2026-01-31T20:00:00Z'),
      part('2026-01-30T01:00:00Z', '2026-01-30T02:00:00Z'),
    ],
  }
  await postSummary(team, 'sleep', user_id, [{ id: 'night', ...watch, ...session, sleep_stages }])
  const [night] = (await list(team, 'sleep', user_id)).sleep
  assert.deepEqual(
    [night.deep, night.light, night.total, night.duration, night.efficiency, night.latency],
    [HOUR, 7 * HOUR, 8 * HOUR, 8 * HOUR, 100, 0],
  )
  const [cycle] = (await list(team, 'sleep_cycle', user_id)).sleep_cycle
  assert.deepEqual(
    [cycle.stage_start_offset_second, cycle.stage_end_offset_second],
    [
      [0, HOUR],
      [HOUR, 8 * HOUR],
    ],
  )
})

test('a night that comes again without stages has no stages any more', async () => {
  const { team, user_id } = await createTeamWithUser()
  const sleep_stages = { deep_sleep_samples: [part('2026-01-31T06:00:00Z', '2026-01-31T07:00:00Z')] }
  const night = { ...watch, ...session }
  await postSummary(team, 'sleep', user_id, [
    { id: 'night', ...night, sleep_stages },
    {
      id: 'other',
      ...night,
      start_date: '2026-01-30T05:00:00Z',
      end_date: '2026-01-30T13:00:00Z',
      sleep_stages: { deep_sleep_samples: [part('2026-01-30T06:00:00Z', '2026-01-30T07:00:00Z')] },
    },
  ])
  assert.equal((await list(team, 'sleep_cycle', user_id)).sleep_cycle.length, 2)
  await postSummary(team, 'sleep', user_id, [{ id: 'night', ...night }])
  const nights = (await list(team, 'sleep', user_id)).sleep as { id: string; total: number }[]
  const cycles = (await list(team, 'sleep_cycle', user_id)).sleep_cycle as { sleep_id: string }[]
  assert.deepEqual(
    nights.filter(({ total }) => total > 0).map(({ id }) => id),
    cycles.map(({ sleep_id }) => sleep_id),
  )
  assert.equal(cycles.length, 1)
})

test('samples of a night without a source of their own are of its source, and in its stream', async () => {
  const { team, user_id } = await createTeamWithUser()
  const metadata = { _DMA: 'Fictional', _DMO: 'One' }
  const beat = (time: string, value: number, overrides: object = {}) => ({
    ...part(`${DAY}T${time}Z`, `${DAY}T${time}Z`, value),
    ...overrides,
  })
  const night = {
    id: 'night',
    ...watch,
    metadata,
    ...session,
    heart_rate: [beat('06:00:00', 50), beat('07:00:00', 51, { source_bundle: 'com.example.other' })],
    respiratory_rate: [beat('06:00:00', 14)],
  }
  await postSummary(team, 'sleep', user_id, [night])
  const [{ id, source }] = (await list(team, 'sleep', user_id)).sleep
  const { heartrate, respiratory_rate } = (await team.api.get(`/v2/timeseries/sleep/${id}/stream`)).body
  assert.deepEqual([heartrate.map(({ value }: { value: number }) => value), respiratory_rate.length], [[50], 1])
  const groups = (await read(team, user_id, 'heartrate')).groups.apple_health_kit
  assert.deepEqual(
    groups
      .map(({ source: of, data }: { source: Record<string, unknown>; data: { value: number }[] }) => [
        data[0]!.value,
        of.type,
        of.device_id === source.device_id,
      ])
      .toSorted(([a]: number[], [b]: number[]) => a! - b!),
    [
      [50, 'watch', true],
      [51, 'unknown', false],
    ],
  )
})

test('nights, workouts, measurements and electrocardiograms that are sent again from another zone keep their day, unless they name a zone', async () => {
  const { team, user_id } = await createTeamWithUser()
  const sleep_stages = { deep_sleep_samples: [part('2026-01-31T02:00:00Z', '2026-01-31T03:00:00Z')] }
  const heart_rate = [part('2026-01-31T02:30:00Z', '2026-01-31T02:30:00Z', 50)]
  const night = {
    id: 'night',
    ...watch,
    start_date: '2026-01-30T21:00:00Z',
    end_date: '2026-01-31T05:00:00Z',
    sleep_stages,
    heart_rate,
  }
  const workout = { id: 'run', sport: 'Running', ...watch, start_date: '2026-01-31T02:00:00Z', end_date: '2026-01-31T03:00:00Z' }
  const at = '2026-01-31T02:00:00Z'
  const ecg = { id: 'ecg', session_start: at, session_end: '2026-01-31T02:00:30Z', voltage_sample_count: 0 }
  const send = async (time_zone: string, overrides: object = {}) => {
    await postSummary(team, 'electrocardiogram', user_id, [{ electrocardiogram: { ...ecg, ...overrides } }], { time_zone })
    await postSummary(team, 'body', user_id, { body_mass: [{ ...part(at, at, 70), unit: 'kg', ...overrides }] }, { time_zone })
    const [{ calendar_date: weighed }] = (await list(team, 'body', user_id)).body
    const [{ time_zone: recorded }] = (await list(team, 'electrocardiogram', user_id)).electrocardiogram
    await postSummary(team, 'sleep', user_id, [{ ...night, ...overrides }], { time_zone })
    await postSummary(team, 'workouts', user_id, [{ ...workout, ...overrides }], { time_zone })
    const [slept] = (await list(team, 'sleep', user_id)).sleep
    const [ran] = (await list(team, 'workouts', user_id)).workouts
    const [cycle] = (await list(team, 'sleep_cycle', user_id)).sleep_cycle
    const [{ data }] = (await read(team, user_id, 'heartrate')).groups.apple_health_kit
    return [
      [slept.calendar_date, slept.timezone_offset],
      [ran.calendar_date, ran.timezone_offset],
      cycle.time_zone,
      data[0].timezone_offset,
      weighed,
      recorded,
    ]
  }
  const inPhoenix = [
    ['2026-01-30', -7 * HOUR],
    ['2026-01-30', -7 * HOUR],
    'America/Phoenix',
    -7 * HOUR,
    '2026-01-30',
    'America/Phoenix',
  ]
  assert.deepEqual(await send('America/Phoenix'), inPhoenix)
  assert.deepEqual(await send('Asia/Tokyo'), inPhoenix)
  assert.deepEqual(await send('Asia/Tokyo', { metadata: { HKTimeZone: 'Asia/Tokyo' } }), [
    ['2026-01-31', 9 * HOUR],
    ['2026-01-31', 9 * HOUR],
    'Asia/Tokyo',
    9 * HOUR,
    '2026-01-31',
    'Asia/Tokyo',
  ])
})
