// How much of a processor the server and its database have used: unlike rates, it does not depend on what else the machine does.
import { readFileSync, readdirSync } from 'node:fs'
import type { Bench } from './program.ts'

/** Of Linux; so many are a second. */
const TICKS = 100

interface Stat {
  parent: number
  /** Of the process itself. */
  ticks: number
  /** Of its children that have ended. */
  ended_ticks: number
}

function statOf(pid: number | string): Stat | undefined {
  try {
    // The name may hold spaces and parentheses.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number)
    return { parent: fields[1]!, ticks: fields[11]! + fields[12]!, ended_ticks: fields[13]! + fields[14]! }
  } catch {
    return undefined
  }
}

/** Seconds of a processor since their start: of the server with its threads, and of all processes of the database. */
export async function processorSeconds({ pid, db }: Pick<Bench, 'pid' | 'db'>): Promise<{ server: number; database: number }> {
  const { rows } = await db.query('select pg_backend_pid() as pid')
  const postmaster = statOf(rows[0].pid)!.parent
  const { ticks, ended_ticks } = statOf(postmaster)!
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(name))
    .filter((stat) => stat?.parent === postmaster)
  const database = children.reduce((sum, stat) => sum + stat!.ticks, ticks + ended_ticks)
  return { server: statOf(pid)!.ticks / TICKS, database: database / TICKS }
}

/** Microseconds of a processor that each of `count` things takes, of the server and of the database. */
export async function sampleProcessorTime(
  bench: Pick<Bench, 'pid' | 'db'>,
  work: () => Promise<number>,
): Promise<{ server_us: number; database_us: number }> {
  const before = await processorSeconds(bench)
  const count = await work()
  const after = await processorSeconds(bench)
  const each = (seconds: number) => (seconds * 1e6) / count
  return { server_us: each(after.server - before.server), database_us: each(after.database - before.database) }
}
