// The catalog of a cell by command: export and import.
import { stat } from 'node:fs/promises'
import type { Call } from '../command-tree.ts'
import { requireCell } from '../command-input.ts'
import { printJson } from '../command-output.ts'
import { CatalogFileError, exportCatalog, FILE_SIZE_MAX, importCatalog } from '../../lab/catalog-exchange/exchange.ts'
import { InvalidFileError } from '../../platform/files/rejected-rows.ts'
import { readUtf8File } from '../../platform/files/text-file.ts'
import { createDefaultAccounts } from '../../lab/accounts/platform-accounts.ts'

/** `catalog export`. */
export const exportToText = async (call: Call<{ cell?: string }>): Promise<string> =>
  printJson(await exportCatalog(requireCell(call).db.queries))

/** `catalog import`. A sandbox has tests to order at every laboratory, so a new one gets the platform's lab account at once. */
export async function importFile(call: Call<{ cell?: string }>): Promise<string> {
  const { name, db } = requireCell(call)
  const text = await readFileText(call.args[0]!)
  try {
    const report = await importCatalog(db, text)
    if (name.startsWith('sandbox')) await createDefaultAccounts(db)
    return Object.entries(report)
      .map(
        ([kind, { added_count, changed_count, unchanged_count }]) =>
          `${kind.padEnd(10)}${added_count} added, ${changed_count} changed, ${unchanged_count} unchanged\n`,
      )
      .join('')
  } catch (error) {
    if (error instanceof CatalogFileError) throw new Error(`Nothing was imported.\n${error.message}`)
    throw error
  }
}

async function readFileText(file: string): Promise<string> {
  try {
    if ((await stat(file)).size <= FILE_SIZE_MAX) return await readUtf8File(file)
  } catch (error) {
    if (error instanceof InvalidFileError) throw error
    throw new Error(`${file} cannot be read (${(error as { code?: string }).code}).`)
  }
  throw new Error(`${file} has more than ${FILE_SIZE_MAX} bytes.`)
}
