// Lists and retries the failed rows of queues: jobs, emails, text messages. Prints ids, names and codes of errors, no patient data.
import { UsageError, type Call } from '../command-tree.ts'
import { cellWord, chosenCells, controlAndCells, requireId, type AnyPlace } from '../command-input.ts'
import { printJson, printList } from '../command-output.ts'
import { textQueue } from '../../notifications/messages/text-queue.ts'
import { mailQueue } from '../../platform/mail/mail-outbox.ts'
import { listFailed, retryFailed, type FailedRow, type RetryableQueue } from '../../platform/queue/dead-letters.ts'
import { jobs } from '../../platform/queue/jobs.ts'

const IDS_MAX = 1000

/** The description of a queue for commands. */
interface QueueCommands {
  queue: RetryableQueue
  /** The first word of its commands, and the noun for a row. */
  word: string
  row: string
  /** The control plane has such a queue too. */
  isInControl?: boolean
  /** The text of a row's line, after its id and its cell. */
  describe: (row: FailedRow) => string[]
  /** Rows can be retried by name. */
  hasNames?: boolean
}

const jobCommands: QueueCommands = {
  queue: jobs,
  word: 'jobs',
  row: 'a job',
  describe: ({ name, team_id }) => [String(name).padEnd(24), `team ${team_id}`],
  hasNames: true,
}
const mailCommands: QueueCommands = {
  queue: mailQueue,
  word: 'mail',
  row: 'a mail',
  isInControl: true,
  describe: ({ created_at }) => [String(created_at)],
}
const textMessageCommands: QueueCommands = {
  queue: textQueue,
  word: 'text-messages',
  row: 'a text message',
  describe: ({ kind, team_id, order_id }) => [String(kind).padEnd(24), `team ${team_id}`, `order ${order_id}`],
}

type Options = { cell?: string; name?: string; all?: boolean; retrying?: boolean; json?: boolean }

/** The databases that a command reads. Errors: UsageError for no cell; Error for one that is not served. */
function choosePlaces({ isInControl }: QueueCommands, call: Call<Options>): AnyPlace[] {
  return isInControl ? controlAndCells(call) : chosenCells(call)
}

/** Lists the dead letters of a queue, or with `--retrying` the rows that failed and will be retried: at most 1,000 of each cell. */
const listRows = (commands: QueueCommands) => async (call: Call<Options>) => {
  const { retrying, json } = call.values
  const found = await Promise.all(
    choosePlaces(commands, call).map(async ({ name, db }) => {
      const rows = await listFailed(db, commands.queue, retrying ? 'retrying' : 'dead')
      return rows.map((row): FailedRow & { cell: AnyPlace['name'] } => ({ cell: name, ...row }))
    }),
  )
  if (json) return printJson(found.flat())
  return printList(found.flat(), (row) => line(row, commands), `There are none in ${cellWord(call)}.`)
}

const line = (row: FailedRow & { cell: AnyPlace['name'] }, { describe }: QueueCommands): string =>
  [
    row.id,
    row.cell.padEnd(13),
    ...describe(row),
    `${row.attempts} attempts`,
    row.failed_at ? `failed ${row.failed_at}` : `next ${row.next_at}`,
    row.error ?? '',
  ].join('  ')

/**
 * Retries rows that failed, now and with all their attempts. Writes the table of the queue. At most 1,000 ids. Errors: UsageError for
 * options that contradict each other and for an invalid id; Error if no id is a failed row.
 */
const retryRows = (commands: QueueCommands) => async (call: Call<Options>) => {
  const { word, row, queue, hasNames } = commands
  const { args: ids, values } = call
  if (!!values.all === ids.length > 0 || (values.name !== undefined && !values.all))
    throw new UsageError(
      `Usage: bin/drawbridge ${word} retry ID... | --all${hasNames ? ' [--name JOB]' : ''} [--cell CELL] [--json].`,
    )
  if (ids.length > IDS_MAX) throw new UsageError(`${word} retry takes ${IDS_MAX} ids at most.`)
  const chosen = values.all ? { name: values.name } : { ids: ids.map((id) => requireId(id, capital(row))) }
  const retried: { id: string; cell: AnyPlace['name'] }[] = []
  for (const { name, db } of choosePlaces(commands, call))
    for (const id of await retryFailed(db, queue, chosen)) retried.push({ id, cell: name })
  const retriedIds = new Set(retried.map(({ id }) => id))
  const not_found = 'ids' in chosen ? chosen.ids.filter((id) => !retriedIds.has(id)) : []
  if (retried.length === 0 && not_found.length) throw new Error(`None of these is ${row} that failed in ${cellWord(call)}.`)
  if (values.json) return printJson({ retried, not_found })
  return (
    printList(retried, (row) => `${row.id}  ${row.cell.padEnd(13)}  tried again now`) +
    printList(not_found, (id) => `${id}  is not ${row} that failed`) +
    (retried.length ? '' : `There are none in ${cellWord(call)}.\n`)
  )
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** `jobs list` and `jobs retry`. */
export const listJobs = listRows(jobCommands)
export const retryJobs = retryRows(jobCommands)
/** `mail failed` and `mail retry`. They print no recipient and no text. */
export const listMails = listRows(mailCommands)
export const retryMails = retryRows(mailCommands)
/** `text-messages list` and `text-messages retry`. They print no recipient and no text. */
export const listTextMessages = listRows(textMessageCommands)
export const retryTextMessages = retryRows(textMessageCommands)
