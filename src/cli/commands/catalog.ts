// The catalog of a cell by command: export and import.
import { readFile, stat } from 'node:fs/promises'
import type { Typed } from '../command-tree.ts'
import { requireCell, UsageError } from './org.ts'
import { requireServedCell } from './lab-account.ts'
import { CatalogFileError, exportCatalog, FILE_SIZE_MAX, importCatalog } from '../../lab/catalog-exchange/exchange.ts'
import { createDefaultAccounts } from '../../lab/accounts/platform-accounts.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { Db } from '../../platform/db/database.ts'

/**
 * Runs `catalog export` or `catalog import`.
 * @returns what to print
 */
export async function catalogCommand(cells: Cells, { positionals, values }: Typed<{ cell?: string }>): Promise<string> {
  const [, command, file] = positionals
  if (command === 'export') {
    const place = requireServedCell(cells, requireCell(values.cell ?? 'sandbox-us'))
    return `${JSON.stringify(await exportCatalog(place.queries), null, 2)}\n`
  }
  if (command !== 'import')
    throw new UsageError('Usage: bin/drawbridge catalog export | catalog import FILE. See "bin/drawbridge help".')
  if (file === undefined) throw new UsageError('catalog import requires a file.')
  const name = requireCell(values.cell)
  return importCatalogFile(requireServedCell(cells, name), await readFileText(file), name.startsWith('sandbox'))
}

async function readFileText(file: string): Promise<string> {
  try {
    if ((await stat(file)).size <= FILE_SIZE_MAX) return await readFile(file, 'utf8')
  } catch (error) {
    throw new Error(`${file} cannot be read (${(error as { code?: string }).code}).`)
  }
  throw new Error(`${file} has more than ${FILE_SIZE_MAX} bytes.`)
}

/** A sandbox has tests to order at every laboratory, so a new one gets the platform's lab account at once. */
async function importCatalogFile(place: Db, text: string, isSandbox: boolean): Promise<string> {
  try {
    const report = await importCatalog(place, text)
    if (isSandbox) await createDefaultAccounts(place)
    return Object.entries(report)
      .map(([kind, { added, changed, same }]) => `${kind.padEnd(10)}${added} added, ${changed} changed, ${same} unchanged\n`)
      .join('')
  } catch (error) {
    if (error instanceof CatalogFileError) throw new Error(`Nothing was imported.\n${error.message}`)
    throw error
  }
}
