import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfTexts, type Text } from '../../../test/support/browser-pages.ts'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import { isAnalyte, isNamed, understand } from '../reading/read-report.ts'
import { readRows } from './rows.ts'
import { readLinesOfPage } from './tables.ts'

const rows = (...lines: PlacedText[][]) => {
  const page = pageOfLines(lines)
  return readRows([{ page, lines: readLinesOfPage(page) }], { isAnalyte, isNamed }).map(
    ({ date, name, value, unit, range_lines, flag }) => [date, name, value, unit, ...range_lines, ...(flag ? [flag] : [])],
  )
}
const line = (...texts: string[]): PlacedText[] =>
  texts.flatMap((text, index): PlacedText[] => (text ? [[36 + index * 120, text]] : []))

test('a table with a line for each day has a result for each day and column', () => {
  assert.deepEqual(
    rows(
      line('CUMULATIVE HAEMATOLOGY'),
      line('Date', 'Hemoglobin', 'WBC', 'Platelets'),
      line('Units', 'g/dL', 'x10^9/L', 'x10^9/L'),
      line('Ref. range', '12.0-16.0', '4.0-11.0', '150-400'),
      line('01/02/2024', '11.1 L', '6.1', '250'),
      line('15/03/2024', '13.3', '', '240'),
    ),
    [
      ['01/02/2024', 'Hemoglobin', '11.1', 'g/dL', '12.0-16.0', 'low'],
      ['01/02/2024', 'WBC', '6.1', 'x10^9/L', '4.0-11.0'],
      ['01/02/2024', 'Platelets', '250', 'x10^9/L', '150-400'],
      ['15/03/2024', 'Hemoglobin', '13.3', 'g/dL', '12.0-16.0'],
      ['15/03/2024', 'Platelets', '240', 'x10^9/L', '150-400'],
    ],
  )
})

test('a column that has a unit or a range is measured, though its name is not known, and the numbers of specimens are not', () => {
  assert.deepEqual(
    rows(
      line('Date', 'Lab No.', 'Hemoglobin', 'Qlatelefs', 'WBC', 'MCV'),
      line('Units', '', 'g/dL', 'x10^9/L', 'x10^9/L', 'fL'),
      line('Ref. range', '', '12.0-16.0', '150-400', '4.0-11.0', '82-99'),
      line('01/02/2024', 'H24020', '13.3', '250', '6.1', '90'),
    ),
    [
      ['01/02/2024', 'Hemoglobin', '13.3', 'g/dL', '12.0-16.0'],
      ['01/02/2024', 'Qlatelefs', '250', 'x10^9/L', '150-400'],
      ['01/02/2024', 'WBC', '6.1', 'x10^9/L', '4.0-11.0'],
      ['01/02/2024', 'MCV', '90', 'fL', '82-99'],
    ],
  )
})

test('units may stand behind the names of columns, and ranges below the days', () => {
  assert.deepEqual(
    rows(
      line('Collected', 'Sodium (mmol/L)', 'Potassium (mmol/L)', 'Comment'),
      line('01 Feb 2024', '140', '4.1', 'fasting'),
      line('15 Mar 2024', '139', '5.6 H', ''),
      line('Reference', '135-145', '3.5-5.1'),
    ),
    [
      ['01 Feb 2024', 'Sodium', '140', 'mmol/L', '135-145'],
      ['01 Feb 2024', 'Potassium', '4.1', 'mmol/L', '3.5-5.1'],
      ['15 Mar 2024', 'Sodium', '139', 'mmol/L', '135-145'],
      ['15 Mar 2024', 'Potassium', '5.6', 'mmol/L', '3.5-5.1', 'high'],
    ],
  )
})

test('names that stand close are parted, also if they name one thing together, where each is above results of its own', () => {
  const index = (left: number, text: string): PlacedText => [left, text]
  assert.deepEqual(
    rows(
      [index(36, 'Date'), index(150, 'BUN Creatinine'), index(300, 'Potassium')],
      [index(36, '02/01/2024'), index(155, '31'), index(190, '1.62'), index(305, '4.9')],
      [index(36, '02/08/2024'), index(155, '28'), index(190, '1.55'), index(305, '4.6')],
    ).map(([date, name, value]) => [date, name, value]),
    [
      ['02/01/2024', 'BUN', '31'],
      ['02/01/2024', 'Creatinine', '1.62'],
      ['02/01/2024', 'Potassium', '4.9'],
      ['02/08/2024', 'BUN', '28'],
      ['02/08/2024', 'Creatinine', '1.55'],
      ['02/08/2024', 'Potassium', '4.6'],
    ],
  )
})

test('a value in a column that laboratories do not measure is not a result of the next column', () => {
  assert.deepEqual(
    rows(
      [
        [36, 'Date'],
        [110, 'Hemoglobin'],
        [190, 'Dose'],
        [230, 'WBC'],
      ],
      [
        [36, '01/02/2024'],
        [112, '14.1'],
        [195, '7.5'],
        [232, '8.1'],
      ],
      [
        [36, '01/03/2024'],
        [112, '13.9'],
        [195, '5.5'],
      ],
    ).map(([date, name, value]) => [date, name, value]),
    [
      ['01/02/2024', 'Hemoglobin', '14.1'],
      ['01/02/2024', 'WBC', '8.1'],
      ['01/03/2024', 'Hemoglobin', '13.9'],
    ],
  )
})

test('a list of days without test names has no results', () => {
  assert.deepEqual(rows(line('Date', 'Visit', 'Fee'), line('01/02/2024', '1', '40'), line('15/03/2024', '2', '40')), [])
})

test('a page of thousands of days and names is read to its end', () => {
  const lines = Array.from({ length: 3_000 }, (_, index) =>
    index % 2 ? line('01/02/2024', '140', '4.1') : line('Date', 'Sodium', 'Potassium'),
  )
  const page = pageOfLines(lines)
  const read = readLinesOfPage(pageOfLines(lines.slice(0, 2)))
  // Cutting the lines takes longer than the tables.
  const all = Array.from({ length: 1_500 }, () => read).flat()
  assert.equal(readRows([{ page, lines: all }], { isAnalyte: () => true, isNamed: () => true }).length, 3_000)
})

test('results of several days without names of columns are not one column, though that of the last day is shaded', () => {
  const [EDGES, LETTER] = [[228, 296, 364, 432, 503, 554], 5]
  const row = (top: number, name: string, ...texts: string[]): Text[] => [
    [top, 38, name],
    ...texts.map((text, index): Text => [top, EDGES[index]! - text.length * LETTER, text]),
  ]
  const page = pageOfTexts([
    ...row(120, 'Sodium', '141', '140', '139', '142', '(135-145)', 'mmol/L'),
    ...row(140, 'Potassium', '4.4', '4.7', '4.5', '4.3', '(3.5-5.2)', 'mmol/L'),
    ...row(160, 'Urea', '6.8', '7.9', '8.4', '8.1', '(3.0-8.5)', 'mmol/L'),
    ...row(180, 'Iron', '14', '17', '16', '15', '(5-30)', 'umol/L'),
    ...row(200, 'Transferrin', '2.4', '2.5', '2.4', '2.6', '(1.9-3.1)', 'g/L'),
    ...row(220, 'Ferritin', '212', '240', '251', '268', '(30-400)', 'ug/L'),
  ])
  const areas = [120, 140, 160, 180, 200, 220].map((top) => ({ left: 368, right: 434, top: top - 4, bottom: top + 14 }))
  assert.deepEqual(
    readLinesOfPage({ ...page, drawings: { lines: [], areas } }, isNamed).map(({ cells }) => cells.length),
    [7, 7, 7, 7, 7, 7],
  )
})

test('days with times below them are columns of results, also without a name for the line of days', () => {
  const row = (top: number, ...cells: string[]): Text[] =>
    cells.flatMap((text, index): Text[] => (text ? [[top, [36, 200, 280, 360, 440, 520][index]!, text]] : []))
  const page = pageOfTexts([
    ...row(100, '', '02/15/26', '02/16/26', '02/17/26'),
    ...row(112, 'Procedure', '05:52', '06:05', '05:48', 'Units', 'Ref Range'),
    ...row(130, 'Sodium Level', '133 L', '135 L', '137', 'mmol/L', '136-145'),
    ...row(146, 'Potassium Level', '5.0', '4.4', '4.1', 'mmol/L', '3.5-5.1'),
    ...row(162, 'CO2', '20 L', '22', '24', 'mmol/L', '21-32'),
  ])
  const { results, findings } = understand([page])
  assert.deepEqual(
    results.map(({ test_name, value, units, interpretation }) => [test_name, value, units, interpretation]),
    [
      ['Sodium Level', '133', 'mmol/L', 'abnormal'],
      ['Sodium Level', '135', 'mmol/L', 'abnormal'],
      ['Sodium Level', '137', 'mmol/L', 'normal'],
      ['Potassium Level', '5.0', 'mmol/L', 'normal'],
      ['Potassium Level', '4.4', 'mmol/L', 'normal'],
      ['Potassium Level', '4.1', 'mmol/L', 'normal'],
      ['CO2', '20', 'mmol/L', 'abnormal'],
      ['CO2', '22', 'mmol/L', 'normal'],
      ['CO2', '24', 'mmol/L', 'normal'],
    ],
  )
  assert.deepEqual(findings, [])
})
