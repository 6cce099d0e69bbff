// How far V8 lets the heap of the process grow with garbage, while files are imported.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const SMALL_PERCENT = 30

/**
 * Lets garbage grow to a third of the heap only, until `letHeapGrow`. An import of 2 GB must take at most 400 MB, and took 449 MB without this
 * (`npm run bench apple-export`). Collects once, in a task of its own, because V8 decides how far a heap may grow when it has collected it.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${SMALL_PERCENT}`)
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as (options: { type: 'major'; execution: 'async' }) => Promise<void>
  setFlagsFromString('--no-expose-gc')
  void gc({ type: 'major', execution: 'async' })
}

/** V8 decides again by itself: a heap of 50 MB grows to three times its size before it is collected. */
export const letHeapGrow = (): void => setFlagsFromString('--heap-growing-percent=0')
