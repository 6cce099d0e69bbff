// Rows of pictures whose lines are slanted, and whose signs, flags and names stand aside of their columns.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { picture, readIn } from '../../../test/support/pictures-of-tables.ts'
import { isAnalyte, isNamed } from '../reading/read-report.ts'
import { readRows } from './rows.ts'
import { readLinesOfPage } from './tables.ts'

test('rows of a picture with known names and whole results are not one, though the second result has no room in its column', () => {
  const page = picture(
    [
      ['Test', 'Result', 'Reference Range'],
      ['Protein', 'Negative', 'Negative'],
      ['Glucose', 'Negative', 'Negative'],
      ['Blood', '* Trace', 'Negative'],
      ['Leucocytes', 'Negative', 'Negative'],
    ],
    0,
    [40, 200, 320],
  )
  for (const word of page.words) if (word.box.top > 100 && word.box.top < 120) word.box.bottom += 5
  assert.deepEqual(
    readIn(page).map(([name, value]) => [name, value]),
    [
      ['Protein', 'Negative'],
      ['Glucose', 'Negative'],
      ['Blood', 'Trace'],
      ['Leucocytes', 'Negative'],
    ],
  )
})

test('a colon in front of results is in their column, wherever the picture has it', () => {
  const cells = (name: string, value: string, range: string) => [name, ':', value, range]
  const page = picture(
    [
      ['Test', 'Result', '', 'Normal Range'],
      cells('Sodium', '140 mmol/L', '136 - 145'),
      cells('Potassium', '4.1 mmol/L', '3.5 - 5.1'),
      cells('Chloride', '101 mmol/L', '98 - 107'),
    ],
    0,
    [40, 200, 212, 320],
  )
  assert.deepEqual(
    readIn(page).map(([name, value, unit, range]) => [name, value, unit, range]),
    [
      ['Sodium', '140', 'mmol/L', '136 - 145'],
      ['Potassium', '4.1', 'mmol/L', '3.5 - 5.1'],
      ['Chloride', '101', 'mmol/L', '98 - 107'],
    ],
  )
})

test('rows of a slanted picture are apart, though ranges reach into the row above', () => {
  const page = picture(
    [
      ['Test', 'Result', 'Unit', 'Reference Range'],
      ['Sodium', '140', 'mmol/L', '136 - 145'],
      ['Potassium', '4.1', 'mmol/L', '3.5 - 5.1'],
      ['Chloride', '101', 'mmol/L', '98 - 107'],
      ['Calcium', '2.4', 'mmol/L', '2.2 - 2.6'],
    ],
    0,
  )
  // Each column is higher than the one before it; the last reaches 2 points into the names above.
  for (const { box } of page.words) {
    const rise = box.left < 190 ? 0 : box.left < 250 ? 3 : box.left < 310 ? 6 : 9.5
    if (box.top > 75) Object.assign(box, { top: box.top - rise, bottom: box.bottom - rise })
  }
  assert.deepEqual(
    readIn(page).map(([name, value, , range]) => [name, value, range]),
    [
      ['Sodium', '140', '136 - 145'],
      ['Potassium', '4.1', '3.5 - 5.1'],
      ['Chloride', '101', '98 - 107'],
      ['Calcium', '2.4', '2.2 - 2.6'],
    ],
  )
})

test('the end of a name that reaches below the first day is part of it, and no result', () => {
  const page = picture(
    [
      ['Date', '', '02/05/24', '11/08/24', '', ''],
      ['Lab No', '', '88120417', '88310552', 'Units', 'Reference'],
      ['Sodium', '', '139', '140', 'mmol/L', '135 - 145'],
      ['Bilirubin', 'Total', '11', '9', 'umol/L', '0 - 20'],
    ],
    0,
    [40, 97, 150, 210, 280, 340],
  )
  assert.deepEqual(
    readIn(page).map(([name, value]) => [name, value]),
    [
      ['Sodium', '139'],
      ['Sodium', '140'],
      ['Bilirubin Total', '11'],
      ['Bilirubin Total', '9'],
    ],
  )
})

test('a word that is a flag below the column of units is the flag, and the unit stays', () => {
  const page = picture(
    [
      ['Test', 'Result', '', 'Unit', 'Reference Range'],
      ['Glucose', '132', 'High', 'mg/dL', '70 - 100'],
      ['Urea', '15', '', 'mg/dL', '7 - 20'],
    ],
    0,
    [40, 160, 225, 260, 320],
  )
  assert.deepEqual(
    readRows([{ page, lines: readLinesOfPage(page, isNamed) }], { isAnalyte, isNamed }).map(({ unit, flag }) => [unit, flag]),
    [
      ['mg/dL', 'high'],
      ['mg/dL', null],
    ],
  )
})

test('a heading that drifts with the rows of a slanted picture is one', () => {
  const page = picture(
    [
      ['Test', 'Result', 'Reference Range'],
      ['Sodium', '140 mmol/L', '136 - 145'],
      ['Potassium', '4.1 mmol/L', '3.5 - 5.1'],
      ['Chloride', '101 mmol/L', '98 - 107'],
      ['Calcium', '2.4 mmol/L', '2.2 - 2.6'],
      ['RAPID SEROLOGY.', '', ''],
      ['RPR', 'Non-Reactive', 'Non-Reactive'],
    ],
    0,
    [40, 200, 340],
  )
  for (const { box } of page.words) {
    const drift = Math.max(0, (box.top - 80) / 3)
    Object.assign(box, { left: box.left + drift, right: box.right + drift })
  }
  assert.equal(readIn(page).at(-1)![4], 'RAPID SEROLOGY')
})
