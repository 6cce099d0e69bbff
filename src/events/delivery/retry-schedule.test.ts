import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addSeconds } from '../../platform/runtime/clock.ts'
import { readConfig } from '../../settings/config.ts'
import { nextHealth, healthy, nextDelay, throttleDelay } from './retry-schedule.ts'

const { webhook_schedule_s: schedule } = readConfig({})
const start = new Date('2026-01-01T00:00:00Z')
const hours = (h: number): Date => addSeconds(start, h * 3600)

describe('the schedule', () => {
  test('the default schedule is that of the specification', () => {
    assert.deepEqual(schedule, [0, 5, 300, 1800, 7200, 18_000, 36_000, 36_000])
  })

  test('the schedule ends after the eighth failure', () => {
    assert.notEqual(nextDelay(schedule, 7, undefined, 0.5), undefined)
    assert.equal(nextDelay(schedule, 8, undefined, 0.5), undefined)
  })

  test('a pause is lengthened or shortened by a fifth at most', () => {
    assert.equal(nextDelay(schedule, 2, undefined, 0), 240)
    assert.equal(nextDelay(schedule, 2, undefined, 0.5), 300)
    assert.equal(Math.round(nextDelay(schedule, 2, undefined, 1)!), 360)
  })

  test('Retry-After can delay the next attempt, never make it earlier', () => {
    assert.equal(nextDelay(schedule, 1, 60, 0.5), 60)
    assert.equal(nextDelay(schedule, 2, 60, 0.5), 300)
  })
})

test('an overloaded endpoint is paused, longer each time and at most for a minute; another is not', () => {
  for (const status of [429, 502, 504]) assert.equal(throttleDelay(status, undefined, 0), 1)
  assert.equal(throttleDelay(429, undefined, 3), 8)
  assert.equal(throttleDelay(429, undefined, 30), 60)
  assert.equal(throttleDelay(429, 30, 0), 30)
  assert.equal(throttleDelay(503, 30, 0), 30)
  for (const status of [200, 404, 500, 503, null]) assert.equal(throttleDelay(status, undefined, 5), undefined)
})

describe('automatic disabling', () => {
  /** @returns the hours after which it was dead, given failures at these hours and successes at those */
  const deadAt = (failures: number[], successes: number[] = []): number | undefined => {
    let health = healthy
    const all = [...failures.map((h) => ({ h, ok: false })), ...successes.map((h) => ({ h, ok: true }))]
    for (const { h, ok } of all.sort((a, b) => a.h - b.h)) {
      const next = nextHealth(health, ok, hours(h))
      if (next.dead) return h
      health = next
    }
    return undefined
  }
  const every = (step: number, end: number) => Array.from({ length: end / step + 1 }, (_, i) => i * step)

  test('an endpoint is disabled five days after it had failed for twelve hours', () => {
    assert.equal(deadAt(every(1, 200)), 132)
  })
  test('an endpoint is not disabled while failures of one day are closer than twelve hours', () => {
    assert.equal(deadAt([0, 5, 11, 300, 305, 600]), undefined)
  })
  test('an endpoint is not disabled until five days after its last success', () => {
    assert.equal(deadAt(every(1, 200), [131.5]), undefined)
    assert.equal(deadAt(every(1, 400), [131.5]), 132 + 132)
  })
})
