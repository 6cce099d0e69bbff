import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from './problem.ts'
import { ConcurrencyLimit } from './concurrency-limit.ts'

const limits = { running_max: 2, running_max_each: 1, waiting_max: 3, waiting_max_each: 2, wait_ms: 60_000 }

/** Tasks that run until they are ended, with the order in which they began. */
function tasks(limit: ConcurrencyLimit) {
  const began: string[] = []
  const ends = new Map<string, () => void>()
  const take = (owner: string, name: string): Promise<string> =>
    limit.run(
      () => {
        began.push(name)
        const { promise, resolve } = Promise.withResolvers<string>()
        ends.set(name, () => resolve(name))
        return promise
      },
      { owner },
    )
  const end = async (name: string, work: Promise<string>) => {
    ends.get(name)!()
    await work
  }
  return { began, take, end }
}

const assertRefused = (status: number) => (error: unknown) =>
  error instanceof Problem && error.status === status && Number(error.headers['retry-after']) >= 1

test('an owner with much work leaves a turn to another owner, and owners take turns', async () => {
  const { began, take, end } = tasks(new ConcurrencyLimit(limits))
  const one = take('a', 'a1')
  const two = take('a', 'a2')
  const three = take('a', 'a3')
  const other = take('b', 'b1')
  assert.deepEqual(began, ['a1', 'b1'])
  const third = take('c', 'c1')
  await end('a1', one)
  assert.deepEqual(began, ['a1', 'b1', 'a2'])
  await end('a2', two)
  assert.deepEqual(began, ['a1', 'b1', 'a2', 'c1'])
  await end('c1', third)
  await end('b1', other)
  await end('a3', three)
  assert.deepEqual(began, ['a1', 'b1', 'a2', 'c1', 'a3'])
})

test('too many tasks of one owner get 429, and too many tasks of all owners get 503', async () => {
  const { take, end } = tasks(new ConcurrencyLimit(limits))
  const running = [take('a', 'a1'), take('b', 'b1')]
  const waiting = [take('a', 'a2'), take('a', 'a3'), take('b', 'b2')]
  await assert.rejects(take('a', 'a4'), assertRefused(429))
  await assert.rejects(take('c', 'c1'), assertRefused(503))
  await end('a1', running[0]!)
  await end('b1', running[1]!)
  await end('a2', waiting[0]!)
  await end('b2', waiting[2]!)
  await end('a3', waiting[1]!)
})

test('a task whose turn does not come in time gets 503 and is not run', async () => {
  const { began, take, end } = tasks(new ConcurrencyLimit({ ...limits, running_max: 1, wait_ms: 1 }))
  const running = take('a', 'a1')
  await assert.rejects(take('b', 'b1'), assertRefused(503))
  await end('a1', running)
  assert.deepEqual(began, ['a1'])
})

test('a failure gives the turn back', async () => {
  const limit = new ConcurrencyLimit({ ...limits, running_max: 1 })
  await assert.rejects(
    limit.run(() => Promise.reject(new Error('failed'))),
    /failed/,
  )
  assert.equal(await limit.run(() => Promise.resolve(5)), 5)
})
