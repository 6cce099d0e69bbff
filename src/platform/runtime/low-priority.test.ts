import assert from 'node:assert/strict'
import { getPriority } from 'node:os'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createProcessPool } from './process-pool.ts'
import { createWorkerPool } from './worker-pool.ts'

const task = new URL('../../../test/support/low-priority-task.ts', import.meta.url)
const pool = createWorkerPool()
after(() => pool.close())

test(
  'a thread that lowers its priority is nicer than the one that serves requests',
  { skip: process.platform !== 'linux' },
  async () => {
    const before = getPriority(0)
    const { priority, initialPriority: inherited } = await pool.run<{ priority: number; initialPriority: number }>(
      task,
      undefined,
    )
    assert.equal(inherited, before)
    assert.equal(priority, Math.min(19, before + 10))
    assert.equal(getPriority(0), before)
  },
)

test('the threads that draw documents have a lower priority', { skip: process.platform !== 'linux' }, async () => {
  const before = getPriority(0)
  for (const module of ['lab/documents/documents.task.ts', 'lab/results/report-pdf.task.ts']) {
    const fresh = createWorkerPool({ threads_max: 1 })
    const priority = await fresh.run<number>(task, new URL(`../../${module}`, import.meta.url).href, { name: 'afterLoading' })
    await fresh.close()
    assert.equal(priority, Math.min(19, before + 5), module)
  }
})

test('child processes have a lower priority', { skip: process.platform !== 'linux' }, async () => {
  const children = createProcessPool({
    processes_max: 1,
    memory_max_mb: 256,
    cpu_s_max: 60,
    reads: [fileURLToPath(new URL('.', task))],
  })
  try {
    assert.equal(await children.run<number>(task, undefined, { name: 'ownPriority' }), Math.min(19, getPriority(0) + 5))
  } finally {
    await children.close()
  }
})
