// How much a laboratory that floods is slowed while others send.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairPace } from './fair-pace.ts'

test('a laboratory that sends alone is never slowed', () => {
  const pace = new FairPace()
  for (let i = 0; i < 1000; i++) assert.equal(pace.delayFor('one', i), 0)
})

test('a laboratory that floods is slowed while another one sends, and that one is not', () => {
  const pace = new FairPace()
  pace.delayFor('other', 0)
  let count = 0
  // Eight connections, each with its next message as soon as the last one had its turn.
  const next_ms = Array.from({ length: 8 }, () => 0)
  for (let now_ms = 0; now_ms < 10_000; now_ms++) {
    if (now_ms % 50 === 0) assert.equal(pace.delayFor('other', now_ms), 0)
    for (const [i, due_ms] of next_ms.entries()) {
      if (due_ms > now_ms) continue
      next_ms[i] = now_ms + Math.max(1, pace.delayFor('flood', now_ms))
      count++
    }
  }
  assert(count > 780 && count < 840, `${count} messages in 10 s`)
})

test('a laboratory is no longer slowed once the others have stopped', () => {
  const pace = new FairPace()
  pace.delayFor('other', 0)
  for (let i = 0; i < 10; i++) pace.delayFor('flood', 0)
  assert(pace.delayFor('flood', 1000) >= 0)
  assert.equal(pace.delayFor('flood', 3000), 0)
  assert.equal(pace.delayFor('flood', 3001), 0)
})
