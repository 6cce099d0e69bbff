// Tables as portals and large laboratories print them: units below results, days behind earlier results, particulars beside panels.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfTexts, readResults, type Text } from '../../../test/support/browser-pages.ts'
import { understand } from '../reading/read-report.ts'

const values = (texts: readonly Text[]) =>
  readResults(texts).map((row) => [row.test_name, row.value, row.units, row.min_reference_range, row.max_reference_range])

/** A name beside the middle of a result and its unit. */
const stack = (top: number, name: string, result: string, unit: string, range: string): Text[] => [
  [top, 250, result],
  [top + 8, 40, name],
  [top + 8, 350, range],
  [top + 16, 250, unit],
]

test('a unit below a result is that of the result where the name stands beside the middle of both', () => {
  assert.deepEqual(
    values([
      ...stack(100, 'Free T3', '4.1', 'pmol/L', 'Range: 3.1 - 6.8'),
      ...stack(140, 'Ferritin', '26.1', 'ug/L', 'Range: 30 - 207'),
      ...stack(180, 'Vitamin D', '43', 'nmol/L', 'Range: 50 - 200'),
    ]),
    [
      ['Free T3', '4.1', 'pmol/L', 3.1, 6.8],
      ['Ferritin', '26.1', 'ug/L', 30, 207],
      ['Vitamin D', '43', 'nmol/L', 50, 200],
    ],
  )
})

test('the day behind an earlier result is in the column of earlier results', () => {
  const row = (top: number, ...cells: string[]): Text[] =>
    cells.map((text, index): Text => [top, [40, 190, 330, 365, 460, 530][index]!, text])
  assert.deepEqual(
    values([
      [100, 40, 'Test'],
      [100, 190, 'Current Result'],
      [100, 330, 'Previous Result and'],
      [100, 460, 'Units'],
      [95, 530, 'Reference'],
      [106, 530, 'Interval'],
      ...row(120, 'WBC', '6.8', '7.1', '04/16/2026', 'x10E3/uL', '3.4-10.8'),
      ...row(135, 'RBC', '4.05', '4.21', '04/16/2026', 'x10E6/uL', '3.77-5.28'),
      ...row(150, 'Platelets', '312', '298', '04/16/2026', 'x10E3/uL', '150-450'),
    ]),
    [
      ['WBC', '6.8', 'x10E3/uL', 3.4, 10.8],
      ['RBC', '4.05', 'x10E6/uL', 3.77, 5.28],
      ['Platelets', '312', 'x10E3/uL', 150, 450],
    ],
  )
})

test('particulars below each other beside a table whose tests stand below the name of their panel are no names of tests', () => {
  const side: Text[] = ['Patient', 'DOB', 'Sex F', 'MRN', 'Accession', 'Reported'].map((text, index) => [
    104 + index * 13,
    40,
    text,
  ])
  const row = (top: number, ...cells: string[]): Text[] => cells.map((text, index): Text => [top, [160, 320, 430][index]!, text])
  assert.deepEqual(
    values([
      ...side,
      ...row(100, 'Day 3 Hormone Panel', 'Result', 'Reference'),
      ...row(114, 'FSH', '11.8 mIU/mL', '3.5 - 12.5'),
      ...row(128, 'LH', '6.4 mIU/mL', '2.4 - 12.6'),
      ...row(142, 'Inhibin B', '39 pg/mL', '10 - 139'),
      ...row(156, 'Prolactin', '28.9 ng/mL', '4.8 - 23.3'),
    ]),
    [
      ['FSH', '11.8', 'mIU/mL', 3.5, 12.5],
      ['LH', '6.4', 'mIU/mL', 2.4, 12.6],
      ['Inhibin B', '39', 'pg/mL', 10, 139],
      ['Prolactin', '28.9', 'ng/mL', 4.8, 23.3],
    ],
  )
})

test('a result that is what is expected is one under any name, and a word may have the unit of a sediment', () => {
  const row = (top: number, ...cells: string[]): Text[] => cells.map((text, index): Text => [top, [40, 204, 360][index]!, text])
  assert.deepEqual(
    values([
      ...row(100, 'Analyte', 'Result', 'Expected'),
      ...row(115, 'Nitrite', 'Negative', 'Negative'),
      ...row(130, 'Internal Control', 'Valid', 'Valid'),
      ...row(145, 'Casts', 'Nil /lpf', 'Nil'),
    ]),
    [
      ['Nitrite', 'Negative', null, null, null],
      ['Internal Control', 'Valid', null, null, null],
      ['Casts', 'Nil', '/lpf', null, null],
    ],
  )
})

test('numbers of companies and telephones in a letterhead are no results', () => {
  const { results, findings } = understand([
    pageOfTexts([
      [40, 40, 'Southern Invented Pathology'],
      [58, 40, 'ABN 00 000 000 000'],
      [76, 40, 'Ph: 020-5550 0100'],
      [120, 40, 'Sodium'],
      [120, 200, '140'],
      [120, 260, 'mmol/L'],
      [120, 340, '135-145'],
    ]),
  ])
  assert.deepEqual(
    results.map(({ test_name }) => test_name),
    ['Sodium'],
  )
  assert.deepEqual(findings, [])
})

test('a heading whose letters are set apart names its panel', () => {
  const [row] = readResults([
    [100, 40, 'U R I N A LY S I S'],
    [120, 40, 'Glucose'],
    [120, 200, 'Negative'],
    [120, 340, 'Negative'],
  ])
  assert.equal(row?.source_panel_name, 'URINALYSIS')
})
