// The full LOINC release by command, in every cell that is served. Errors: Error for a file that is not the table of a release; then nothing
// has changed.
import type { Call, Outcome } from '../command-tree.ts'
import { servedCells } from '../command-input.ts'
import { reportInvalidFile, requireFile, withConsent, type Changes } from '../file-import.ts'
import { changeOfRelease, importRelease, type ReleaseChange } from '../../lab-reports/loinc/release.ts'

const formatChange = (name: string, { previous_count, removed_count, added_count, changed_count }: ReleaseChange): string =>
  `${name.padEnd(13)}  ${removed_count} of ${previous_count} terms removed, ${added_count} added, ${changed_count} changed\n`

/** `loinc import`. Removing terms needs consent. */
export async function importLoincFile(call: Call<{ yes?: boolean; dryRun?: boolean }>): Promise<Outcome> {
  const file = requireFile(call.args[0], 'loinc import')
  const changes: Changes = { lines: '', losses: [] }
  const places = servedCells(call)
  for (const { name, db } of places) {
    const change = await reportInvalidFile(changeOfRelease(db, file))
    changes.lines += formatChange(name, change)
    if (change.removed_count) changes.losses.push(`${change.removed_count} of ${change.previous_count} terms in ${name}`)
  }
  return withConsent(call, changes, async () => {
    for (const { db } of places) await reportInvalidFile(importRelease(db, file))
    return `${changes.lines}Imported in each of ${places.map(({ name }) => name).join(', ')}.\n`
  })
}
