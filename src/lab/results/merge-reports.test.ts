// Reports that add to each other, in every order in which they can arrive.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { report, unorderedResult } from '../../../test/support/reports.ts'
import type { DiagnosticReport } from '../links/diagnostic-report.ts'
import { mergeReports } from './merge-reports.ts'

function* permutations<V>(items: V[]): Generator<V[]> {
  if (items.length === 0) yield []
  for (const [i, item] of items.entries())
    for (const rest of permutations(items.filter((_item, j) => j !== i))) yield [item, ...rest]
}

const hourOf = (hour: number) => `2030-01-04T${String(hour).padStart(2, '0')}:00:00Z`
const increment = (hour: number, parts: Partial<DiagnosticReport>) =>
  report(parts.results ?? [], { scope: 'incremental', reported_at: hourOf(hour), ordered_tests: [], ...parts })

test('reports of different times say the same in whatever order they arrive', () => {
  const withdrawn = { name: 'b', slug: 'b', provider_id: null, loinc: null, loinc_slug: null, source_markers: null }
  const ofTest = (state: 'unfinished' | 'final', hour: number) => [{ code: 'T', filler: null, state, reported_at: hourOf(hour) }]
  const reports = [
    increment(1, {
      results: [unorderedResult('a', { result: '1', state: 'preliminary' })],
      ordered_tests: ofTest('unfinished', 1),
    }),
    increment(2, { results: [unorderedResult('a', { result: '2', state: 'final' }), unorderedResult('b')] }),
    increment(3, { withdrawn_results: [withdrawn], results: [unorderedResult('c', { sub_id: '1' })] }),
    increment(4, { missing: [{ ...withdrawn, name: 'd', slug: 'd', failure: 'unknown_failure', note: null }] }),
    increment(5, { results: [unorderedResult('d', { result: '5' })], ordered_tests: ofTest('final', 5) }),
  ]
  const content = (total: DiagnosticReport) => ({
    results: total.results.map(({ slug, result, sub_id, reported_at }) => `${slug} ${sub_id} ${result} ${reported_at}`).sort(),
    missing: total.missing.map(({ slug }) => slug),
    withdrawn: total.withdrawn_results?.map(({ slug }) => slug),
    tests: total.ordered_tests,
    reported_at: total.reported_at,
  })
  let count = 0
  for (const order of permutations(reports)) {
    const total = order.reduce<DiagnosticReport | undefined>((earlier, next) => mergeReports(earlier, next), undefined)!
    assert.deepEqual(content(total), {
      results: [`a undefined 2 ${hourOf(2)}`, `c 1 5 ${hourOf(3)}`, `d undefined 5 ${hourOf(5)}`],
      missing: [],
      withdrawn: ['b'],
      tests: ofTest('final', 5),
      reported_at: hourOf(5),
    })
    count++
  }
  assert.equal(count, 120)
})

test('a report that arrives twice changes nothing', () => {
  const first = increment(1, { results: [unorderedResult('a'), unorderedResult('b', { state: 'preliminary' })] })
  const once = mergeReports(undefined, first)
  assert.deepEqual(mergeReports(once, first), once)
  assert.deepEqual(mergeReports(mergeReports(once, first), first), once)
})
