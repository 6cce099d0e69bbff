// Which nights of an Apple Health export are left out beside others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppleNights } from './apple-sleep.ts'
import type { SleepValue } from './apple-types.ts'
import { HOUR_MS } from '../../../platform/runtime/durations.ts'

const FROM_MS = Date.parse('2026-01-01T00:00:00Z')
const sourceOf = (n: number) => ({ source_type: 'watch' as const, app_id: `com.example.fictional-${n}`, device: null })

interface Slept {
  from_ms: number
  to_ms: number
  value: SleepValue
}
const rankOf = ({ value }: Slept): number => (value === 'in_bed' ? 2 : value === 'asleep' ? 1 : 0)

/** Adds one night of a source each. */
function nightsOf(sleepEntries: Slept[]) {
  const nights = new AppleNights()
  for (const [i, { from_ms, to_ms, value }] of sleepEntries.entries())
    assert(nights.add(sourceOf(i), { start_ms: from_ms, end_ms: to_ms, zone_s: 0, value }))
  let left_out = 0
  const found = [...nights.nights(() => left_out++)]
  return { found, left_out }
}

test('a night is left out if one of another source that knows more overlaps it, whatever others lie between', () => {
  let seed = 7
  const random = (limit: number): number => (seed = (seed * 48_271) % 2_147_483_647) % limit
  const values: SleepValue[] = ['deep', 'asleep', 'in_bed', 'in_bed']
  for (let round = 0; round < 50; round++) {
    const all = Array.from({ length: 30 }, (): Slept => {
      const from_ms = FROM_MS + random(96) * HOUR_MS
      return { from_ms, to_ms: from_ms + (1 + random(12)) * HOUR_MS, value: values[random(4)]! }
    })
    const isLeftOut = (slept: Slept) =>
      all.some(
        (otherSleep) =>
          rankOf(otherSleep) < rankOf(slept) && otherSleep.from_ms < slept.to_ms && otherSleep.to_ms > slept.from_ms,
      )
    const { found, left_out } = nightsOf(all)
    assert.equal(left_out, all.filter(isLeftOut).length)
    assert.equal(found.length, all.length - left_out)
  }
})

test('many nights at one time are compared without looking at each pair', () => {
  const all = Array.from({ length: 200_000 }, (_, i): Slept => {
    const from_ms = FROM_MS + i
    return { from_ms, to_ms: from_ms + 8 * HOUR_MS, value: i ? 'in_bed' : 'deep' }
  })
  const { found, left_out } = nightsOf(all)
  assert.deepEqual([found.length, left_out], [1, 199_999])
})
