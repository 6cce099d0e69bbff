// Whether a laboratory has reported everything that was ordered. Pure.
import type { DiagnosticReport, OrderedTest } from '../links/diagnostic-report.ts'
import type { ExpectedResult } from './expected-results.ts'

/**
 * The report with the status of the order: final when the laboratory calls every ordered test final or cancelled, and none of their results
 * is preliminary. A test that it does not name is final when each of its required results is there or missing. Without `ordered_tests` the
 * report decides itself.
 */
export function withOrderStatus(report: DiagnosticReport, expected: ExpectedResult[]): DiagnosticReport {
  if (!report.ordered_tests) return report
  return { ...report, status: report.completes_order || isComplete(report, report.ordered_tests, expected) ? 'final' : 'partial' }
}

function isComplete(report: DiagnosticReport, tests: OrderedTest[], expected: ExpectedResult[]): boolean {
  const markers = new Map(
    expected.flatMap(({ source_markers }) => source_markers.map((marker) => [marker.marker_id, marker.provider_id] as const)),
  )
  // An order without known tests is completed by what the laboratory names.
  if (markers.size === 0) return tests.length > 0 && tests.every(({ state }) => state !== 'unfinished')
  return [...markers].every(([marker_id, code]) => {
    const ownTests = tests.filter((test) => test.code === code)
    const ownResults = expected.filter((item) => item.source_markers.some((marker) => marker.marker_id === marker_id))
    const isReported = ownTests.length ? ownTests.every(({ state }) => state !== 'unfinished') : hasRequired(report, ownResults)
    return isReported && !hasPreliminary(report, code, ownResults)
  })
}

const slugsOf = (items: readonly { slug: string }[]): Set<string> => new Set(items.map(({ slug }) => slug))

function hasPreliminary({ results }: DiagnosticReport, code: string | null, expected: ExpectedResult[]): boolean {
  const slugs = slugsOf(expected)
  return results.some(
    ({ slug, state, ordered_test }) => state === 'preliminary' && (slugs.has(slug) || ordered_test?.code === code),
  )
}

/** Whether every required result is there or said to be missing. Of a test that requires none, any result is enough. */
function hasRequired({ results, missing }: DiagnosticReport, expected: ExpectedResult[]): boolean {
  const said = slugsOf([...results, ...missing])
  const required = expected.filter((item) => item.required)
  return required.length ? required.every(({ slug }) => said.has(slug)) : expected.some(({ slug }) => said.has(slug))
}
