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

test('a range in another unit than its result is doubtful, and a letter code of a known name is a result aside of the name of its column', () => {
  const row = (top: number, ...cells: string[]): Text[] =>
    cells.map((text, index): Text => [top, [40, 90, 254, 395][index]!, text])
  const results = readResults([
    [100, 54, 'S/N'],
    [100, 130, 'Investigation'],
    [100, 302, 'Result'],
    [100, 437, 'Normal Range'],
    ...row(115, '1.', 'VDRL', 'Non-Reactive', '-'),
    ...row(130, '2.', 'Genotype', 'AS', '-'),
    ...row(145, '3.', 'Fasting Blood Sugar', '88 mg/dl', '3.9 - 6.1 mmol/L'),
  ])
  assert.deepEqual(
    results.map(({ test_name, value, findings }) => [test_name, value, ...findings.map(({ kind }) => kind)]),
    [
      ['VDRL', 'Non-Reactive'],
      ['Genotype', 'AS'],
      ['Fasting Blood Sugar', '88', 'range_is_not_understood'],
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

const inPicture = (texts: readonly Text[]) => {
  const page = pageOfTexts(texts)
  const words = page.words.map(({ text, box }) => ({ text, box, confidence: 0.99 }))
  return understand([{ ...page, source: 'ocr', words, ink: words.map(({ box }) => box) }])
}

test('a result beside the middle of a name and its range in a picture is that of the name', () => {
  const block = (top: number, name: string, result: string, range: string): Text[] => [
    [top, 40, name],
    [top + 6, 440, result],
    [top + 12, 40, `Normal range: ${range}`],
  ]
  assert.deepEqual(
    inPicture([...block(100, 'Albumin', '3.9', '3.5 - 5.2 g/dL'), ...block(136, 'Lipase', '34', '13 - 60 U/L')]).results.map(
      (row) => [row.test_name, row.value, row.units, row.max_reference_range],
    ),
    [
      ['Albumin', '3.9', 'g/dL', 5.2],
      ['Lipase', '34', 'U/L', 60],
    ],
  )
})

test('numbers of laboratories that a picture joins to names are left out, and those of names are not', () => {
  const row = (top: number, name: string, ...cells: string[]): Text[] =>
    [name, ...cells].map((text, index): Text => [top, [40, 200, 300, 400][index]!, text])
  const names = inPicture([
    ...row(100, 'Test', 'Result', 'Units', 'Range'),
    ...row(116, 'WBC1', '6.8', 'x10E3/uL', '3.4-10.8'),
    ...row(132, 'RBC01', '4.05', 'x10E6/uL', '3.77-5.28'),
    ...row(148, 'Hemoglobino1', '12.9', 'g/dL', '11.1-15.9'),
    ...row(164, 'Platelets°1', '312', 'x10E3/uL', '150-450'),
    ...row(180, 'Vitamin B1201', '488', 'pg/mL', '232-1245'),
    ...row(196, 'Vitamin B12', '488', 'pg/mL', '232-1245'),
  ]).results.map(({ test_name }) => test_name)
  assert.deepEqual(names, ['WBC', 'RBC', 'Hemoglobin', 'Platelets', 'Vitamin B12', 'Vitamin B12'])
})

test('the day of an earlier result and the unit behind it are in columns of their own', () => {
  const row = (top: number, ...cells: [number, string][]): Text[] => cells.map(([left, text]): Text => [top, left, text])
  assert.deepEqual(
    inPicture([
      ...row(100, [40, 'Test'], [180, 'Current Result'], [300, 'Previous Result and Date'], [450, 'Units'], [520, 'Interval']),
      ...row(116, [40, 'Glucose'], [180, '104'], [300, '98'], [400, '09/24/2024 mg/dL'], [520, '70-99']),
      ...row(132, [40, 'Sodium'], [180, '141'], [300, '140'], [400, '09/24/2024 mmol/L'], [520, '134-144']),
      ...row(148, [40, 'Calcium'], [180, '9.6'], [300, '9.5'], [400, '09/24/2024 mg/dL'], [520, '8.7-10.2']),
    ]).results.map(({ test_name, value, units }) => [test_name, value, units]),
    [
      ['Glucose', '104', 'mg/dL'],
      ['Sodium', '141', 'mmol/L'],
      ['Calcium', '9.6', 'mg/dL'],
    ],
  )
})

test('a heading that says what several tests are about is no name without a result', () => {
  const row = (top: number, ...cells: string[]): Text[] => cells.map((text, index): Text => [top, [40, 240, 420][index]!, text])
  const { findings } = inPicture([
    ...row(100, 'Free T3', '3.9 pmol/L', 'Range: 3.1 - 6.8'),
    ...row(130, 'iron status'),
    ...row(150, 'Ferritin', '24 ug/L', 'Range: 15 - 150'),
    ...row(176, 'TIBC', '71 umol/L', 'Range: 45 - 81'),
  ])
  assert.deepEqual(findings, [])
})
