// What the connector makes of the records of Withings.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { listRecords, listSamples } from '../../../../test/support/vendors/vendor-server.ts'
import { linkedToWithings as linked } from '../../../../test/support/vendors/withings-records.ts'

describe('Withings: data', () => {
  test('measures are multiplied by their power of ten, on all pages, without measures of other people and goals', async () => {
    const { peer, pull } = await linked()
    const pulled = await pull('body')
    assert.equal(peer.requestsTo('/measure').length, 3)
    const [scale, manual, ...others] = listRecords(pulled, 'body')
    assert.deepEqual(others, [])
    assert.deepEqual([scale!.key, scale!.source_type, scale!.calendar_date], ['1001', 'scale', '2026-01-31'])
    const { weight, fat, water_percentage } = scale!.document as Record<string, number>
    assert.deepEqual([weight, fat, Math.round(water_percentage! * 100) / 100], [70.35, 21.05, 55])
    assert.deepEqual([manual!.key, manual!.source_type], ['1006', 'app'])
    const weights = listSamples(pulled, 'body_weight')
    assert.deepEqual(
      weights.map(({ value, zone_s, source_type }) => [value, zone_s, source_type]),
      [
        [70.35, 3600, 'scale'],
        [70, 3600, 'app'],
      ],
    )
    assert.deepEqual(
      listSamples(pulled, 'blood_pressure').map(({ value, second }) => [value, second]),
      [[121, 79]],
    )
    assert.deepEqual(
      listSamples(pulled, 'heartrate').map(({ value, source_type }) => [value, source_type]),
      [
        [58, 'scale'],
        [64, 'cuff'],
      ],
    )
    assert.deepEqual(
      ['blood_oxygen', 'vo2_max', 'body_temperature'].map((name) => listSamples(pulled, name)[0]!.value),
      [97, 41.5, 36.61],
    )
  })

  test('a skin temperature is read with its place, and left out next to a body temperature or without a known place', async () => {
    const { peer, pull } = await linked()
    const { measuregrps } = peer.store('363')
    const measured = (grpid: number, minute: number, overrides: object, ...measures: [type: number, value: number][]) => ({
      ...measuregrps[0]!,
      grpid,
      date: Date.parse(`2026-01-31T07:${minute}:00Z`) / 1000,
      ...overrides,
      measures: measures.map(([type, value]) => ({ type, value, unit: -1 })),
    })
    measuregrps.splice(
      0,
      Infinity,
      measured(1, 10, { model: 'ScanWatch 2', model_id: 94 }, [73, 334]),
      measured(2, 20, { model_id: 70 }, [71, 368], [73, 341]),
      measured(3, 30, { model_id: 71 }, [73, 342]),
      measured(4, 40, { model: 'Body Scan' }, [73, 300]),
      measured(5, 50, { attrib: 2, model_id: 70 }, [71, 370], [73, 341]),
    )
    const samples = listSamples(await pull('body_temperature'), 'body_temperature')
    assert.deepEqual(
      samples.map(({ value, type, source_type, device }) => [value, type, source_type, device?.model ?? null]),
      [
        [33.4, '[null,"wrist"]', 'watch', 'ScanWatch 2'],
        [36.8, '[null,"temporal_artery"]', 'unknown', 'Thermo'],
        [34.2, '[null,"temporal_artery"]', 'unknown', 'BeamO'],
        [37, null, 'app', null],
      ],
    )
    assert.match(peer.requestsTo('/measure')[0]!.form.get('meastypes')!, /(^|,)73(,|$)/)
  })

  test('a day of a watch and a day of a phone are two records', async () => {
    const { pull } = await linked()
    const days = listRecords(await pull('activity'), 'activity')
    assert.deepEqual(
      days.map(({ key, source_type }) => [key, source_type]),
      [
        ['2026-01-30', 'watch'],
        ['2026-01-30 phone', 'phone'],
        ['2026-01-31', 'watch'],
      ],
    )
    const { low, medium, high, steps, calories_active, calories_total, timezone_offset } = days[0]!.document as Record<
      string,
      number
    >
    assert.deepEqual(
      [low, medium, high, steps, calories_active, calories_total, timezone_offset],
      [60, 20, 10, 8412, 410.5, 2150.25, 3600],
    )
  })

  test('measurements of a watch through the day are requested day by day', async () => {
    const { peer, pull } = await linked()
    const pulled = await pull('steps')
    assert.equal(peer.requestsTo('/v2/measure').length, 2)
    const [steps] = listSamples(pulled, 'steps')
    assert.deepEqual([steps!.value, steps!.length_ms, steps!.zone_s], [44, 60_000, -7 * 3600])
    assert.deepEqual([listSamples(pulled, 'heartrate')[0]!.value, listSamples(pulled, 'hrv')[0]!.value], [72, 41])
  })

  test('a night has its stages, and belongs to the local day on which it ends', async () => {
    const { pull } = await linked()
    const pulled = await pull('sleep')
    const [night] = listRecords(pulled, 'sleep')
    const { document, key, calendar_date } = night!
    assert.deepEqual([key, calendar_date, document.timezone_offset], ['2001', '2026-01-31', 3600])
    const { light, rem, deep, awake, total, duration, type, score, state } = document
    assert.deepEqual([light, rem, deep, awake, total, duration], [12_600, 5400, 7200, 1800, 25_200, 27_000])
    assert.deepEqual([type, score, state], ['long_sleep', 81, 'confirmed'])
    const [cycle] = listRecords(pulled, 'sleep_cycle')
    assert.equal(cycle!.key, '2001')
    assert.deepEqual(cycle!.document.stage_type, [4, 2, 1, 3])
    assert.deepEqual(cycle!.document.stage_end_offset_second, [600, 3600, 7200, 27_000])
    assert.deepEqual(
      listSamples(pulled, 'heartrate').map(({ value }) => value),
      [60, 55],
    )
    assert.deepEqual([listSamples(pulled, 'respiratory_rate').length, listSamples(pulled, 'hrv').length], [1, 1])
  })

  test('a night that is still being recorded has no type yet', async () => {
    const { peer, pull } = await linked()
    peer.store('363').nights[0]!.completed = false
    const [night] = listRecords(await pull('sleep'), 'sleep')
    assert.deepEqual([night!.document.type, night!.document.state], ['unknown', 'tentative'])
  })

  test('a workout has its sport, and an entry that is not a sport is left out', async () => {
    const { pull } = await linked()
    const [run, other, ...none] = listRecords(await pull('workouts'), 'workouts')
    assert.deepEqual(none, [])
    const { sport, moving_time, distance, average_hr, provider_id, calendar_date } = run!.document as Record<string, unknown>
    assert.deepEqual((sport as { slug: string }).slug, 'running')
    assert.deepEqual([moving_time, distance, average_hr, provider_id, calendar_date], [1740, 5000, 141, '3001', '2026-01-31'])
    assert.deepEqual([(other!.document.sport as { name: string }).name, other!.document.calories], ['Other', 90])
  })

  test('values of other types than described count as absent', async () => {
    const { peer, pull } = await linked()
    const stored = peer.store('363')
    stored.activities.splice(0, 9, {
      date: '2026-01-30',
      is_tracker: true,
      steps: 'many',
      distance: {},
      timezone: 'Nowhere/Land\0',
    })
    stored.activities.push({ date: '2026-02-31x' }, { date: '9999-01-01' })
    const days = listRecords(await pull('activity'), 'activity')
    assert.deepEqual(
      days.map(({ key, document }) => [key, document.steps, document.distance, document.time_zone]),
      [['2026-01-30', null, null, 'America/Phoenix']],
    )
  })
})
