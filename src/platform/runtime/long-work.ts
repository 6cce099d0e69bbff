// Long work of teams: requests with long bodies, queries, and the batches of imports. Each of them keeps a processor of the server or of the
// database busy; next to a team that does all of them at once, requests of others would wait for a processor.
import { ConcurrencyLimit } from './concurrency-limit.ts'

const WAIT_MS = 30_000

/** Each kind of work has a limit of its own before this one, so that few pieces wait here and kinds take turns. */
const turns = new ConcurrencyLimit({
  running_max: Infinity,
  running_max_each: 1,
  waiting_max: 1000,
  waiting_max_each: 20,
  wait_ms: WAIT_MS,
})

/**
 * Runs a piece of long work of a team when this process runs no other one of it, first come, first served. To be called without a
 * connection of the database, for which the running piece may wait.
 * Errors: those of the work; 429 if 20 pieces of the team wait; 503 if 1,000 of all teams wait, or it waits for `wait_ms` (30 seconds).
 */
export const runLongWork = <R>(team: string, work: () => Promise<R>, wait_ms = WAIT_MS): Promise<R> =>
  turns.run(work, { owner: team, wait_ms })
