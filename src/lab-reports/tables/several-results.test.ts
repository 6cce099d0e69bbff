import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import { isAnalyte, isNamed } from '../reading/read-report.ts'
import { readRows } from './rows.ts'
import { readLinesOfPage } from './tables.ts'

const read = (...lines: PlacedText[][]) => {
  const page = pageOfLines(lines, 12)
  return readRows([{ page, lines: readLinesOfPage(page) }], { isAnalyte, isNamed })
}
const rows = (...lines: PlacedText[][]) => read(...lines).map(({ name, value, unit }) => [name, value, unit])
const rowsOfText = (text: string) => rows([[36, text]])

test('each result of a line has its own name, value and unit', () => {
  assert.deepEqual(rowsOfText('Na 140 mmol/L K 4.0 mmol/L Cl 102 mmol/L CO2 25 mmol/L'), [
    ['Na', '140', 'mmol/L'],
    ['K', '4.0', 'mmol/L'],
    ['Cl', '102', 'mmol/L'],
    ['CO2', '25', 'mmol/L'],
  ])
  assert.deepEqual(rowsOfText('WBC 6.5, RBC 4.51, Hgb 13.9 g/dL; Platelets 240'), [
    ['WBC', '6.5', null],
    ['RBC', '4.51', null],
    ['Hgb', '13.9', 'g/dL'],
    ['Platelets', '240', null],
  ])
  assert.deepEqual(rowsOfText('Vitamin B12 300 pg/mL Total Protein 7.1 g/dL LDL Cholesterol <70 mg/dL'), [
    ['Vitamin B12', '300', 'pg/mL'],
    ['Total Protein', '7.1', 'g/dL'],
    ['LDL Cholesterol', '<70', 'mg/dL'],
  ])
})

test('a line of several results keeps the range and the flag of each, and no remark behind one', () => {
  const line = read([[36, 'Sodium 149 H mmol/L (135-145) Potassium 4.0 mmol/L (3.5-5.1) slightly hemolyzed']])
  assert.deepEqual(
    line.map(({ name, value, flag, range_lines }) => [name, value, flag, ...range_lines]),
    [
      ['Sodium', '149', 'high', '(135-145)'],
      ['Potassium', '4.0', null, '(3.5-5.1)'],
    ],
  )
})

test('two lists next to each other without names of columns are the results of both', () => {
  const lines: PlacedText[][] = [
    [
      [36, 'Sodium'],
      [140, '140'],
      [190, 'mmol/L'],
      [320, 'Urea'],
      [430, '5.1'],
      [480, 'mmol/L'],
    ],
    [
      [36, 'Potassium'],
      [140, '4.0'],
      [190, 'mmol/L'],
      [320, 'Kryptonin'],
      [430, '88'],
      [480, 'umol/L'],
    ],
  ]
  assert.deepEqual(rows(...lines), [
    ['Sodium', '140', 'mmol/L'],
    ['Urea', '5.1', 'mmol/L'],
    ['Potassium', '4.0', 'mmol/L'],
    ['Kryptonin', '88', 'umol/L'],
  ])
})

test('a former result next to the current one is not a result of its own', () => {
  const line: PlacedText[] = [
    [36, 'Glucose'],
    [140, '95'],
    [190, 'mg/dL'],
    [320, 'Previous'],
    [430, '88'],
    [480, 'mg/dL'],
  ]
  assert.deepEqual(rows(line), [['Glucose', '95', 'mg/dL']])
})

test('two results of one name with different units stay two results of that name', () => {
  assert.deepEqual(rowsOfText('Neutrophils 58 % 40-75 4.3 10^3/uL 2.0-7.5'), [
    ['Neutrophils', '58', '%'],
    ['Neutrophils', '4.3', '10^3/uL'],
  ])
})

test('sentences with numbers are not results', () => {
  for (const text of [
    'Fasting for 12 hours and a glucose of 126 mg/dL or higher on 2 occasions is diagnostic.',
    'Take 5 mg daily, and 10 mg at night.',
  ])
    assert.deepEqual(rowsOfText(text), [], text)
})

test('letters that can be flags are the end of a name if they are inside it', () => {
  const flags = (text: string) => read([[36, text]]).map(({ name, value, flag }) => [name, value, flag])
  assert.deepEqual(flags('Cl 102 mmol/L (98-107)'), [['Cl', '102', null]])
  assert.deepEqual(flags('Vitamin C 0.9 mg/dL (0.4-2.0)'), [['Vitamin C', '0.9', null]])
  assert.deepEqual(flags('Cystatin C 0.85 mg/L (0.60-1.00)'), [['Cystatin C', '0.85', null]])
  assert.deepEqual(flags('Vitamin A 0.5 mg/L (0.3-0.7)'), [['Vitamin A', '0.5', null]])
  assert.deepEqual(flags('Hemoglobin A 97 %'), [['Hemoglobin A', '97', null]])
  // Not known to us, and no flag either.
  assert.deepEqual(flags('Kryptonin C 0.9 mg/dL (0.4-2.0)'), [['Kryptonin C', '0.9', null]])
  assert.deepEqual(flags('Glucose H 120 mg/dL (70-99)'), [['Glucose', '120', 'high']])
  assert.deepEqual(flags('Glucose 120 H mg/dL (70-99)'), [['Glucose', '120', 'high']])
})

test('a symbol that could be a flag is a name in the column of names', () => {
  const header: PlacedText[] = [
    [36, 'Component'],
    [220, 'Value'],
    [300, 'Units'],
    [380, 'Range'],
  ]
  const line = (name: string): PlacedText[] => [
    [36, name],
    [220, '102'],
    [300, 'mmol/L'],
    [380, '98-107'],
  ]
  assert.deepEqual(
    read(header, line('Na'), line('Cl'), line('Ca')).map(({ name, flag }) => [name, flag]),
    [
      ['Na', null],
      ['Cl', null],
      ['Ca', null],
    ],
  )
})

test('a result with a leading zero is one where a unit or a range stands next to it', () => {
  const header: PlacedText[] = [
    [36, 'Test'],
    [220, 'Result'],
    [300, 'Units'],
  ]
  assert.deepEqual(
    rows(
      header,
      [
        [36, 'Ferritin'],
        [220, '0120'],
        [300, 'ng/mL'],
      ],
      [
        [36, 'Ferritin'],
        [220, '0120'],
      ],
    ),
    [['Ferritin', '0120', 'ng/mL']],
  )
})
