// A laboratory's list of tests by command. Nothing here is about patients.
import { type Call } from '../command-tree.ts'
import { requireCell, requireId } from '../command-input.ts'
import { printJson } from '../command-output.ts'
import { reportInvalidFile } from '../file-import.ts'
import { CatalogFileError } from '../../lab/catalog-exchange/exchange.ts'
import type { Change, CompendiumDifference, FieldChange } from '../../lab/link-onboarding/compendium-difference.ts'
import { readCompendium } from '../../lab/link-onboarding/compendium-file.ts'
import { readColumnMap } from '../../lab/link-onboarding/compendium-table.ts'
import { importCompendium } from '../../lab/link-onboarding/import-compendium.ts'
import { openVault } from '../../platform/crypto/key-file.ts'
import { Problem } from '../../platform/runtime/problem.ts'

type Options = { cell?: string; results?: string; questions?: string; map?: string; apply?: boolean; json?: boolean }

/** `links compendium`. */
export async function importList(call: Call<Options>): Promise<string> {
  const { results, questions, map, apply: isApplied = false, json } = call.values
  const account_id = requireId(call.args[0], 'The lab account')
  const { db } = requireCell(call)
  const columns = map === undefined ? {} : await reportInvalidFile(readColumnMap(map))
  const list = await reportInvalidFile(readCompendium({ tests: call.args[1]!, results, questions }, columns))
  const vault = openVault(call.config.encryption_keys, call.config.data_dir)
  const difference = await reportInvalidFile(importCompendium({ db, account_id, list, vault, isApplied })).catch(explain)
  return json ? printJson(difference) : `${printDifference(difference)}${describeOutcome(difference, isApplied)}\n`
}

function explain(error: unknown): never {
  if (error instanceof CatalogFileError) throw new Error(`Nothing was imported.\n${error.message}`)
  if (error instanceof Problem && typeof error.body.detail === 'string')
    throw new Error(`${error.body.detail.replace(/\.$/u, '')}. Nothing was imported.`)
  throw error
}

const hasChanges = ({ tests, result_codes }: CompendiumDifference): boolean =>
  [...tests, ...result_codes].some(({ kind }) => kind !== 'gone')

function describeOutcome(difference: CompendiumDifference, isApplied: boolean): string {
  if (!hasChanges(difference)) return 'Nothing to apply.'
  return isApplied ? 'Applied. Servers use it within 5 s.' : 'Nothing was changed. Add --apply to apply the difference.'
}

function printDifference({ tests, analytes, result_codes, unchanged_count, ...coverage }: CompendiumDifference): string {
  const count = (kind: Change['kind']) => tests.filter((change) => change.kind === kind).length
  const lines = [
    ...tests.flatMap((change) => describeChange('test', change, 'not in the list; stays in the catalog and can be ordered')),
    ...analytes.map(({ slug, name, loinc, unit }) => `new      analyte ${slug}  ${name}  ${loinc}  ${unit ?? 'no unit'}`),
    ...result_codes.flatMap((change) => describeChange('codes.results', change, 'not in the list; stays in the profile')),
    `tests    ${count('new')} new, ${count('changed')} changed, ${unchanged_count} unchanged, ${count('gone')} gone`,
    ...describeCoverage(coverage),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

function describeChange(subject: string, { kind, code, name, fields }: Change, aboutGone: string): string[] {
  const head = `${kind.padEnd(7)}  ${subject} ${code}  ${name}`.trimEnd()
  return kind === 'gone' ? [`${head}  ${aboutGone}`] : [head, ...fields.map(describeField)]
}

const describeField = ({ field, old_value, new_value }: FieldChange): string =>
  `         ${field}  ${old_value === null ? '' : `${JSON.stringify(old_value)} -> `}${new_value === null ? 'none' : JSON.stringify(new_value)}`

function describeCoverage({
  result_count,
  mapped_count,
  unmapped_codes,
}: Pick<CompendiumDifference, 'result_count' | 'mapped_count' | 'unmapped_codes'>): string[] {
  if (result_count === 0) return ['mapped   the list has no result codes']
  // Rounded down: 100 % means all.
  const percent = (Math.floor((mapped_count * 1000) / result_count) / 10).toFixed(1)
  return [
    `mapped   ${percent} % of ${result_count} result codes have an analyte with a LOINC code and a unit`,
    ...unmapped_codes.map(({ code, name, reason }) => `unmapped ${code}  ${name}  ${reason}`),
  ]
}
