// What results of orders mean, by their flags and ranges.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgedResults } from '../../../test/support/judged-results.ts'
import { atLab, deliver, report, getResult, unorderedResult } from '../../../test/support/reports.ts'
import { getOrder } from '../../../test/support/orders.ts'
import type { ReportedResult } from '../links/diagnostic-report.ts'
import type { BiomarkerResult } from './schema.ts'

/** What an order shows of results that a laboratory reports. */
async function shownResults(results: ReportedResult[], changes: Record<string, unknown> = {}): Promise<BiomarkerResult[]> {
  const { team, order } = await atLab(changes)
  await deliver(team, order.id, report(results))
  const { body } = await getResult(team, order.id)
  assert.equal((await getOrder(team, order.id)).interpretation, body.metadata.interpretation)
  return body.results as BiomarkerResult[]
}

test('a result without a flag has the interpretation that its range gives it, in numbers and in words', async () => {
  const shown = await shownResults(
    judgedResults.map(({ name, result, unit, reference_range }) =>
      unorderedResult(name, { type: /^[\d<>]/u.test(result) ? 'range' : 'comment', result, unit, reference_range }),
    ),
  )
  assert.deepEqual(
    shown.map(({ name, interpretation }) => [name, interpretation]),
    judgedResults.map(({ name, interpretation }) => [name, interpretation]),
  )
})

test('a result that cannot be judged is unknown, never normal', async () => {
  const shown = await shownResults([
    unorderedResult('without-range', { result: '5', reference_range: null }),
    unorderedResult('text', { type: 'comment', result: 'See note', reference_range: null }),
    unorderedResult('word-without-range', { type: 'comment', result: 'Negative', reference_range: null }),
    unorderedResult('other-words', { type: 'comment', result: 'Growth of mixed flora', reference_range: 'No Growth' }),
    unorderedResult('tiers', { result: '50', reference_range: '<40 low; >60 high' }),
    unorderedResult('other-condition', { result: '5', reference_range: 'Smokers: <10' }),
  ])
  for (const { name, interpretation } of shown) assert.equal(interpretation, 'unknown', name)
})

test("the laboratory's flag decides before the range, and a mark that it does not explain makes nothing normal", async () => {
  const shown = await shownResults([
    unorderedResult('flag-inside', { result: '5', flag: 'H' }),
    unorderedResult('flag-beside-words', { result: '9.1', flag: 'H', reference_range: '4.0 to 5.6' }),
    unorderedResult('critical', { result: '20', flag: 'LL', reference_range: 'more than 40' }),
    unorderedResult('normal-flag', { type: 'comment', result: 'Growth of mixed flora', reference_range: null, flag: 'N' }),
    unorderedResult('star', { result: '5', flag: '*' }),
  ])
  assert.deepEqual(
    shown.map(({ interpretation }) => interpretation),
    ['abnormal', 'abnormal', 'critical', 'normal', 'unknown'],
  )
})

test('of ranges by sex and age that of the patient counts, with its bounds', async () => {
  const [hemoglobin, phosphatase] = await shownResults([
    unorderedResult('hemoglobin', { result: '12.5', unit: 'g/dL', reference_range: 'Male: 13.5-17.5 Female: 12.0-15.5' }),
    unorderedResult('phosphatase', {
      result: '200',
      unit: 'U/L',
      reference_range: '0-17 years: 100-400; 18 years and above: 40-120',
    }),
  ])
  assert.deepEqual([hemoglobin!.interpretation, hemoglobin!.min_range_value, hemoglobin!.max_range_value], ['normal', 12, 15.5])
  assert.deepEqual([phosphatase!.interpretation, phosphatase!.is_above_max_range], ['abnormal', true])
})

test('numbers with decimal commas and commas between thousands have their value', async () => {
  const shown = await shownResults([
    unorderedResult('decimal', { result: '5,4', reference_range: '4,0 - 5,6' }),
    unorderedResult('thousands', { result: '1,234', reference_range: '1,000-2,000' }),
    unorderedResult('contradictory', { result: '1.234', reference_range: '1,000-2,000' }),
    unorderedResult('point', { result: '5.123', reference_range: '4,0 - 5,6' }),
    unorderedResult('point-in-range', { type: 'range', result: '<5.123', reference_range: '6,0 - 7,0' }),
  ])
  assert.deepEqual(
    shown.map(({ value, interpretation }) => [value, interpretation]),
    [
      [5.4, 'normal'],
      [1234, 'normal'],
      [1.234, 'unknown'],
      [5.123, 'normal'],
      [-1, 'abnormal'],
    ],
  )
})

test('a result without a value is not normal, whatever its flag and its range say', async () => {
  const empty = { type: 'comment', result: '', reference_range: '4.0-5.6' } as const
  const shown = await shownResults([
    unorderedResult('normal-flag', { ...empty, flag: 'N' }),
    unorderedResult('no-flag', empty),
    unorderedResult('abnormal-flag', { ...empty, flag: 'H' }),
  ])
  assert.deepEqual(
    shown.map(({ interpretation }) => interpretation),
    ['unknown', 'unknown', 'abnormal'],
  )
})
