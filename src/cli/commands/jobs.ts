// Jobs that failed, as the operator sees them and tries them again. Prints ids, names of jobs and codes of errors, nothing of a patient.
import type { Typed } from '../command-tree.ts'
import { cell, id, UsageError } from './org.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { CellName } from '../../platform/db/cell-names.ts'
import { listFailedJobs, retryJobs, type JobLine } from '../../platform/queue/failed-jobs.ts'

const IDS_MAX = 1000

/**
 * Carry out `jobs list` or `jobs retry`. Writes job. At most 1,000 ids; a list has at most 1,000 jobs of each cell.
 * Errors: UsageError for options that do not go together, an id that is none, a cell that is not served, and ids of which none is a failed job.
 * @returns what to print
 */
export async function jobsCommand(
  cells: Cells,
  { positionals, values }: Typed<{ cell?: string; name?: string; all?: boolean; retrying?: boolean; json?: boolean }>,
): Promise<string> {
  const [, command, ...ids] = positionals
  const places = values.cell === undefined ? cells.names : [cell(values.cell)]
  for (const name of places) if (!cells.has(name)) throw new Error(`Cell ${name} is not listed in CELLS.`)
  if (command === 'list') {
    if (ids.length || values.all || values.name !== undefined)
      throw new UsageError('Usage: bin/drawbridge jobs list [--retrying] [--cell CELL] [--json].')
    return list(cells, places, values)
  }
  if (command !== 'retry') throw new UsageError('Usage: bin/drawbridge jobs list | retry; "bin/drawbridge help" explains them.')
  if (values.retrying || !!values.all === ids.length > 0 || (values.name !== undefined && !values.all))
    throw new UsageError('Usage: bin/drawbridge jobs retry ID... | --all [--name JOB] [--cell CELL] [--json].')
  if (ids.length > IDS_MAX) throw new UsageError(`jobs retry takes ${IDS_MAX} ids at most.`)
  const chosen = values.all ? { name: values.name } : { ids: ids.map((word) => id(word, 'A job')) }
  return retry(cells, places, chosen, values.json === true)
}

async function list(
  cells: Cells,
  places: CellName[],
  { retrying, json }: { retrying?: boolean; json?: boolean },
): Promise<string> {
  const found = await Promise.all(
    places.map(async (name) => {
      const jobs = await listFailedJobs(cells.of(name), retrying ? 'retrying' : 'dead')
      return jobs.map((job) => ({ cell: name, ...job }))
    }),
  )
  const jobs = found.flat()
  if (json) return `${JSON.stringify(jobs, null, 2)}\n`
  return jobs.map(line).join('') || 'There are none.\n'
}

const line = ({ cell: name, ...job }: JobLine & { cell: CellName }): string =>
  [
    job.id,
    name.padEnd(13),
    job.name.padEnd(24),
    `team ${job.team_id}`,
    `${job.attempts} attempts`,
    job.failed_at ? `failed ${job.failed_at}` : `next ${job.next_at}`,
    job.error ?? '',
  ].join('  ') + '\n'

async function retry(
  cells: Cells,
  places: CellName[],
  chosen: { ids: string[] } | { name: string | undefined },
  json: boolean,
): Promise<string> {
  const retried: { id: string; cell: CellName }[] = []
  for (const name of places) for (const job of await retryJobs(cells.of(name), chosen)) retried.push({ id: job, cell: name })
  const known = new Set(retried.map((job) => job.id))
  const not_found = 'ids' in chosen ? chosen.ids.filter((job) => !known.has(job)) : []
  if (retried.length === 0 && not_found.length) throw new Error('None of these is a job that failed.')
  if (json) return `${JSON.stringify({ retried, not_found }, null, 2)}\n`
  return [
    ...retried.map((job) => `${job.id}  ${job.cell.padEnd(13)}  tried again now\n`),
    ...not_found.map((job) => `${job}  is not a job that failed\n`),
    ...(retried.length ? [] : ['There are none.\n']),
  ].join('')
}
