// Tables of pictures, in which the heights of words are measured and differ.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PageText, Word } from '../pages/page.ts'
import { isAnalyte, isNamed } from '../reading/read-report.ts'
import { rowsOf } from './rows.ts'
import { linesOf } from './tables.ts'

const [LETTER, SPACE, SIZE, LINE, PADDING] = [5, 2.8, 10, 11.5, 3]
const AT = [40, 200, 260, 320]

/** Rows of cells at their top; `|` parts their lines. Every other word is higher by `measured` points. */
function picture(rows: readonly string[][], measured: number): PageText {
  const words: Word[] = []
  let top = 60
  for (const row of rows) {
    const lines = Math.max(...row.map((cell) => cell.split('|').length))
    for (const [column, cell] of row.entries())
      for (const [index, text] of cell.split('|').entries()) {
        let left = AT[column]!
        const y = top + PADDING + index * LINE
        for (const word of text.split(' ')) {
          const bottom = y + SIZE + (words.length % 2 ? measured : 0)
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
  const rows = rowsOf([{ page, lines: linesOf(page) }], { isAnalyte, isNamed })
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
