// Seconds in zones of heart rate, against counting second by second. Source: users-wearables.md 8.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { maxHeartRate, zonesBetween } from './workout-zones.ts'

const FROM_S = 1_770_000_000
const rates = fc.uniqueArray(
  fc.record({
    second: fc.integer({ min: -400, max: 2400 }),
    bpm: fc.oneof(fc.integer({ min: 40, max: 220 }), fc.constantFrom(null, 0, -5, 1e9, Number.NaN)),
  }),
  { selector: ({ second }) => second, maxLength: 30 },
)

test('each second counts in the zone of the last value, at most 5 minutes after it', () => {
  fc.assert(
    fc.property(rates, fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 100, max: 210 }), (samples, length, max_bpm) => {
      const ordered = samples.toSorted((a, b) => a.second - b.second)
      const expected = [0, 0, 0, 0, 0, 0]
      const known = ordered.filter(({ second, bpm }) => second >= 0 && second < length && bpm !== null && bpm >= 1 && bpm <= 300)
      for (let second = 0; second < length; second++) {
        const last = known.findLast((rate) => rate.second <= second)
        if (!last || second - last.second >= 300) continue
        const percent = (last.bpm! / max_bpm) * 100
        expected[[50, 60, 70, 80, 90].filter((bound) => percent >= bound - 1e-9).length]!++
      }
      const found = zonesBetween(
        { at_ms: ordered.map(({ second }) => (FROM_S + second) * 1000), bpm: ordered.map(({ bpm }) => bpm) },
        FROM_S * 1000,
        (FROM_S + length) * 1000,
        max_bpm,
      )
      assert.deepEqual(found, known.length ? expected : null)
    }),
    { numRuns: 2000 },
  )
})

test('the maximum heart rate is 220 less the age on the day, 190 if the age is not known', () => {
  const cases: [birth_date: string | null, expected: number][] = [
    ['1986-01-31', 180],
    ['1986-02-01', 181],
    ['1986-01-30', 180],
    [null, 190],
    ['2026-02-01', 190],
    ['1850-01-01', 190],
    ['no date', 190],
  ]
  for (const [birth_date, expected] of cases) assert.equal(maxHeartRate(birth_date, '2026-01-31'), expected, String(birth_date))
})
