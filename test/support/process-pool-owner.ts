// A process with a pool whose child loops without an end: a test kills this one. It prints the id of the child before.
import { createProcessPool } from '../../src/platform/runtime/process-pool.ts'

const task = new URL('./child-process-tasks.ts', import.meta.url)
const pool = createProcessPool({ processes_max: 1, memory_max_mb: 256, cpu_s_max: 60, reads: [import.meta.dirname] })
const { pid } = await pool.run<{ pid: number }>(task, { width: 1, height: 1 })
process.stdout.write(`${pid}\n`)
await pool.run(task, null, { name: 'loopForever', timeout_ms: 60_000 })
