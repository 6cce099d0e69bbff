// Pictures of tables, in which the heights of words are measured and differ, and what the parser reads of them.
import type { PageText, Word } from '../../src/lab-reports/pages/page.ts'
import { isAnalyte, isNamed } from '../../src/lab-reports/reading/read-report.ts'
import { readRows } from '../../src/lab-reports/tables/rows.ts'
import { readLinesOfPage } from '../../src/lab-reports/tables/tables.ts'

const [LETTER, SIZE] = [5, 10]
export const [SPACE, LINE, PADDING] = [2.8, 11.5, 3]
const AT = [40, 200, 260, 320]

/** Rows of cells at their top; `|` parts their lines, of which the second ones are `noteSize` high. Every other word is higher by `measured` points. */
export function picture(
  rows: readonly string[][],
  measuredHeight: number,
  position: readonly number[] = AT,
  noteSize = SIZE,
): PageText {
  const words: Word[] = []
  let top = 60
  for (const row of rows) {
    const lines = Math.max(...row.map((cell) => cell.split('|').length))
    for (const [column, cell] of row.entries())
      for (const [index, text] of cell.split('|').entries()) {
        let left = position[column]!
        const y = top + PADDING + index * LINE
        for (const word of text.split(' ').filter(Boolean)) {
          const size = index ? noteSize : SIZE
          const bottom = y + size + (words.length % 2 ? measuredHeight : 0)
          const right = left + (word.length * LETTER * size) / SIZE
          words.push({ text: word, confidence: 0.9, box: { left, right, top: y, bottom } })
          left = right + SPACE
        }
      }
    top += lines * LINE + 2 * PADDING
  }
  return { number: 1, width: 595, height: 842, source: 'ocr', words }
}

/** Names, values, units, ranges and panels. */
export const readIn = (page: PageText) =>
  readRows([{ page, lines: readLinesOfPage(page, isNamed) }], { isAnalyte, isNamed }).map(
    ({ name, value, unit, range_lines, panel }) => [name, value, unit, range_lines.join(' '), panel],
  )
