// Imports of an operator's files: consent before rows are removed, and what of a file was rejected.
import { readFile, stat } from 'node:fs/promises'
import { UsageError, type Call, type Outcome } from './command-tree.ts'
import type { Place } from './command-input.ts'
import { InvalidFileError, importOutcome, toInvalidFileError, type RejectedRows } from '../platform/files/rejected-rows.ts'

/** The effect of an import on rows that are there. */
export interface Changes {
  /** What changes in each cell. */
  lines: string
  /** What is removed, each with its cell, as text. */
  losses: string[]
}

/**
 * Runs an import if it removes nothing, or with the consent of `--yes` or of the user on a terminal. With `--dry-run` it returns the changes
 * and does nothing else. Errors: Error without consent.
 */
export async function withConsent(
  { values, ask }: Call<{ yes?: boolean; dryRun?: boolean }>,
  { lines, losses }: Changes,
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  if (values.dryRun) return `${lines}Nothing was changed.\n`
  if (losses.length && !values.yes) {
    const what = `The import removes ${losses.join(', ')}, which the file does not have.`
    if (!ask) throw new Error(`${what} Say --yes for that, or --dry-run to see more. Nothing was changed.`)
    if (!(await ask(`${what} Go on?`))) throw new Error('Nothing was changed.')
  }
  return run()
}

export function requireFile(file: string | undefined, command: string): string {
  if (!file) throw new UsageError(`${command} requires a file.`)
  return file
}

/** Reads a whole file. Errors: Error for one that cannot be read or is too large. */
export async function readSmallFile(path: string, bytes_max: number): Promise<Buffer> {
  const refuse = (error: NodeJS.ErrnoException) => {
    throw new Error(`${path} cannot be read (${error.code}).`)
  }
  const { size } = await stat(path).catch(refuse)
  if (size > bytes_max) throw new Error(`${path} has more than ${bytes_max} bytes.`)
  return readFile(path).catch(refuse)
}

/**
 * Imports a file into one cell after the other. A part of it may be rejected.
 * @param run returns what to print of the cell, and the rejected rows
 */
export async function importIntoEach(
  places: Place[],
  run: (place: Place) => Promise<{ summary: string; rejections: RejectedRows }>,
): Promise<Outcome> {
  let [output, rejectedCount] = ['', 0]
  for (const place of places) {
    const { summary, rejections } = await reportInvalidFile(run(place))
    output += `${summary}\n${rejections.text()}`
    rejectedCount += rejections.count
  }
  return importOutcome(output, rejectedCount)
}

/** Explains in a sentence why a file cannot be used. */
export async function reportInvalidFile<R>(work: Promise<R>): Promise<R> {
  try {
    return await work
  } catch (error) {
    const reason = error instanceof InvalidFileError ? error : toInvalidFileError(error)
    throw reason ? new Error(reason.message) : error
  }
}
