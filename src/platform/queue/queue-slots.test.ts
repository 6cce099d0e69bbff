// Which claimed rows of a queue run at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueueSlots } from './queue-slots.ts'

interface Work {
  team: string
  order: string
  n: number
}
const work = (team: string, order: string, n: number): Work => ({ team, order, n })
const createSlots = (slots: number, groupMax = slots) =>
  new QueueSlots<Work>({ slots, groupOf: ({ team }) => team, groupMax: () => groupMax, orderingKeyOf: ({ order }) => order })

function beginAll(slots: QueueSlots<Work>): Work[] {
  const begun: Work[] = []
  for (let next = slots.next(); next; next = slots.next()) begun.push(next)
  return begun
}
const numbers = (items: Work[]) => items.map(({ n }) => n)

test('rows with the same ordering key are worked on one after the other, in the order of their claims', () => {
  const slots = createSlots(4)
  for (const one of [work('a', 'x', 1), work('a', 'x', 2), work('a', 'y', 3), work('a', 'x', 4)]) slots.add(one)
  const first = beginAll(slots)
  assert.deepEqual(numbers(first), [1, 3])
  slots.end(first[0]!, 0)
  assert.deepEqual(numbers(beginAll(slots)), [2])
  slots.end(first[1]!, 0)
  assert.deepEqual(numbers(beginAll(slots)), [], 'the row before the last one is still worked on')
})

test('a group that has its share leaves the last slots to groups without running rows', () => {
  const slots = createSlots(4, 2)
  for (let n = 0; n < 4; n++) slots.add(work('a', `a${n}`, n))
  assert.deepEqual(numbers(beginAll(slots)), [0, 1])
  slots.add(work('b', 'b', 10))
  slots.add(work('c', 'c', 11))
  slots.add(work('d', 'd', 12))
  assert.deepEqual(numbers(beginAll(slots)), [10, 11])
})

test('of groups with as many running rows, the one whose last turn was the earliest is the next', () => {
  const slots = createSlots(3)
  for (let n = 0; n < 8; n++) for (const team of ['a', 'b']) slots.add(work(team, `${team}${n}`, n))
  const running = beginAll(slots)
  const turns = [...running]
  for (let n = 0; n < 9; n++) {
    slots.end(running.shift()!, 0)
    const begun = beginAll(slots)
    running.push(...begun)
    turns.push(...begun)
  }
  assert.equal(turns.map(({ team }) => team).join(''), 'abababababab')
  assert.deepEqual([...slots.limits(0).claimedRows.keys()], ['a', 'b'])
})

test('claims are limited to the free slots plus the recent throughput', () => {
  const slots = createSlots(2)
  assert.equal(slots.limits(1000).total, 2)
  slots.add(work('a', 'x', 1))
  assert.equal(slots.limits(1000).total, 1)
  const [one] = beginAll(slots)
  slots.end(one!, 1050)
  assert.equal(slots.limits(1060).total, 3)
  assert.equal(slots.limits(2000).total, 2)
})

test('waiting rows can be removed, running rows cannot', () => {
  const slots = createSlots(1)
  slots.add(work('a', 'x', 1))
  slots.add(work('a', 'y', 2))
  beginAll(slots)
  assert.deepEqual(numbers(slots.withdraw()), [2])
  assert.deepEqual(numbers(slots.withdraw()), [])
})
