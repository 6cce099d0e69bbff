// The memory of the processes of a server, as Linux counts it: the peak over time of their sum, not the sum of their peaks, which they reach at
// different times. The sum is taken every 100 ms. The kernel needs milliseconds for each process with shared buffers, so a process whose
// resident pages are as many as before is not looked at again:
//
// - memory of their own, and memory that they share with each other, such as the buffers of PostgreSQL and what its processes have from the
//   one that started them: the proportional set size (Pss_Anon and Pss_Shmem of /proc/PID/smaps_rollup), so that it counts once;
// - programs and libraries that are mapped from files: for each program what its largest process has of them (RssFile), so that they count
//   once. Their proportional size would be too small, since processes outside the server share them as well.
import { readdirSync, readFileSync } from 'node:fs'
import { postmastersOn } from '../support/program.ts'

const SAMPLE_MS = 100

/** Memory in kB, of PostgreSQL and of all. */
interface Sum {
  total: number
  postgres: number
}

/** Watches the processes of a server from now on, those that it starts meanwhile included. */
export class MemoryWatch {
  readonly #roots: number[]
  readonly #timer: NodeJS.Timeout
  /** Which process has started each process of the machine. */
  #parents = new Map<number, number>()
  /** Of each process, with the number of its resident pages then. */
  readonly #known = new Map<number, { pages: string; memory: Memory }>()
  #peak: Sum = { total: 0, postgres: 0 }

  constructor(pid: number, dataDir: string) {
    this.#roots = [pid, ...postmastersOn(dataDir)]
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS)
    this.#sample()
  }

  stop(): void {
    this.#sample()
    clearInterval(this.#timer)
  }

  get peak_mb(): number {
    return Math.round(this.#peak.total / 1024)
  }

  /** Of the peak. */
  get postgres_mb(): number {
    return Math.round(this.#peak.postgres / 1024)
  }

  #sample(): void {
    const sum: Sum = { total: 0, postgres: 0 }
    const files = new Map<string, number>()
    for (const pid of this.#processes()) {
      const memory = this.#memoryOf(pid)
      if (!memory) continue
      const { program } = memory
      sum.total += memory.own_kb
      if (program === POSTGRES) sum.postgres += memory.own_kb
      files.set(program, Math.max(files.get(program) ?? 0, memory.files))
    }
    for (const kb of files.values()) sum.total += kb
    sum.postgres += files.get(POSTGRES) ?? 0
    if (sum.total > this.#peak.total) this.#peak = sum
  }

  #memoryOf(pid: number): Memory | undefined {
    const pages = read(pid, 'statm')?.split(' ')[1]
    if (pages === undefined) return undefined
    const known = this.#known.get(pid)
    if (known?.pages === pages) return known.memory
    const memory = memoryOf(pid)
    if (memory) this.#known.set(pid, { pages, memory })
    return memory
  }

  /** Only processes that are new are read: a machine has hundreds. */
  #processes(): Set<number> {
    const parents = new Map<number, number>()
    for (const name of readdirSync('/proc')) {
      const pid = Number(name)
      const parent = pid > 0 ? (this.#parents.get(pid) ?? parentOf(pid)) : undefined
      if (parent !== undefined) parents.set(pid, parent)
    }
    this.#parents = parents
    const tree = new Set(this.#roots)
    // A process may be listed before its parent.
    for (let before = 0; before < tree.size;) {
      before = tree.size
      for (const [pid, parent] of parents) if (tree.has(parent)) tree.add(pid)
    }
    return tree
  }
}

const POSTGRES = 'postgres'

function parentOf(pid: number): number | undefined {
  const status = read(pid, 'status')
  return status === undefined ? undefined : Number(/^PPid:\s*(\d+)/m.exec(status)?.[1])
}

interface Memory {
  program: string
  own_kb: number
  /** In kB. */
  files: number
}

/** Undefined if the process has ended. */
function memoryOf(pid: number): Memory | undefined {
  const shares = read(pid, 'smaps_rollup')
  const status = read(pid, 'status')
  if (!shares || !status) return undefined
  const program = /^Name:\s*(.*)$/m.exec(status)?.[1] ?? ''
  return { program, own_kb: value(shares, 'Pss_Anon') + value(shares, 'Pss_Shmem'), files: value(status, 'RssFile') }
}

/** A process without memory, since it ends just now, has no value. */
const value = (text: string, name: string): number => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(text)?.[1] ?? 0)

/** Errors: all but that the process has ended, so that no process is left out. */
function read(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch (error) {
    if (ENDED.has((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

const ENDED = new Set(['ENOENT', 'ESRCH'])
