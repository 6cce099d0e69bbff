// Bursts of arriving messages: what processing waits for, and for how long.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ArrivalBurst } from './arrival-burst.ts'

describe('a burst of messages', () => {
  test('ends 20 ms after the last message is stored', () => {
    const burst = new ArrivalBurst()
    assert.equal(burst.leftMs(1000), 0)
    burst.begin(1000)
    assert.equal(burst.leftMs(1100), 20, 'a message is being stored')
    burst.end(1100)
    assert.equal(burst.leftMs(1105), 15)
    burst.begin(1110)
    burst.end(1115)
    assert.equal(burst.leftMs(1120), 15)
    assert.equal(burst.leftMs(1135), 0)
  })

  test('delays processing for half a second at most, and again only after a pause', () => {
    const burst = new ArrivalBurst()
    let now_ms = 0
    for (; now_ms < 5000; now_ms += 10) {
      burst.begin(now_ms)
      burst.end(now_ms + 5)
      if (now_ms >= 500) assert.equal(burst.leftMs(now_ms + 6), 0)
      else assert.ok(burst.leftMs(now_ms + 6) > 0)
    }
    burst.begin(now_ms + 50)
    assert.equal(burst.leftMs(now_ms + 51), 20)
  })

  test('counts from the first of several messages that are stored at once', () => {
    const burst = new ArrivalBurst()
    burst.begin(0)
    burst.begin(400)
    burst.end(450)
    assert.equal(burst.leftMs(490), 10, 'the first is still being stored')
    burst.end(495)
    assert.equal(burst.leftMs(501), 0)
  })
})
