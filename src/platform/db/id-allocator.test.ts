// Numbers taken in blocks, by several processes at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestTeam } from '../../../test/support/server.ts'
import { IdAllocator } from './id-allocator.ts'

const SEQUENCE = 'order_event_id'

test('numbers are unique, and the numbers of one call are consecutive', async () => {
  const { db } = await createTestTeam()
  const processes = [new IdAllocator(db.queries), new IdAllocator(db.queries)]
  const taken = await Promise.all(Array.from({ length: 400 }, (_, i) => processes[i % 2]!.allocate(SEQUENCE, (i % 5) + 1, 0)))
  for (const numbers of taken) numbers.forEach((number, i) => assert.equal(number, numbers[0]! + i))
  const all = taken.flat()
  assert.equal(new Set(all).size, all.length)
})

test('allocates ids above a given id of another process', async () => {
  const { db } = await createTestTeam()
  const [one, other] = [new IdAllocator(db.queries), new IdAllocator(db.queries)]
  let above = 0
  for (let i = 0; i < 20; i++) {
    const [next] = await (i % 3 ? one : other).allocate(SEQUENCE, 1, above)
    assert.ok(next! > above)
    above = next!
  }
})

test('requesting more than a block at once is an error of the caller', async () => {
  const { db } = await createTestTeam()
  await assert.rejects(new IdAllocator(db.queries).allocate(SEQUENCE, 65, 0), /at most 64/)
})
