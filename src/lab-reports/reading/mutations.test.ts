// Damaged files by the thousand: whatever the bytes are, a child process ends with an answer or at its limits.
// Each day has a seed of its own, which the title says. MUTATIONS=20000 tries more of them, MUTATIONS_SEED=5 those of another seed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createProcessPool } from '../../platform/runtime/process-pool.ts'
import { WorkerLimitExceeded } from '../../platform/runtime/worker-pool.ts'
import type { Outcome } from '../../../test/support/mutated-files.task.ts'
import { damagedFile, originals, randomOf } from '../../../test/support/damaged-files.ts'

const COUNT = Number(process.env.MUTATIONS ?? 300)
const SEED = Number(process.env.MUTATIONS_SEED ?? Math.floor(Date.now() / 86_400_000))
/** Drawing a page takes a hundred times as long as opening it. */
const DRAWN_EVERY = 200
const OPEN_MS_MAX = 10_000

const task = new URL('../../../test/support/mutated-files.task.ts', import.meta.url)

/** What PostgreSQL cannot store as JSON. */
const isStorable = (value: unknown): boolean => {
  const text = JSON.stringify(value)
  return !text.includes('\\u0000') && !/\\ud[89a-f]/i.test(text)
}

test(`${COUNT} damaged files of seed ${SEED} each end with an answer, or at the limits of their process`, async (t) => {
  const random = randomOf(SEED)
  const files = await originals()
  const reads = [fileURLToPath(new URL('./', task))]
  const pool = createProcessPool({ processes_max: 1, memory_max_mb: 576, cpu_s_max: 1_000, reads })
  const counts = new Map<string, number>()
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  for (let number = 0; number < COUNT; number++) {
    const which = `mutation ${number} of seed ${SEED}`
    const file = damagedFile(files, number, random)
    try {
      const draws = number % DRAWN_EVERY < files.length
      const { inspection, report, failure, isDrawn } = await pool.run<Outcome>(task, { file, draws }, { timeout_ms: OPEN_MS_MAX })
      assert(isStorable(report ?? null), `${which}: the report cannot be stored`)
      count('problem' in inspection ? inspection.problem : failure ? `failure ${failure}` : report ? 'read' : 'decoded')
      if (isDrawn) count('drawn')
    } catch (error) {
      assert(error instanceof WorkerLimitExceeded, `${which}: ${(error as Error).stack}`)
      count(`limit of ${error.limit}`)
    }
  }
  await pool.close()
  t.diagnostic([...counts].map(([name, n]) => `${name} ${n}`).join(', '))
  for (const name of ['read', 'decoded', 'corrupt', 'picture']) assert((counts.get(name) ?? 0) > COUNT / 100, name)
})
