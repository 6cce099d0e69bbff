// Payors and diagnoses by command: the operator imports the full lists. Source: lab-testing.md 26.
import { readFile } from 'node:fs/promises'
import { agree } from '../agreement.ts'
import type { CommandContext, Typed } from '../command-tree.ts'
import { InvalidFileError } from '../../people/insurance/data-files.ts'
import { changeOfCodes, importCodes, importPayors } from '../../people/insurance/load.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { CellName } from '../../platform/db/cell-names.ts'

const ERRORS_SHOWN = 50

/**
 * Runs `payors import FILE` or `icd import FILE`, in every cell that is served. An import of diagnoses that would remove codes needs
 * consent, on a terminal or with `--yes`. Errors: Error for a file that cannot be read or has an error, and without consent; then nothing
 * has changed.
 * @returns what to print
 */
export async function insuranceCommand(
  cells: Cells,
  { positionals: [what, , file], values }: Typed<{ yes?: boolean; dryRun?: boolean }>,
  ask: CommandContext['ask'],
): Promise<string> {
  const text = await readFile(file!, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`Cannot read the file (${error.code}).`)
  })
  const where = cells.names.join(', ')
  try {
    let [rows, changes] = [0, '']
    if (what === 'icd') {
      const { lines, losses } = await changesOf(cells, text)
      if (values.dryRun) return `${lines}Nothing was changed.\n`
      if (losses && !values.yes) await agree(losses, ask)
      changes = lines
      for (const cell of cells.names) rows = await importCodes(cells.of(cell), text)
    } else for (const cell of cells.names) rows = await importPayors(cells.of(cell), text)
    return `${changes}${rows} ${what === 'payors' ? 'payors' : 'diagnoses'} in each of ${where}. Takes effect within 5 s.\n`
  } catch (error) {
    if (error instanceof InvalidFileError) throw new Error(importReporting(error))
    throw error
  }
}

/**
 * The effect of an import of diagnoses on each cell, as lines, and the cells in which it removes codes, as text; undefined if it only adds
 * codes.
 */
async function changesOf(cells: Cells, text: string): Promise<{ lines: string; losses: string }> {
  const lossOf = (cell: CellName, removed: number, there: number) => `${removed} of ${there} codes in ${cell}`
  let lines = ''
  const losses: string[] = []
  for (const cell of cells.names) {
    const { there, removed, added, changed } = await changeOfCodes(cells.of(cell), text)
    lines += `${cell.padEnd(13)}  ${removed} of ${there} codes removed, ${added} added, ${changed} changed\n`
    if (removed) losses.push(lossOf(cell, removed, there))
  }
  return { lines, losses: losses.join(', ') }
}

function importReporting({ lines }: InvalidFileError): string {
  const shown = lines.slice(0, ERRORS_SHOWN).map((line) => `  ${line}\n`)
  const rest = lines.length - shown.length
  return `Nothing was imported:\n${shown.join('')}${rest ? `  and ${rest} more\n` : ''}`
}
