// What results of reports mean: the same as the same texts in results of orders.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgedResults } from '../../../test/support/judged-results.ts'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import { understand } from './read-report.ts'

const HEADER: PlacedText[] = [
  [36, 'Test'],
  [200, 'Result'],
  [300, 'Flag'],
  [360, 'Units'],
  [430, 'Reference Range'],
]

/** The rows of a table: name, result, flag, unit, range. */
const interpretationsOf = (rows: readonly [string, string, string, string | null, string][]) =>
  understand([
    pageOfLines([
      HEADER,
      ...rows.map(([name, result, flag, unit, range]): PlacedText[] => [
        [36, name],
        [200, result],
        ...(flag ? [[300, flag] satisfies PlacedText] : []),
        ...(unit ? [[360, unit] satisfies PlacedText] : []),
        [430, range],
      ]),
    ]),
  ]).results.map(({ test_name, interpretation }) => [test_name, interpretation])

test('a row without a flag has the interpretation that the same result of an order has', () => {
  assert.deepEqual(
    interpretationsOf(judgedResults.map(({ name, result, unit, reference_range }) => [name, result, '', unit, reference_range])),
    judgedResults.map(({ name, interpretation }) => [name, interpretation]),
  )
})

test('the printed flag of a row decides before its range', () => {
  assert.deepEqual(
    interpretationsOf([
      ['Potassium', '4.0', 'H', 'mmol/L', '3.5-5.1'],
      ['Sodium', '140', 'A', 'mmol/L', '135-145'],
      ['Glucose', '99', '*', 'mg/dL', '70-99'],
      ['Cholesterol', '200', 'High', 'mg/dL', '<200'],
      ['HDL', '39', 'Low', 'mg/dL', '>39'],
      ['Calcium', '9.4', 'HH', 'mg/dL', '8.6-10.2'],
    ]),
    [
      ['Potassium', 'abnormal'],
      ['Sodium', 'abnormal'],
      ['Glucose', 'abnormal'],
      ['Cholesterol', 'abnormal'],
      ['HDL', 'abnormal'],
      ['Calcium', 'critical'],
    ],
  )
})
