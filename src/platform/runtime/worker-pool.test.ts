import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createWorkerPool, WorkerPoolBusy, WorkerLimitExceeded } from './worker-pool.ts'

const task = new URL('../../../test/support/worker-thread-tasks.ts', import.meta.url)
const pool = createWorkerPool()
after(() => pool.close())

const area = () => pool.run<{ area: number; in_worker: boolean }>(task, { width: 6, height: 7 })

/** Tasks that keep every thread of `full` busy until `free` is called. */
function occupy(full: ReturnType<typeof createWorkerPool>, threads: number) {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  const held = Array.from({ length: threads }, () => full.run<number>(task, cell, { name: 'blockUntilSet' }))
  return {
    held,
    free() {
      Atomics.store(cell, 0, 1)
      Atomics.notify(cell, 0)
    },
  }
}

test('a TypeScript file runs off the main thread through its default export', async () => {
  assert.deepEqual(await area(), { area: 42, in_worker: true })
})

test('another export is selected by name, and bytes are passed in and out', async () => {
  assert.deepEqual(await pool.run(task, new Uint8Array([1, 2, 3]), { name: 'reverseBytes' }), new Uint8Array([3, 2, 1]))
})

test('a task may be named by an absolute path or by the text of its URL', async () => {
  for (const named of [task.href, task.pathname])
    assert.equal((await pool.run<{ area: number }>(named, { width: 2, height: 2 })).area, 4)
})

test('an error of a task arrives unchanged', async () => {
  await assert.rejects(pool.run(task, null, { name: 'throwError' }), { name: 'RangeError', message: 'the width is missing' })
})

test('a missing file and a missing export are rejected', async () => {
  await assert.rejects(pool.run(new URL('./no-such.fixture.ts', import.meta.url), null), /Cannot find module/)
  await assert.rejects(pool.run(task, null, { name: 'absent' }), /No handler function exported/)
})

test('input that cannot be copied is rejected, and the next task runs', async () => {
  await assert.rejects(
    pool.run(task, { width: () => 6 }),
    (error: Error) => error.name === 'DataCloneError' && !(error instanceof WorkerPoolBusy),
  )
  assert.equal((await area()).area, 42)
})

test('a task without an end is stopped at its time limit, and the next task runs', async () => {
  await assert.rejects(
    pool.run(task, null, { name: 'loopForever', timeout_ms: 300 }),
    (error) => error instanceof WorkerLimitExceeded && error.limit === 'time' && error.message.includes('300 ms'),
  )
  assert.equal((await area()).area, 42)
})

for (const kind of ['objects', 'buffers', 'map'])
  test(`terminates a task that exceeds the memory limit through ${kind}`, async () => {
    const small = createWorkerPool({ memory_max_mb: 64 })
    await assert.rejects(
      small.run(task, kind, { name: 'allocateForever' }),
      (error) => error instanceof WorkerLimitExceeded && error.limit === 'memory' && error.message.includes('64 MB'),
    )
    assert.equal((await small.run<{ area: number }>(task, { width: 6, height: 7 })).area, 42)
    await small.close()
  })

test('a task that ends its own thread fails alone', async () => {
  await assert.rejects(pool.run(task, null, { name: 'exitProcess' }), /worker exited with code: 3/)
  assert.equal((await area()).area, 42)
})

test('two tasks run at the same time', async () => {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  const both = [pool.run(task, cell, { name: 'meeting' }), pool.run(task, cell, { name: 'meeting' })]
  assert.deepEqual(await Promise.all(both), [2, 2])
})

test('tasks waiting behind stopped ones still get a thread', async () => {
  const [first, second, ...waiting] = await Promise.allSettled([
    pool.run(task, null, { name: 'loopForever', timeout_ms: 300 }),
    pool.run(task, null, { name: 'loopForever', timeout_ms: 300 }),
    area(),
    area(),
    area(),
  ])
  assert.deepEqual([first!.status, second!.status], ['rejected', 'rejected'])
  assert.deepEqual(
    waiting.map((outcome) => outcome.status),
    ['fulfilled', 'fulfilled', 'fulfilled'],
  )
})

test('the task after 200 waiting ones is rejected as busy, and all others run', async () => {
  const small = createWorkerPool({ threads_max: 1 })
  const { held, free } = occupy(small, 1)
  const waiting = Array.from({ length: 200 }, () => small.run(task, { width: 1, height: 1 }))
  await assert.rejects(small.run(task, { width: 1, height: 1 }), WorkerPoolBusy)
  free()
  assert.equal((await Promise.all([...held, ...waiting])).length, 201)
  await small.close()
})

test('a task that gets no thread within its time limit is rejected as busy', async () => {
  const small = createWorkerPool({ threads_max: 1 })
  const { held, free } = occupy(small, 1)
  await assert.rejects(small.run(task, { width: 1, height: 1 }, { timeout_ms: 50 }), WorkerPoolBusy)
  free()
  await Promise.all(held)
  await small.close()
})

test('close rejects queued and new tasks and waits for running ones', async () => {
  const small = createWorkerPool({ threads_max: 1 })
  const { held, free } = occupy(small, 1)
  const waiting = small.run(task, { width: 1, height: 1 })
  const closed = [small.close(), small.close()]
  await assert.rejects(waiting, WorkerPoolBusy)
  await assert.rejects(small.run(task, { width: 1, height: 1 }), WorkerPoolBusy)
  free()
  assert.deepEqual(await Promise.all(held), [1])
  await Promise.all(closed)
})
