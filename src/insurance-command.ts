// Payors and diagnoses by command: whoever operates the installation brings the full lists. Source: lab-testing.md 26.
import { readFile } from 'node:fs/promises'
import { UsageError } from './bootstrap.ts'
import { FileFault } from './insurance/data.ts'
import { importCodes, importPayors } from './insurance/load.ts'
import type { Cells } from './platform/cells.ts'

const FAULTS_SHOWN = 50

/** Carry out `payors import FILE` or `icd import FILE`, in every cell that is served. @returns what to print */
export async function insuranceCommand(cells: Cells, [what, verb, file, ...more]: string[]): Promise<string> {
  if (verb !== 'import' || !file || more.length) throw new UsageError(`Say "${what} import FILE".`)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`The file cannot be read (${error.code}).`)
  })
  const load = what === 'payors' ? importPayors : importCodes
  try {
    let rows = 0
    for (const cell of cells.names) rows = await load(cells.of(cell), text)
    return `${rows} ${what === 'payors' ? 'payors' : 'diagnoses'} in each of ${cells.names.join(', ')}. They count within 5 s.\n`
  } catch (error) {
    if (error instanceof FileFault) throw new UsageError(told(error))
    throw error
  }
}

function told({ lines }: FileFault): string {
  const shown = lines.slice(0, FAULTS_SHOWN).map((line) => `  ${line}\n`)
  const rest = lines.length - shown.length
  return `Nothing was imported:\n${shown.join('')}${rest ? `  and ${rest} more\n` : ''}`
}
