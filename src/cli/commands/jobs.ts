// The commands for jobs that failed.
import type { Typed } from '../command-tree.ts'
import { UsageError } from './org.ts'
import { listDeadLetters, retryDeadLetters, type DeadLetterOptions, type QueueCommands } from './dead-letters.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { jobs } from '../../platform/queue/jobs.ts'

const commands: QueueCommands = {
  queue: jobs,
  word: 'jobs',
  row: 'a job',
  describe: ({ name, team_id }) => [String(name).padEnd(24), `team ${team_id}`],
  hasNames: true,
}

/** Runs `jobs list` or `jobs retry`: see dead-letters.ts. */
export async function jobsCommand(cells: Cells, typed: Typed<DeadLetterOptions>): Promise<string> {
  const [, command, ...ids] = typed.positionals
  const { all, name } = typed.values
  if (command === 'retry') return retryDeadLetters(cells, commands, typed)
  if (command !== 'list') throw new UsageError('Usage: bin/drawbridge jobs list | retry. See "bin/drawbridge help".')
  if (ids.length || all || name !== undefined)
    throw new UsageError('Usage: bin/drawbridge jobs list [--retrying] [--cell CELL] [--json].')
  return listDeadLetters(cells, commands, typed.values)
}
