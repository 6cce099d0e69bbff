// Pages of lab reports as the stage of layout gets them.
import type { PageText } from '../../src/lab-reports/pages/page.ts'

/** A cell with the place where it begins. */
export type PlacedText = [left: number, text: string]

/** The width of a letter, the height of a line and the space between words, in points. */
const [LETTER, HEIGHT, SPACE] = [5, 10, 3]

/** A page of lines, each of cells; letters have equal widths. @param pitch from the top of a line to that of the next, in points */
export function pageOfLines(lines: readonly PlacedText[][], pitch = 14): PageText {
  const words = lines.flatMap((cells, index) =>
    cells.flatMap(([left, text]) => {
      let x = left
      return text.split(' ').map((word) => {
        const top = 40 + index * pitch
        const box = { left: x, right: x + word.length * LETTER, top, bottom: top + HEIGHT }
        x = box.right + SPACE
        return { text: word, box, confidence: 1 }
      })
    }),
  )
  return { number: 1, width: 612, height: 792, source: 'text', words }
}
