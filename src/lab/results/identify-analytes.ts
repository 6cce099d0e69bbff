// Finds the expected results of an order that a laboratory's results are, for links that know only the laboratory's codes. Pure.
import type { DiagnosticReport, MeasuredAnalyte, ReportedMissing, ReportedPlace } from '../links/diagnostic-report.ts'
import { toMeasuredAnalyte, type ExpectedResult } from './expected-results.ts'

/**
 * Gives each result without a slug the name and the codes of the expected result that it is: the only one with its code, else the only one
 * with its LOINC code. Any other result gets a slug made from its name. A test that was not performed, with the code of an ordered marker,
 * becomes the missing required results of this marker.
 */
export function identifyAnalytes(report: DiagnosticReport, expected: ExpectedResult[]): DiagnosticReport {
  const { results, missing, withdrawn_results = [], confirmed_results = [] } = report
  const isIdentified = [...results, ...missing, ...withdrawn_results, ...confirmed_results].every(({ slug }) => slug !== '')
  if (isIdentified) return report
  const identify = <A extends MeasuredAnalyte & ReportedPlace>(item: A): A =>
    item.slug === '' ? identifyAnalyte(item, expected) : item
  return {
    ...report,
    results: results.map(identify),
    missing: missing.flatMap((item) => missingOfMarker(item, expected) ?? [identify(item)]),
    ...(report.withdrawn_results && { withdrawn_results: withdrawn_results.map(identify) }),
    ...(report.confirmed_results && { confirmed_results: confirmed_results.map(identify) }),
  }
}

function identifyAnalyte<A extends MeasuredAnalyte & ReportedPlace>(item: A, expected: ExpectedResult[]): A {
  const known = findExpected(item, expected)
  if (!known) return { ...item, slug: toSlug(item.name) || toSlug(item.provider_id ?? '') || 'result' }
  const { slug, loinc, loinc_slug, source_markers } = toMeasuredAnalyte(known)
  return { ...item, slug, loinc: item.loinc ?? loinc, loinc_slug, source_markers }
}

/**
 * Codes of tests and of results may be of two lists that overlap. So a code identifies a result only below the test that has the code, and
 * not against the LOINC code.
 */
function findExpected(
  { provider_id, loinc, ordered_test }: MeasuredAnalyte & ReportedPlace,
  expected: ExpectedResult[],
): ExpectedResult | undefined {
  const only = (items: ExpectedResult[]) => (items.length === 1 ? items[0] : undefined)
  const byCode = expected.filter(
    (item) =>
      item.provider_id !== null &&
      item.provider_id === provider_id &&
      (loinc === null || item.loinc === null || item.loinc === loinc) &&
      (ordered_test === undefined || item.source_markers.some((marker) => marker.provider_id === ordered_test.code)),
  )
  return only(byCode) ?? (loinc === null ? undefined : only(expected.filter((item) => item.loinc === loinc)))
}

/** Undefined if the missing test is a single result. */
function missingOfMarker(item: ReportedMissing, expected: ExpectedResult[]): ReportedMissing[] | undefined {
  if (item.slug !== '' || item.provider_id === null || findExpected(item, expected)) return undefined
  const parts = expected.filter(({ source_markers }) => source_markers.some((marker) => marker.provider_id === item.provider_id))
  const required = parts.filter((part) => part.required)
  return parts.length ? (required.length ? required : parts).map((part) => ({ ...item, ...toMeasuredAnalyte(part) })) : undefined
}

const toSlug = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 100)
