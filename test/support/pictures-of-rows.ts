// Pictures of a table of ten rows, of which tests change some.
import type { PageText } from '../../src/lab-reports/pages/page.ts'
import { understand } from '../../src/lab-reports/reading/read-report.ts'
import { pageOfLines, type PlacedText } from './report-pages.ts'

/** The names of columns of `row`. */
export const HEADER: PlacedText[] = [
  [40, 'Test'],
  [220, 'Result'],
  [300, 'Unit'],
  [380, 'Reference Range'],
]
/** A row without a range where `range` is empty. */
export const row = (name: string, value: string, range = '0 - 200'): PlacedText[] => [
  [40, name],
  [220, value],
  [300, 'mmol/L'],
  ...(range ? [[380, range] as PlacedText] : []),
]
/** The results of the ten rows. */
export const VALUES = {
  Sodium: '140',
  Potassium: '4.1',
  Chloride: '101',
  Calcium: '2.4',
  Glucose: '5.2',
  Magnesium: '0.8',
  Phosphate: '1.1',
  Lactate: '1.2',
  Urea: '5.0',
  Bicarbonate: '25',
}
/** The names of columns and ten rows, each as `change` makes it. */
export const rows = (change: (name: string, value: string, index: number) => PlacedText[]): PlacedText[][] => [
  HEADER,
  ...Object.entries(VALUES).map(([name, value], index) => change(name, value, index)),
]

/** A page of which each letter is quite sure, and none certain. */
export const createPicture = (lines: PlacedText[][], confidence = 0.95): PageText => {
  const page = pageOfLines(lines)
  return { ...page, source: 'ocr', words: page.words.map((word) => ({ ...word, confidence })) }
}
/** The results of a page. */
export const read = (lines: PlacedText[][], source: PageText['source'] = 'ocr') =>
  understand([source === 'ocr' ? createPicture(lines) : { ...pageOfLines(lines), source }]).results
/** The kinds of the findings that each result has. */
export const kindsOf = (results: ReturnType<typeof read>) => results.map(({ findings }) => findings.map(({ kind }) => kind))
