// The program on a machine whose clock is wrong: a whole process, whose `Date` is ahead or behind by so many seconds.
import { fileURLToPath } from 'node:url'
import { start, type ServerProcess } from '../program.ts'

const preload = fileURLToPath(new URL('skewed-date.ts', import.meta.url))

/** A command of the program with a clock that is ahead by `seconds`, or behind where that is negative. */
export const drawbridgeSkewed = (seconds: number, command: string, settings: Record<string, string> = {}): ServerProcess =>
  start({
    args: ['--import', preload, 'src/cli/entry.js', command],
    settings: { ...settings, CLOCK_SKEW_S: String(seconds) },
  })
