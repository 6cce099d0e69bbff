// The commands for text messages to patients that failed.
import type { Typed } from '../command-tree.ts'
import { UsageError } from './org.ts'
import { listDeadLetters, retryDeadLetters, type DeadLetterOptions, type QueueCommands } from './dead-letters.ts'
import type { Cells } from '../../platform/db/cells.ts'
import { textQueue } from '../../notifications/messages/text-queue.ts'

const commands: QueueCommands = {
  queue: textQueue,
  word: 'text-messages',
  row: 'a text message',
  describe: ({ kind, team_id, order_id }) => [String(kind).padEnd(24), `team ${team_id}`, `order ${order_id}`],
}

/** Runs `text-messages list` or `text-messages retry`: see dead-letters.ts. Neither prints a recipient or a text. */
export async function textMessagesCommand(cells: Cells, typed: Typed<DeadLetterOptions>): Promise<string> {
  const [, command, ...ids] = typed.positionals
  if (command === 'retry') return retryDeadLetters(cells, commands, typed)
  if (command !== 'list' || ids.length)
    throw new UsageError('Usage: bin/drawbridge text-messages list [--retrying] [--cell CELL] [--json] | retry.')
  return listDeadLetters(cells, commands, typed.values)
}
