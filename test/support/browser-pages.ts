// Pages of lab reports with texts wherever a browser prints them, and what the parser reads of them.
import type { Box, PageText } from '../../src/lab-reports/pages/page.ts'
import { understand } from '../../src/lab-reports/reading/read-report.ts'

export type Text = [top: number, left: number, text: string]

/** Letters are 5 points wide and 10 high; between words are 3 points. @param rules heights of lines over the width of the table */
export function pageOfTexts(texts: readonly Text[], rules: readonly number[] = []): PageText {
  const words = texts.flatMap(([top, left, text]) => {
    let x = left
    return text.split(' ').map((word) => {
      const box = { left: x, right: x + word.length * 5, top, bottom: top + 10 }
      x = box.right + 3
      return { text: word, box, confidence: 1, font: 'regular' }
    })
  })
  const lines = rules.map((top): Box => ({ left: 30, right: 560, top, bottom: top + 1 }))
  return { number: 1, width: 612, height: 792, source: 'text', words, drawings: { lines, areas: [] } }
}

export const readResults = (texts: readonly Text[], rules?: readonly number[]) => understand([pageOfTexts(texts, rules)]).results
/** Names, values, units and interpretations. */
export const readRows = (texts: readonly Text[], rules?: readonly number[]) =>
  readResults(texts, rules).map(({ test_name, value, units, interpretation }) => [test_name, value, units, interpretation])
/** Names and panels. */
export const readPanels = (texts: readonly Text[], rules?: readonly number[]) =>
  readResults(texts, rules).map(({ test_name, source_panel_name }) => [test_name, source_panel_name])

const PLACES = [36, 240, 320, 420]
/** Texts in the columns of the tests, at a height; an empty one is left out. */
export const line = (top: number, ...cells: string[]): Text[] =>
  cells.flatMap((text, index): Text[] => (text ? [[top, PLACES[index]!, text]] : []))
export const HEADER = line(100, 'Test', 'Result', 'Units', 'Reference Range')
