// The priority of work that no caller awaits within a second, compared with requests that are answered in milliseconds.
import { constants, getPriority, setPriority } from 'node:os'

/**
 * How much nicer such work is: a thread whose result a caller awaits gets a third of the time that a thread of usual priority gets at the same time, one
 * in the background a tenth, and both all that is left over.
 */
const STEPS = { waited: 5, background: 10 }

/**
 * Lowers the priority of the thread that calls it, and of threads that it starts. Only on Linux, where threads have priorities of their own;
 * elsewhere nothing happens. A thread cannot raise it again.
 */
export function lowerPriority(kind: keyof typeof STEPS): void {
  if (process.platform !== 'linux') return
  // Process 0 is the calling thread.
  setPriority(0, Math.min(constants.priority.PRIORITY_LOW, getPriority(0) + STEPS[kind]))
}
