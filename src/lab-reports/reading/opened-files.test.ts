import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../platform/runtime/problem.ts'
import { FileThreads } from './opened-files.ts'

const tasks = new URL('../../../test/support/worker-thread-tasks.ts', import.meta.url)

test('ten files of one team that take long delay no other team, and an eleventh gets 429', async () => {
  const threads = new FileThreads()
  const cell = new Int32Array(new SharedArrayBuffer(4))
  const slow = Array.from({ length: 10 }, () => threads.run<number>('slow', tasks, 'held', cell))
  await assert.rejects(threads.run('slow', tasks, 'held', cell), (error) => error instanceof Problem && error.status === 429)
  assert.deepEqual(await threads.run('other', tasks, 'reversed', Uint8Array.of(1, 2)), Uint8Array.of(2, 1))
  Atomics.store(cell, 0, 1)
  Atomics.notify(cell, 0)
  assert.deepEqual(
    await Promise.all(slow),
    Array.from({ length: 10 }, () => 1),
  )
  await threads.close()
})

test('a file whose thread gets no processor in its time is not called damaged: the answer is 503', async () => {
  const threads = new FileThreads({ open_ms_max: 2_000 })
  const cell = new Int32Array(new SharedArrayBuffer(4))
  await assert.rejects(
    threads.run('team', tasks, 'held', cell),
    (error) => error instanceof Problem && error.status === 503 && error.headers['retry-after'] === '5',
  )
  await threads.close()
})

test('a file that no thread takes any more gets 503 with Retry-After', async () => {
  const threads = new FileThreads()
  await threads.close()
  await assert.rejects(
    threads.run('team', tasks, 'held', new Int32Array(1)),
    (error) => error instanceof Problem && error.status === 503 && error.headers['retry-after'] === '2',
  )
})
