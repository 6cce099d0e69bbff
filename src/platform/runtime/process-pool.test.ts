import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually } from '../../../test/support/eventually.ts'
import { createProcessPool, type ProcessPoolOptions } from './process-pool.ts'
import { hasNamespaces, type Confinement } from './task-limits.ts'
import { WorkerLimitExceeded, WorkerPoolBusy } from './worker-pool.ts'

const support = fileURLToPath(new URL('../../../test/support/', import.meta.url))
const task = new URL('../../../test/support/child-process-tasks.ts', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'process-pool-'))
after(() => rmSync(folder, { recursive: true }))

function poolOf(options: Partial<ProcessPoolOptions> = {}) {
  const pool = createProcessPool({ processes_max: 1, memory_max_mb: 256, cpu_s_max: 60, reads: [support, folder], ...options })
  after(() => pool.close())
  return pool
}
const pool = poolOf({ processes_max: 2 })

interface Area {
  area: number
  pid: number
}
const area = (workerPool = pool) => workerPool.run<Area>(task, { width: 6, height: 7 })

/** Whether a process runs; one that has ended may wait for its parent to ask how. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

const isLimit = (limit: WorkerLimitExceeded['limit']) => (error: unknown) =>
  error instanceof WorkerLimitExceeded && error.limit === limit

test('a task runs in another process, which the next task uses again', async () => {
  const one = poolOf()
  const [first, second] = [await area(one), await area(one)]
  assert.equal(first.area, 42)
  assert.notEqual(first.pid, process.pid)
  assert.equal(second.pid, first.pid)
})

test('bytes are passed in and out, also a million of them', async () => {
  const bytes = new Uint8Array(1_000_000).map((_, index) => index)
  assert.deepEqual(await pool.run(task, bytes, { name: 'reverseBytes' }), bytes.toReversed())
})

test('an error of a task arrives with its name and message', async () => {
  await assert.rejects(pool.run(task, null, { name: 'throwError' }), { name: 'RangeError', message: 'the width is missing' })
})

test('a missing file, a missing export and an input that cannot be copied are rejected, and the next task runs', async () => {
  await assert.rejects(pool.run(new URL('./no-such.fixture.ts', import.meta.url), null), /Cannot find module/)
  await assert.rejects(pool.run(task, null, { name: 'absent' }), /No handler function exported/)
  await assert.rejects(pool.run(task, { width: () => 6 }), { name: 'Error', message: /could not be cloned/ })
  assert.equal((await area()).area, 42)
})

test('a task without an end is stopped at its time limit, with the processor time that it used, and the next task runs', async () => {
  await assert.rejects(
    pool.run(task, null, { name: 'loopForever', timeout_ms: 3_000 }),
    (error: WorkerLimitExceeded) => isLimit('time')(error) && (process.platform !== 'linux' || error.cpu_ms! > 0),
  )
  assert.equal((await area()).area, 42)
})

test('the kernel ends a process that takes more of the processor than all its tasks may', async () => {
  const short = poolOf({ cpu_s_max: 1 })
  await assert.rejects(short.run(task, null, { name: 'loopForever', timeout_ms: 60_000 }), isLimit('time'))
})

for (const kind of ['objects', 'buffers', 'pixels'])
  test(`a task that takes memory without an end as ${kind} is stopped, and the next task runs`, async () => {
    await assert.rejects(
      pool.run(task, kind, { name: 'allocateForever', timeout_ms: 60_000 }),
      // The last: the kernel gave no memory for a further canvas before the process was looked at.
      (error) => isLimit('memory')(error) || isLimit('process')(error) || /skia surface failed/.test(String(error)),
    )
    assert.equal((await area()).area, 42)
  })

test(
  'the kernel gives a task no memory beyond its limit, before it is used',
  { skip: process.platform !== 'linux' && 'only Linux limits the memory of a process' },
  async () => {
    await assert.rejects(pool.run(task, 400 * 2 ** 20, { name: 'allocateOnce' }), /allocation failed|memory/i)
    assert.equal(await pool.run(task, 50 * 2 ** 20, { name: 'allocateOnce' }), 50 * 2 ** 20)
  },
)

for (const name of ['abortProcess', 'killProcess'])
  test(`a task that ends its own process fails alone (${name})`, async () => {
    await assert.rejects(pool.run(task, null, { name }), isLimit('process'))
    assert.equal((await area()).area, 42)
  })

test('a task that returns more than it may is rejected, and the next task runs', async () => {
  const small = poolOf({ reply_max_mb: 1 })
  await assert.rejects(small.run(task, 2 * 2 ** 20, { name: 'manyBytes' }), /of at most 1048576/)
  assert.equal((await area(small)).area, 42)
})

test('a task reads and writes no other file, starts no process and has no settings', async () => {
  const file = join(folder, 'file')
  writeFileSync(file, 'kept')
  const secret = fileURLToPath(new URL('../../../README.md', import.meta.url))
  const fresh = join(folder, 'fresh')
  const codes = await pool.run<Record<string, string>>(task, { file, fresh, secret }, { name: 'forbidden' })
  for (const [action, code] of Object.entries(codes)) assert.match(code, /^(ERR_ACCESS_DENIED|EACCES)$/, action)
  assert.equal(readFileSync(file, 'utf8'), 'kept')
  assert.equal(existsSync(fresh), false)
  const names = await pool.run<string[]>(task, null, { name: 'environment' })
  const allowed = /^(MALLOC_ARENA_MAX|MIMALLOC_ARENA_RESERVE|UV_THREADPOOL_SIZE|TZ|PWD|OLDPWD|SHLVL|_)$/
  assert.deepEqual(
    names.filter((name) => !allowed.test(name)),
    [],
  )
})

test('the pool logs once which limits the system enforces', async () => {
  const said: Confinement[] = []
  const one = poolOf({ onConfined: (confinement) => void said.push(confinement) })
  await area(one)
  await area(one)
  assert.deepEqual(said, [{ isMemoryLimited: process.platform === 'linux', isOffline: await hasNamespaces() }])
})

test('a task has no network where the system lets the account do without', async (t) => {
  if (!(await hasNamespaces())) return t.skip('this system has no user namespaces for the account')
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  assert.match((await pool.run<string>(task, port, { name: 'tryConnect' })) ?? 'connected', /^E(NETUNREACH|CONNREFUSED)$/)
  server.close()
})

test('a process without work ends after a while', async () => {
  const brief = poolOf({ idle_ms: 50 })
  const { pid } = await area(brief)
  await eventually(() => !isAlive(pid), 'the process has ended')
})

test('a process that ended while it had no work is replaced', async () => {
  const one = poolOf()
  const { pid } = await area(one)
  process.kill(pid, 'SIGKILL')
  await eventually(() => !isAlive(pid), 'the process has ended')
  // The pool hears of it a moment later.
  const next = await eventually(() => area(one).catch(() => undefined), 'a task runs')
  assert.notEqual(next.pid, pid)
})

test('a process that is killed leaves no child behind, not even one that loops', async () => {
  const owner = spawn(process.execPath, [join(support, 'process-pool-owner.ts')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(owner.stdout, 'data')) as [Buffer]
  const pid = Number(line.toString())
  assert(isAlive(pid))
  owner.kill('SIGKILL')
  await eventually(() => !isAlive(pid), 'the process has ended')
})

test('close rejects waiting and new tasks and waits for running ones', async () => {
  const one = poolOf()
  const path = join(folder, 'release')
  const running = one.run(task, path, { name: 'blockUntilExists' })
  const waiting = one.run(task, path, { name: 'blockUntilExists' })
  const closed = [one.close(), one.close()]
  await assert.rejects(waiting, WorkerPoolBusy)
  await assert.rejects(area(one), WorkerPoolBusy)
  writeFileSync(path, '')
  assert.equal(await running, 1)
  await Promise.all(closed)
})
