// The memory of the processes of a server, as Linux counts it.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { postmastersOn } from '../support/program.ts'

const SAMPLE_MS = 50

interface Memory {
  pid: number
  parent: number
  isPostgres: boolean
  peak_kb: number
  private_kb: number
  shared_kb: number
}

/** Watches the processes of a server from now on, those that it starts meanwhile included. */
export class MemoryWatch {
  readonly #roots: number[]
  readonly #timer: NodeJS.Timeout
  #peak_kb = 0
  #postgres_kb = 0

  constructor(pid: number, dataDir: string) {
    this.#roots = [pid, ...postmastersOn(dataDir)]
    for (const { pid } of this.#processes()) forgetPeak(pid)
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS)
    this.#sample()
  }

  stop(): void {
    this.#sample()
    clearInterval(this.#timer)
  }

  get peak_mb(): number {
    return Math.round(this.#peak_kb / 1024)
  }

  /** Of the peak. */
  get postgres_mb(): number {
    return Math.round(this.#postgres_kb / 1024)
  }

  #sample(): void {
    const all = this.#processes()
    const [postgres, ours] = [true, false].map((is) => all.filter(({ isPostgres }) => isPostgres === is)) as [Memory[], Memory[]]
    const database_kb =
      sum(postgres.map(({ private_kb }) => private_kb)) + Math.max(0, ...postgres.map(({ shared_kb }) => shared_kb))
    const kb = database_kb + sum(ours.map(({ peak_kb }) => peak_kb))
    if (kb <= this.#peak_kb) return
    this.#peak_kb = kb
    this.#postgres_kb = database_kb
  }

  #processes(): Memory[] {
    const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (memoryOf(Number(name)) ?? []) : []))
    const tree = new Set(this.#roots)
    // A process may be listed before its parent.
    for (let before = 0; before < tree.size;) {
      before = tree.size
      for (const { pid, parent } of all) if (tree.has(parent)) tree.add(pid)
    }
    return all.filter(({ pid }) => tree.has(pid))
  }
}

/** Resets the peak memory that Linux has counted for a process. */
function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
  } catch {
    // It has ended.
  }
}

function memoryOf(pid: number): Memory | undefined {
  let status: string
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return undefined
  }
  const value = (name: string): string => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? '0'
  return {
    pid,
    parent: Number(value('PPid')),
    isPostgres: value('Name') === 'postgres',
    peak_kb: Number(value('VmHWM')),
    private_kb: Number(value('RssAnon')),
    shared_kb: Number(value('RssShmem')),
  }
}

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0)
