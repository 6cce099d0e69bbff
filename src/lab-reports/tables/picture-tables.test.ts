// Tables of pictures, in which the heights of words are measured and differ.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PageText, Word } from '../pages/page.ts'
import { isAnalyte, isNamed } from '../reading/read-report.ts'
import { readRows } from './rows.ts'
import { readLinesOfPage } from './tables.ts'

const [LETTER, SPACE, SIZE, LINE, PADDING] = [5, 2.8, 10, 11.5, 3]
const AT = [40, 200, 260, 320]

/** Rows of cells at their top; `|` parts their lines. Every other word is higher by `measured` points. */
function picture(rows: readonly string[][], measuredHeight: number, position: readonly number[] = AT): PageText {
  const words: Word[] = []
  let top = 60
  for (const row of rows) {
    const lines = Math.max(...row.map((cell) => cell.split('|').length))
    for (const [column, cell] of row.entries())
      for (const [index, text] of cell.split('|').entries()) {
        let left = position[column]!
        const y = top + PADDING + index * LINE
        for (const word of text.split(' ').filter(Boolean)) {
          const bottom = y + SIZE + (words.length % 2 ? measuredHeight : 0)
          words.push({ text: word, confidence: 0.9, box: { left, right: left + word.length * LETTER, top: y, bottom } })
          left += word.length * LETTER + SPACE
        }
      }
    top += lines * LINE + 2 * PADDING
  }
  return { number: 1, width: 595, height: 842, source: 'ocr', words }
}

test('a name on two lines of a picture is one name, though the heights of its words differ', () => {
  const page = picture(
    [
      ['Test', 'Result', 'Unit', 'Reference Range'],
      ['Total Iron Binding|Capacity (TIBC)', '286', 'ug/dL', '250 - 450'],
      ['Activated Partial|Thromboplastin Time', '29', 's', '24 - 33'],
      ['Folate (Folic Acid),|Serum', '2.6', 'ng/mL', '>3.0'],
      ['Sodium', '140', 'mmol/L', '136 - 145'],
      ['Potassium', '4.1', 'mmol/L', '3.5 - 5.1'],
      ['Chloride', '101', 'mmol/L', '98 - 107'],
    ],
    1.2,
  )
  const rows = readRows([{ page, lines: readLinesOfPage(page) }], { isAnalyte, isNamed })
  assert.deepEqual(
    rows.map(({ name, value, unit }) => [name, value, unit]),
    [
      ['Total Iron Binding Capacity (TIBC)', '286', 'ug/dL'],
      ['Activated Partial Thromboplastin Time', '29', 's'],
      ['Folate (Folic Acid), Serum', '2.6', 'ng/mL'],
      ['Sodium', '140', 'mmol/L'],
      ['Potassium', '4.1', 'mmol/L'],
      ['Chloride', '101', 'mmol/L'],
    ],
  )
})

const readIn = (page: PageText) =>
  readRows([{ page, lines: readLinesOfPage(page, isNamed) }], { isAnalyte, isNamed }).map(
    ({ name, value, unit, range_lines, panel }) => [name, value, unit, range_lines.join(' '), panel],
  )

test('a unit in brackets below the name of a column of a picture is that of its numbers, though its letters seem higher', () => {
  const page = picture(
    [
      ['Test', 'Result|[mmol/L]', 'Flag', 'Reference Range'],
      ['Sodium', '141', '', '135 - 145'],
      ['Potassium', '5.2', 'H', '3.5 - 5.1'],
      ['Chloride', '101', '', '98 - 107'],
    ],
    0,
  )
  for (const word of page.words) if (word.text === '[mmol/L]') word.box.bottom += 2.6
  assert.deepEqual(
    readIn(page).map(([name, , unit]) => [name, unit]),
    [
      ['Sodium', 'mmol/L'],
      ['Potassium', 'mmol/L'],
      ['Chloride', 'mmol/L'],
    ],
  )
})

test('names of columns on two lines of a picture belong to one table, and its panels are not parts of names', () => {
  const page = picture(
    [
      ['Panel', 'Test|Description', 'Result|and Flag', 'Reference|Range'],
      ['Cardiac Enzymes', 'D-Dimer', '1.04 HH', '0.00 - 0.49'],
      ['', 'Troponin T', '11', '<22'],
      ['Renal Function', 'Calcium', '10.0', '8.6 - 10.3'],
      ['', 'Phosphorus', '5.3 H', '2.5 - 4.5'],
    ],
    0,
    [40, 160, 260, 340],
  )
  // In a picture lines of a cell seem further apart.
  for (const { text, box } of page.words) if (/^(?:Description|and|Flag|Range)$/u.test(text)) box.top += 2.2
  for (const { text, box } of page.words) if (/^(?:Description|and|Flag|Range)$/u.test(text)) box.bottom += 2.2
  assert.deepEqual(
    readIn(page).map(([name, value, , , panel]) => [name, value, panel]),
    [
      ['D-Dimer', '1.04', 'Cardiac Enzymes'],
      ['Troponin T', '11', 'Cardiac Enzymes'],
      ['Calcium', '10.0', 'Renal Function'],
      ['Phosphorus', '5.3', 'Renal Function'],
    ],
  )
})

test('a method in brackets below a name in a picture is not part of the name, even if the line of the name has no room for it', () => {
  const page = picture(
    [
      ['Test Name', 'Result', 'Unit', 'Reference Range'],
      ['T3 (Triiodothyronine)|(CLIA)', '137', 'ng/dL', '71 - 180'],
      ['T4 (Thyroxine)|(CLIA)', '5.7', 'ug/dL', '4.5 - 12.0'],
      ['TSH (Ultrasensitive)|(CLIA)', '2.341', 'uIU/mL', '0.450 - 4.500'],
    ],
    0,
    [40, 160, 260, 340],
  )
  assert.deepEqual(
    readIn(page).map(([name]) => name),
    ['T3 (Triiodothyronine)', 'T4 (Thyroxine)', 'TSH (Ultrasensitive)'],
  )
})
