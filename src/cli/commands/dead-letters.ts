// Lists and retries the failed rows of a queue. Prints ids, names and codes of errors, no patient data.
import type { Typed } from '../command-tree.ts'
import { requireCell, requireId, UsageError } from './org.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { CellName } from '../../platform/db/cell-names.ts'
import type { Db } from '../../platform/db/database.ts'
import { listFailed, retryFailed, type FailedRow, type RetryableQueue } from '../../platform/queue/dead-letters.ts'

const IDS_MAX = 1000

/** The description of a queue for commands. */
export interface QueueCommands {
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

export type DeadLetterOptions = { cell?: string; name?: string; all?: boolean; retrying?: boolean; json?: boolean }
type Place = CellName | 'control'

/** The databases that a command reads. Errors: a cell that is not served. */
function placesOf(cells: Cells, { isInControl }: QueueCommands, only: string | undefined): [Place, Db][] {
  if (isInControl && only === 'control') return [['control', cells.control]]
  const names = only === undefined ? cells.names : [requireCell(only)]
  for (const name of names) if (!cells.has(name)) throw new Error(`Cell ${name} is not listed in CELLS.`)
  const places = names.map((name): [Place, Db] => [name, cells.of(name)])
  return isInControl && only === undefined ? [['control', cells.control], ...places] : places
}

/** Lists the dead letters of a queue, or with `retrying` the rows that failed and will be retried: at most 1,000 of each cell. */
export async function listDeadLetters(cells: Cells, commands: QueueCommands, values: DeadLetterOptions): Promise<string> {
  const found = await Promise.all(
    placesOf(cells, commands, values.cell).map(async ([name, db]) => {
      const rows = await listFailed(db, commands.queue, values.retrying ? 'retrying' : 'dead')
      return rows.map((row): FailedRow & { cell: Place } => ({ cell: name, ...row }))
    }),
  )
  const rows = found.flat()
  if (values.json) return `${JSON.stringify(rows, null, 2)}\n`
  return rows.map((row) => line(row, commands)).join('') || 'There are none.\n'
}

const line = (row: FailedRow & { cell: Place }, { describe }: QueueCommands): string =>
  [
    row.id,
    row.cell.padEnd(13),
    ...describe(row),
    `${row.attempts} attempts`,
    row.failed_at ? `failed ${row.failed_at}` : `next ${row.next_at}`,
    row.error ?? '',
  ].join('  ') + '\n'

/**
 * Retries rows that failed, now and with all their attempts. Writes the table of the queue. At most 1,000 ids. Errors: UsageError for
 * options that contradict each other and for an invalid id; Error if no id is a failed row.
 * @returns what to print
 */
export async function retryDeadLetters(
  cells: Cells,
  commands: QueueCommands,
  { positionals, values }: Typed<DeadLetterOptions>,
): Promise<string> {
  const { word, row, queue, hasNames } = commands
  const ids = positionals.slice(2)
  if (values.retrying || !!values.all === ids.length > 0 || (values.name !== undefined && !values.all))
    throw new UsageError(
      `Usage: bin/drawbridge ${word} retry ID... | --all${hasNames ? ' [--name JOB]' : ''} [--cell CELL] [--json].`,
    )
  if (ids.length > IDS_MAX) throw new UsageError(`${word} retry takes ${IDS_MAX} ids at most.`)
  const chosen = values.all ? { name: values.name } : { ids: ids.map((one) => requireId(one, capital(row))) }
  const retried: { id: string; cell: Place }[] = []
  for (const [name, db] of placesOf(cells, commands, values.cell))
    for (const one of await retryFailed(db, queue, chosen)) retried.push({ id: one, cell: name })
  const known = new Set(retried.map((one) => one.id))
  const not_found = 'ids' in chosen ? chosen.ids.filter((one) => !known.has(one)) : []
  if (retried.length === 0 && not_found.length) throw new Error(`None of these is ${row} that failed.`)
  if (values.json) return `${JSON.stringify({ retried, not_found }, null, 2)}\n`
  return [
    ...retried.map((one) => `${one.id}  ${one.cell.padEnd(13)}  tried again now\n`),
    ...not_found.map((one) => `${one}  is not ${row} that failed\n`),
    ...(retried.length ? [] : ['There are none.\n']),
  ].join('')
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
