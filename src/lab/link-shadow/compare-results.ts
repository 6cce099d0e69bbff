// Compares the results that a laboratory reported with those that staff entered for the same order. Pure.
import type { DiagnosticReport, ReportedResult } from '../links/diagnostic-report.ts'
import type { ShadowOrder } from './schema.ts'

const comparedFields = ['result', 'unit', 'reference_range', 'flag'] as const
type ResultComparison = Pick<ShadowOrder, 'compared_results' | 'differences' | 'same_results'>
type FieldDifference = ShadowOrder['differences'][number]['fields'][number]

/** @returns what differs and what does not, result by result, and how many results were compared */
export function compareResults(laboratory: DiagnosticReport, staff: DiagnosticReport): ResultComparison {
  const entries = new Map(staff.results.map((result) => [keyOf(result), result]))
  const differences: ResultComparison['differences'] = []
  const same_results: ResultComparison['same_results'] = []
  for (const result of laboratory.results) {
    const entry = entries.get(keyOf(result))
    entries.delete(keyOf(result))
    const fields = comparedFields.flatMap((field) => compareField(field, result, entry))
    if (!entry) differences.push({ name: result.name, kind: 'laboratory_only', fields })
    else if (fields.length > 0) differences.push({ name: entry.name, kind: 'different', fields })
    else
      same_results.push({
        name: entry.name,
        laboratory: result.result || null,
        staff: entry.result || null,
        unit: entry.unit || null,
      })
  }
  for (const entry of entries.values())
    differences.push({
      name: entry.name,
      kind: 'staff_only',
      fields: comparedFields.flatMap((field) => compareField(field, undefined, entry)),
    })
  return { compared_results: laboratory.results.length + entries.size, differences, same_results }
}

/** Staff enter no sub-id; a laboratory that reports one distinguishes its results by it. */
const keyOf = ({ slug, sub_id, parent }: ReportedResult): string =>
  JSON.stringify([slug, sub_id || null, parent?.code, parent?.sub_id])

function compareField(
  field: FieldDifference['field'],
  laboratory: ReportedResult | undefined,
  staff: ReportedResult | undefined,
): FieldDifference[] {
  const [left, right] = [laboratory?.[field] || null, staff?.[field] || null]
  return isSameText(left, right) ? [] : [{ field, laboratory: left, staff: right }]
}

const DECIMAL = /^[<>]?=?-?\d+(?:\.\d+)?$/u

/** Spaces are no difference, nor are zeros at the end of a decimal number. */
function isSameText(left: string | null, right: string | null): boolean {
  const [a, b] = [normalizeText(left), normalizeText(right)]
  return a === b || (DECIMAL.test(a) && DECIMAL.test(b) && trimZeros(a) === trimZeros(b))
}

const normalizeText = (text: string | null): string => (text ?? '').replaceAll(/\s+/gu, '')

const trimZeros = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/u, '') : text)
