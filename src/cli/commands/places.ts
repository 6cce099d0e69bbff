// Postal codes by command.
import { agree } from '../agreement.ts'
import type { Outcome, CommandContext, Typed } from '../command-tree.ts'
import { requireCell, UsageError } from './org.ts'
import { importPostalCodes, lossesOfImport } from '../../visits/geocoding/postal-code-import.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { CellName } from '../../platform/db/cell-names.ts'
import { taken, toInvalidFileError, InvalidFileError } from '../../platform/files/rejected-rows.ts'
import { countryCode } from '../../people/person/countries.ts'

/**
 * Runs `places import FILE`, in every cell that is served or in one. An import that would remove postal codes needs consent, on a terminal
 * or with `--yes`. Errors: Error for a file that cannot be read, and without consent; then nothing has changed. @returns what to print
 */
export async function postalCodesCommand(
  cells: Cells,
  { positionals, values }: Typed<{ country?: string; cell?: string; yes?: boolean; dryRun?: boolean }>,
  ask: CommandContext['ask'],
): Promise<Outcome> {
  const [, command, file] = positionals
  if (command !== 'import') throw new UsageError('Usage: bin/drawbridge places import FILE. See "bin/drawbridge help".')
  if (!file) throw new UsageError('places import requires a file.')
  const only = values.country === undefined ? undefined : countryCode(values.country)
  if (values.country !== undefined && only === undefined) throw new UsageError('--country must be a country code such as DE.')
  const names = importIntoCells(cells, values.cell)
  const { lines, losses } = await reportInvalidFile(changesOf(cells, names, file, only))
  if (values.dryRun) return `${lines}Nothing was changed.\n`
  if (losses && !values.yes) await agree(losses, ask)
  let [printed, rejected] = ['', 0]
  for (const name of names) {
    const { rows, countries, rejections } = await reportInvalidFile(importPostalCodes(cells.of(name), file, only))
    printed += `${name.padEnd(13)}  ${rows} places of ${countries.join(', ') || 'no country'}\n${rejections.text()}`
    rejected += rejections.count
  }
  return taken(printed, rejected)
}

/** The effect of an import on the countries that each cell already has, as lines, and the removed codes, as text. */
async function changesOf(cells: Cells, names: CellName[], file: string, only: string | undefined) {
  let lines = ''
  const losses: string[] = []
  for (const name of names)
    for (const { country, there, removed } of await lossesOfImport(cells.of(name), file, only)) {
      lines += `${name.padEnd(13)}  ${removed} of ${there} places of ${country} removed\n`
      if (removed) losses.push(`${removed} of ${there} places of ${country} in ${name}`)
    }
  return { lines, losses: losses.join(', ') }
}

/** The named cell; default: all cells that are served. */
export function importIntoCells(
  cells: Cells,
  named: string | undefined,
  targetCells: (name: CellName) => boolean = () => true,
): CellName[] {
  if (named === undefined) return cells.names.filter(targetCells)
  const name = requireCell(named)
  if (!cells.has(name)) throw new Error(`Cell ${name} is not listed in CELLS.`)
  return [name]
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
