// Postal codes by command.
import { UsageError, type Call, type Outcome } from '../command-tree.ts'
import { chosenCells } from '../command-input.ts'
import { importIntoEach, reportInvalidFile, requireFile, withConsent, type Changes } from '../file-import.ts'
import { importPostalCodes, lossesOfImport } from '../../visits/geocoding/postal-code-import.ts'
import { countryCode } from '../../people/person/countries.ts'

/**
 * `places import`, in every cell that is served or in one. Errors: Error for a file that cannot be read, and without consent to remove
 * postal codes; then nothing has changed.
 */
export async function importPlaces(
  call: Call<{ country?: string; cell?: string; yes?: boolean; dryRun?: boolean }>,
): Promise<Outcome> {
  const { args, values } = call
  const file = requireFile(args[0], 'places import')
  const only = values.country === undefined ? undefined : countryCode(values.country)
  if (values.country !== undefined && only === undefined) throw new UsageError('--country must be a country code such as DE.')
  const places = chosenCells(call)
  const changes: Changes = { lines: '', losses: [] }
  for (const { name, db } of places)
    for (const { country, storedCount, removedCount } of await reportInvalidFile(lossesOfImport(db, file, only))) {
      changes.lines += `${name.padEnd(13)}  ${removedCount} of ${storedCount} places of ${country} removed\n`
      if (removedCount) changes.losses.push(`${removedCount} of ${storedCount} places of ${country} in ${name}`)
    }
  return withConsent(call, changes, () =>
    importIntoEach(places, async ({ name, db }) => {
      const { rows, countries, rejections } = await importPostalCodes(db, file, only)
      return { summary: `${name.padEnd(13)}  ${rows} places of ${countries.join(', ') || 'no country'}`, rejections }
    }),
  )
}
