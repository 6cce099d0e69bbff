// The days of an Apple Health export: totals, energies and heart rates, with rings and without. Source: users-wearables.md 9.1.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { exportXml, PHONE, reading, record, WATCH } from '../../../../test/support/file-imports.ts'

const DAY = '2026-01-31'
const timeOfDay = (time: string, day = DAY) => `${day} ${time}:00 -0700`
const energy = (type: 'Active' | 'Basal', value: number, start: string, end: string, source: Record<string, string> = WATCH) =>
  record(`${type}EnergyBurned`, value, 'Cal', timeOfDay(start), { end: timeOfDay(end), ...source })
const rate = (value: number, time: string, source: Record<string, string> = WATCH, type = 'HeartRate') =>
  record(type, value, 'count/min', timeOfDay(time), source)
const ring = (attributes: string, day = DAY) => `<ActivitySummary dateComponents="${day}" ${attributes}/>`

async function daysOf(...elements: string[]) {
  const { summaries, skipped } = await reading(exportXml(...elements))
  assert.deepEqual(skipped, {})
  return (summaries.activity ?? []).map(({ record: { document, query_values } }): Record<string, unknown> => ({
    ...document,
    query_values,
  }))
}

describe('a day of an Apple Health export', () => {
  test('without rings has the energies of its records, and where two sources cover one time the watch counts', async () => {
    const [day, ...none] = await daysOf(
      energy('Active', 10, '08:00', '08:10'),
      energy('Active', 20, '08:10', '08:20'),
      energy('Active', 50, '08:05', '08:15', PHONE),
      energy('Active', 7, '12:00', '12:10', PHONE),
      energy('Basal', 900, '00:00', '12:00'),
      energy('Basal', 800, '12:00', '23:59'),
    )
    assert.deepEqual(none, [])
    assert.deepEqual([day!.calories_active, day!.calories_total], [37, 1737])
  })

  test('with rings has the energy of the rings and the minutes of exercise; rings of zero say nothing', async () => {
    const [first, second] = await daysOf(
      energy('Active', 300, '08:00', '09:00'),
      record('ActiveEnergyBurned', 250, 'Cal', timeOfDay('08:00', '2026-02-01'), { end: timeOfDay('09:00', '2026-02-01') }),
      ring('activeEnergyBurned="1255.2" activeEnergyBurnedUnit="kJ" appleExerciseTime="31"'),
      ring('activeEnergyBurned="0" activeEnergyBurnedUnit="Cal" appleExerciseTime="0"', '2026-02-01'),
    )
    assert.deepEqual([first!.calories_active, first!.calories_total], [300, null])
    assert.deepEqual(first!.query_values, { duration_active_second: 1860 })
    assert.equal(second!.calories_active, 250)
  })

  test('has the heart rates of its best source, each for the time since the one before, if it has anything else', async () => {
    const [day, ...none] = await daysOf(
      rate(60, '08:00'),
      rate(60, '08:05'),
      rate(180, '08:06'),
      rate(200, '09:00', { sourceName: 'Fictional Strap', device: '&lt;&lt;HKDevice: 0x3&gt;, name:Strap&gt;' }),
      rate(52, '00:00', WATCH, 'RestingHeartRate'),
      rate(98.5, '00:00', WATCH, 'WalkingHeartRateAverage'),
      record('StepCount', 900, 'count', timeOfDay('10:00'), { end: timeOfDay('10:10') }),
      record('HeartRate', 61, 'count/min', timeOfDay('08:00', '2026-02-01')),
    )
    assert.deepEqual(none, [])
    // Five minutes of 60 twice, and one minute of 180.
    const avg_bpm = 70.9
    assert.deepEqual(day!.heart_rate, { avg_bpm, min_bpm: 60, max_bpm: 180, resting_bpm: 52, avg_walking_bpm: 98.5 })
    assert.equal(day!.timezone_offset, -7 * 3600)
  })

  test('has pushes of a wheelchair, and no heart rates without a record of one', async () => {
    const [day] = await daysOf(
      record('PushCount', 12, 'count', timeOfDay('08:00'), { end: timeOfDay('08:10') }),
      record('PushCount', 30, 'count', timeOfDay('09:00'), { end: timeOfDay('09:10') }),
    )
    assert.deepEqual([day!.wheelchair_push, day!.heart_rate, day!.calories_active], [42, null, null])
  })
})
