// Forms in which reports without names of columns print names and results: dashes that lead to results, numbers and words within names.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfTexts } from '../../../test/support/browser-pages.ts'
import { understand } from '../reading/read-report.ts'

const resultsOf = (...lines: string[]) =>
  understand([pageOfTexts(lines.map((text, index) => [100 + index * 20, 36, text]))]).results
const read = (...lines: string[]) => resultsOf(...lines).map(({ test_name, value, units }) => [test_name, value, units])

test('a dash that leads to a result is no part of the name, and may be a sign where results are negative', () => {
  assert.deepEqual(read('Glucose - 105 mg/dL', 'Potassium – 4.1 mmol/L', 'Sodium -> 140 mmol/L', 'Base excess -2.1 mmol/L'), [
    ['Glucose', '105', 'mg/dL'],
    ['Potassium', '4.1', 'mmol/L'],
    ['Sodium', '140', 'mmol/L'],
    ['Base excess', '-2.1', 'mmol/L'],
  ])
  const [excess] = resultsOf('Base excess - 2.1 mmol/L')
  assert.deepEqual(
    excess!.findings.map(({ kind }) => kind),
    ['name_is_incomplete'],
  )
})

test('a negative result with its unit is no range without a lower bound', () => {
  const [line, card] = resultsOf('Base excess -2.1 mmol/L (-3 - +3)', 'T-score: -1.8 SD')
  assert.deepEqual([line!.value, line!.units, line!.min_reference_range, line!.max_reference_range], ['-2.1', 'mmol/L', -3, 3])
  assert.deepEqual([card!.value, card!.units], ['-1.8', 'SD'])
})
