// Measures the turns of the event loop. In one turn the main thread serves everything that is ready; a request that comes meanwhile waits
// for its end. A turn that computes for long is counted and logged with what computed most in it.
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { endTurn } from '../runtime/loop-work.ts'

/** A turn that takes longer is a block. */
const BLOCK_MS = 250
/** A block in which the main thread computed for less was a wait for the processor or the disk: other programs had the machine. */
const COMPUTED_MS = BLOCK_MS / 2
/** A turn that takes longer has a line of its own at the level `debug`. */
const LONG_MS = 20

/** The processor time of the main thread, in milliseconds. Node before 23.9 measures that of the whole process alone. */
const processorMs = (): number => {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage()
  return (user + system) / 1000
}

/**
 * Starts measuring turns. `metrics` gets each: its duration without the wait for input, and the processor time of the main thread, which
 * is shorter where other programs had the processor. A block is counted and logged: the `operation`, `job` or `task` that computed longest
 * in it and for how long, the duration of the turn, and its processor time; at the level `info` if it mostly waited for the machine. At the level `debug` every turn above 20 ms is logged.
 * @returns what ends it
 */
export function monitorLoop(log: Log, metrics: Metrics): () => void {
  let [last_ms, last_idle_ms, last_processor_ms] = [performance.now(), performance.nodeTiming.idleTime, processorMs()]
  const measure = () => {
    const [now_ms, idle_ms, processor_ms] = [performance.now(), performance.nodeTiming.idleTime, processorMs()]
    const turn = { wall_ms: now_ms - last_ms - (idle_ms - last_idle_ms), processor_ms: processor_ms - last_processor_ms }
    ;[last_ms, last_idle_ms, last_processor_ms] = [now_ms, idle_ms, processor_ms]
    const most = endTurn()
    metrics.turn(turn.wall_ms / 1000, turn.processor_ms / 1000)
    if (turn.wall_ms >= LONG_MS) {
      const { kind = 'task', name = 'none' } = most?.work ?? {}
      const [duration_ms, turn_ms, processor_ms] = [most?.ms ?? 0, turn.wall_ms, turn.processor_ms].map(Math.round)
      const fields = { [kind]: name, duration_ms, turn_ms, processor_ms }
      if (turn.wall_ms < BLOCK_MS) log.debug(fields, 'a turn of the event loop was long')
      else {
        metrics.countBlock(kind, name)
        log[turn.processor_ms >= COMPUTED_MS ? 'warn' : 'info'](fields, 'the event loop was blocked')
      }
    }
    immediate = setImmediate(measure).unref()
  }
  endTurn()
  // One that is not waited for runs once in each turn, and makes none.
  let immediate = setImmediate(measure).unref()
  return () => clearImmediate(immediate)
}
