// Headings of panels: which results stand under which.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfTexts } from '../../../test/support/browser-pages.ts'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import { isAnalyte, isNamed, understand } from '../reading/read-report.ts'
import { readRows } from './rows.ts'
import { readLinesOfPage } from './tables.ts'

/** The panel of each result of a page of lines. */
function panels(...lines: PlacedText[][]): Record<string, string | null> {
  const page = pageOfLines(lines)
  const rows = readRows([{ page, lines: readLinesOfPage(page) }], { isAnalyte, isNamed })
  return Object.fromEntries(rows.map(({ name, panel }) => [name, panel]))
}

test('a line above tables side by side has a heading for each of them', () => {
  assert.deepEqual(
    panels(
      [
        [36, 'Electrolytes'],
        [320, 'Liver Function'],
      ],
      [
        [36, 'Test'],
        [140, 'Result'],
        [190, 'Units'],
        [320, 'Test'],
        [430, 'Result'],
        [490, 'Units'],
      ],
      [
        [36, 'Sodium'],
        [140, '141'],
        [190, 'mmol/L'],
        [320, 'Albumin'],
        [430, '44'],
        [490, 'g/L'],
      ],
    ),
    { Sodium: 'Electrolytes', Albumin: 'Liver Function' },
  )
})

test('a text below a range is a heading where it stands as no range does, or before the names', () => {
  const result = (name: string): [number, string][] => [
    [36, '3.5-5.1'],
    [150, name],
    [350, '4.2'],
    [450, 'mmol/L'],
  ]
  assert.deepEqual(
    panels(
      [
        [36, 'Range'],
        [150, 'Test'],
        [350, 'Result'],
        [450, 'Unit'],
      ],
      [[36, 'Renal profile']],
      result('Potassium'),
      [[36, 'Lipid profile']],
      result('Cholesterol'),
    ),
    { Potassium: 'Renal profile', Cholesterol: 'Lipid profile' },
  )
  const last = (name: string): [number, string][] => [
    [36, name],
    [200, '4.2'],
    [270, 'mmol/L'],
    [330, '(3.5 to 5.1)'],
  ]
  assert.deepEqual(
    panels(
      [
        [36, 'Test'],
        [200, 'Result'],
        [270, 'Unit'],
        [330, 'Reference values'],
      ],
      last('POTASSIUM'),
      [[250, 'LIPID ASSESSMENT']],
      last('CHOLESTEROL'),
      [[330, 'Adults']],
      last('TRIGLYCERIDES'),
    ),
    { POTASSIUM: null, CHOLESTEROL: 'LIPID ASSESSMENT', TRIGLYCERIDES: 'LIPID ASSESSMENT' },
  )
})

test('panels whose names begin as groups of people and conditions do are panels', () => {
  const result = (name: string): [number, string][] => [
    [36, name],
    [220, '5.1'],
    [300, '%'],
    [380, '4.0-5.6'],
  ]
  assert.deepEqual(
    panels(
      [
        [36, 'Test'],
        [220, 'Result'],
        [300, 'Units'],
        [380, 'Reference Range'],
      ],
      [[36, 'DIABETES PROFILE']],
      result('HbA1c'),
      [[36, 'Diabetes']],
      [[36, 'Male hormone panel']],
      result('Hematocrit'),
    ),
    { HbA1c: 'DIABETES PROFILE', Hematocrit: 'Male hormone panel' },
  )
})

test('a method is not read as a heading', () => {
  const result = (name: string): [number, string][] => [
    [36, name],
    [220, '5.1'],
    [300, 'mmol/L'],
  ]
  assert.deepEqual(panels([[36, 'BIOCHEMISTRY']], result('Glucose'), [[36, 'Enzymatic method']], result('Urea')), {
    Glucose: 'BIOCHEMISTRY',
    Urea: 'BIOCHEMISTRY',
  })
})

test('the number of a laboratory behind most names is left out, and that of a vitamin is not', () => {
  const result = (name: string): [number, string][] => [
    [36, name],
    [220, '5.1'],
    [300, 'mmol/L'],
    [380, '4.0-5.6'],
  ]
  const names = ['Glucose 01', 'Urea O1', 'Sodium 1', 'Chloride 01', 'Vitamin B 12'].map(result)
  assert.deepEqual(Object.keys(panels(...names)), ['Glucose', 'Urea', 'Sodium', 'Chloride', 'Vitamin B 12'])
  // Most of them misread.
  const misread = ['Glucose 01', 'Urea o1', 'Sodium oi', 'Chloride o', 'Magnesium o1', 'Calcium 1', 'Lactate'].map(result)
  assert.deepEqual(Object.keys(panels(...misread)), ['Glucose', 'Urea', 'Sodium', 'Chloride', 'Magnesium', 'Calcium', 'Lactate'])
  // Another laboratory, and marks without their space.
  const others = ['Glucose 01', 'Urea 01', 'Sodium 01', 'Chloride 01', 'TSH 02', 'Calcium, Total01', 'Lymphs (Absolute)o1'].map(
    result,
  )
  assert.deepEqual(Object.keys(panels(...others)), [
    'Glucose',
    'Urea',
    'Sodium',
    'Chloride',
    'TSH',
    'Calcium, Total',
    'Lymphs (Absolute)',
  ])
})

test('a title of all results names no columns, and titles of reports end where the laboratory and what the practice does begin', () => {
  const { results } = understand([
    pageOfTexts([
      [60, 36, 'Investigation Results'],
      [80, 36, 'Renal profile - (Invented Pathology) - Normal, No Action'],
      [100, 50, 'Serum sodium level'],
      [100, 280, '139 mmol/L'],
      [100, 370, '[133 - 146]'],
      [120, 50, 'Kidney marker'],
      [120, 280, '71 umol/L'],
      [120, 370, '[45 - 84]'],
      [140, 36, 'Serum ferritin - (Invented Pathology) - Abnormal, Speak to Patient'],
      [160, 50, 'Serum ferritin level'],
      [160, 280, '9 ug/L'],
      [160, 370, '[13 - 150]'],
    ]),
  ])
  assert.deepEqual(
    results.map(({ test_name, value, source_panel_name, comments }) => [test_name, value, source_panel_name, comments]),
    [
      ['Serum sodium level', '139', 'Renal profile', []],
      ['Kidney marker', '71', 'Renal profile', []],
      ['Serum ferritin level', '9', 'Serum ferritin', []],
    ],
  )
})
