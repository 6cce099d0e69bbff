import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import { understand } from './read-report.ts'

const rangesOf = (...rows: [name: string, value: string, unit: string, range: string][]) =>
  understand([
    pageOfLines([
      [
        [36, 'Test'],
        [240, 'Result'],
        [320, 'Units'],
        [420, 'Reference Range'],
      ],
      ...rows.map(([name, value, unit, range]): PlacedText[] => [
        [36, name],
        [240, value],
        ...(unit ? [[320, unit] satisfies PlacedText] : []),
        [420, range],
      ]),
    ]),
  ]).results.map(({ test_name, value, min_reference_range, max_reference_range, interpretation }) => [
    test_name,
    value,
    min_reference_range,
    max_reference_range,
    interpretation,
  ])

test('three digits behind a comma are decimals where the report writes decimals with commas', () => {
  assert.deepEqual(
    rangesOf(
      ['Hemoglobin', '13,5', 'g/dL', '12,0-16,0'],
      ['Specific Gravity', '1,035', '', '1,005-1,030'],
      ['Platelets', '251.000', '/uL', '150.000-450.000'],
    ),
    [
      ['Hemoglobin', '13,5', 12, 16, 'normal'],
      ['Specific Gravity', '1,035', 1.005, 1.03, 'abnormal'],
      ['Platelets', '251.000', 150000, 450000, 'normal'],
    ],
  )
})

test('a comma groups thousands where the report writes decimals with points', () => {
  assert.deepEqual(rangesOf(['Hemoglobin', '13.5', 'g/dL', '12.0-16.0'], ['Leukocytes', '6,400', '/uL', '4,000-11,000']), [
    ['Hemoglobin', '13.5', 12, 16, 'normal'],
    ['Leukocytes', '6,400', 4000, 11000, 'normal'],
  ])
})

test('a point in a picture is a misread comma where nearly all decimals of the report have commas, and in a text it is a point', () => {
  const page = pageOfLines(
    [
      ['Test', 'Result', 'Units', 'Reference Range'],
      ['Potassium', '3.7', 'mmol/L', '3,5-5,1'],
      ['Calcium', '2,38', 'mmol/L', '2,15-2,57'],
      ['Phosphate', '1,15', 'mmol/L', '0,81-1,45'],
    ].map((cells): PlacedText[] => cells.map((text, index) => [[36, 240, 320, 420][index]!, text])),
  )
  const valuesIn = (source: 'text' | 'ocr') => understand([{ ...page, source }]).results.map(({ value }) => value)
  assert.deepEqual(valuesIn('ocr'), ['3,7', '2,38', '1,15'])
  assert.deepEqual(valuesIn('text'), ['3.7', '2,38', '1,15'])
})

test('a comma in a picture whose other decimals have points is a misread point', () => {
  const page = pageOfLines([
    [
      [36, 'Test'],
      [240, 'Result'],
      [320, 'Units'],
      [420, 'Reference Range'],
    ],
    ...[
      ['Bilirubin Total', '1.5', '0.3 - 1.2'],
      ['Bilirubin Direct', '0.4', '0.1 - 0.3'],
      ['Bilirubin Indirect', '1,1', '0.1 - 0.9'],
    ].map(([name, value, range]): PlacedText[] => [
      [36, name!],
      [240, value!],
      [320, 'mg/dL'],
      [420, range!],
    ]),
  ])
  const valueIn = (source: 'ocr' | 'text') => understand([{ ...page, source }]).results.at(-1)!.value
  assert.equal(valueIn('ocr'), '1.1')
  assert.equal(valueIn('text'), '1,1')
})
