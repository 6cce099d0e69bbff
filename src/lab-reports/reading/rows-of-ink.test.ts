// Rows that the ink of a picture shows, against the rows that were read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import type { Box, PageText, Word } from '../pages/page.ts'
import { understand, understandStages } from './read-report.ts'
import { rowsOfInk } from './rows-of-ink.ts'

const HEADER: PlacedText[] = [
  [40, 'Test'],
  [220, 'Result'],
  [300, 'Unit'],
  [380, 'Reference Range'],
]
const row = (name: string, value: string, unit = 'mmol/L', range = '1 - 200'): PlacedText[] => [
  [40, name],
  [220, value],
  [300, unit],
  [380, range],
]
const ROWS = [row('Sodium', '140'), row('Potassium', '4.1'), row('Chloride', '101'), row('Calcium', '2.4'), row('Glucose', '5.2')]

interface Seen {
  /** Words that text recognition misses, by their line, the header being the first. */
  isLost?: (word: Word, line: number) => boolean
  ink?: Box[]
  lines?: PlacedText[][]
}

const lineOf = ({ box }: Pick<Word, 'box'>): number => Math.round((box.top - 40) / 16)

/** A page whose ink shows all of its texts. */
function pageWithInk({ isLost = () => false, ink = [], lines = [HEADER, ...ROWS] }: Seen): PageText {
  const page = pageOfLines(lines, 16)
  const letters = page.words.filter(({ text }) => text !== '-').map(({ box }) => ({ ...box, bottom: box.bottom - 2 }))
  const words = page.words.filter((word) => !isLost(word, lineOf(word))).map((word) => ({ ...word, confidence: 0.98 }))
  return { ...page, source: 'ocr', words, ink: [...letters, ...ink] }
}

const findingsOf = (page: PageText) => {
  const { results, findings } = understand([page])
  return {
    report: findings!.map(({ kind, box }) => [kind, lineOf({ box })]),
    rows: results.flatMap(({ test_name, findings: own }) => (own.length ? [[test_name, ...own.map(({ kind }) => kind)]] : [])),
  }
}

test('a picture whose rows were all read has no findings, even with specks and rests of ruled lines', () => {
  assert.deepEqual(findingsOf(pageWithInk({})), { report: [], rows: [] })
  const dirt = [
    { left: 260, right: 262, top: 88, bottom: 90 },
    { left: 210, right: 211, top: 70, bottom: 88 },
  ]
  assert.deepEqual(findingsOf(pageWithInk({ ink: dirt })), { report: [], rows: [] })
})

test('a row that the ink shows and text recognition did not see asks for a person: the first, one between others and the last', () => {
  for (const lost of [1, 3, 5]) {
    const { report } = findingsOf(pageWithInk({ isLost: (_, line) => line === lost }))
    assert.deepEqual(report, [['rows_not_read', lost]], `row ${lost}`)
  }
})

test('a row of which the result or the name was not seen asks for a person', () => {
  const value = findingsOf(pageWithInk({ isLost: ({ box }, line) => line === 5 && box.left === 220 }))
  assert(
    value.report.some(([kind, line]) => kind === 'rows_not_read' && line === 5),
    JSON.stringify(value),
  )
  const name = findingsOf(pageWithInk({ isLost: ({ box }, line) => line === 5 && box.left === 40 }))
  assert(
    name.report.some(([kind, line]) => kind === 'rows_not_read' && line === 5),
    JSON.stringify(name),
  )
})

test('ink next to a row that is in no word makes the row doubtful', () => {
  const { report, rows } = findingsOf(pageWithInk({ isLost: ({ box }, line) => line === 3 && box.left === 300 }))
  assert.deepEqual(report, [])
  assert(
    rows.some(([name, ...kinds]) => name === 'Chloride' && kinds.includes('letters_not_read')),
    JSON.stringify(rows),
  )
})

test('drawings under a column of graphs make no row doubtful', () => {
  const graphs: PlacedText[][] = [[...HEADER, [500, 'Graph']], ...ROWS]
  const signs = ROWS.map((_, index) => {
    const top = 40 + (index + 1) * 16
    return { left: 505, right: 525, top, bottom: top + 8 }
  })
  const page = pageWithInk({ lines: graphs, ink: signs })
  assert.deepEqual(findingsOf({ ...page, unread: signs }), { report: [], rows: [] })
  // Nothing says what is there.
  const { rows } = findingsOf({ ...pageWithInk({ ink: signs.map((box) => ({ ...box, left: 350, right: 370 })) }) })
  assert.equal(rows.length, ROWS.length)
})

test('a table of which nothing was seen asks for a person, also on a page without other tables', () => {
  const lines = [...Array.from({ length: 12 }, (): PlacedText[] => []), HEADER, ...ROWS]
  const page = pageWithInk({ lines: [HEADER, ...ROWS, ...lines], isLost: (_, line) => line > 12 })
  assert.deepEqual(
    findingsOf(page).report.map(([kind]) => kind),
    ['rows_not_read'],
  )
})

test('notes, headings and lines between tables that were read are not lost rows, and neither is an unread letterhead', () => {
  const lines: PlacedText[][] = [
    [
      [40, 'Fictional Laboratory'],
      [380, 'Phone 555-0100'],
    ],
    [],
    [],
    [],
    HEADER,
    ...ROWS,
    [[40, 'Results relate to the specimen as received. Please discuss them with your physician.']],
    [
      [40, 'End of report'],
      [380, 'Page 1 of 1'],
    ],
  ]
  assert.deepEqual(findingsOf(pageWithInk({ lines, isLost: (_, line) => line === 0 })), { report: [], rows: [] })
})

test('a row is doubtful where the ink shows two results', () => {
  const page = pageWithInk({ isLost: (_, line) => line === 3 })
  const { report, stages } = understandStages([page])
  const reading = { pages: stages.pages, rows: stages.rows, results: report.results, places: {} }
  // As if the row above the one that was lost reached over both.
  const rows = stages.rows.map((row, index) => (index === 1 ? { ...row, box: { ...row.box, bottom: row.box.bottom + 16 } } : row))
  const kindsOf = (candidateRows: typeof rows) =>
    rowsOfInk({ ...reading, rows: candidateRows }).rows.map(({ row, finding }) => [row, finding.kind])
  assert.deepEqual(kindsOf(stages.rows), [])
  assert(kindsOf(rows).some(([row, kind]) => row === 1 && kind === 'rows_not_read'))
})

test('a report asks for a person where a row has the numbers of two rows and says one of them', () => {
  const page = pageWithInk({})
  const { report, stages } = understandStages([page])
  // As if the row of potassium had taken in that of chloride.
  const [sodium, potassium, , ...others] = stages.rows
  const rows = [sodium!, { ...potassium!, box: { ...potassium!.box, bottom: potassium!.box.bottom + 16 } }, ...others]
  const results = report.results.filter(({ test_name }) => test_name !== 'Chloride')
  const findings = rowsOfInk({ pages: stages.pages, rows, results, places: {} })
  assert.deepEqual(
    findings.report.map(({ kind, box }) => [kind, lineOf({ box })]),
    [['rows_not_read', 3]],
  )
})

test('a known name next to a range without a result in a picture asks for a person', () => {
  const page = pageWithInk({ isLost: ({ box }, line) => line === 3 && (box.left === 220 || box.left === 300) })
  assert(findingsOf({ ...page, ink: [] }).report.some(([kind, line]) => kind === 'line_without_row' && line === 3))
})

test('a card whose range stands in another line than its result has one result', () => {
  const cards = ['TSH', 'Ferritin', 'Cortisol'].flatMap((name, index): PlacedText[][] => [
    [[40, name]],
    [[40, 'Range: 0.5 - 40']],
    [[40, `Result 1${index}`]],
    [],
    [],
  ])
  const { results } = understand([pageWithInk({ lines: cards })])
  assert.equal(results.length, 3)
  assert.deepEqual(findingsOf(pageWithInk({ lines: cards })).report, [])
  assert(results.every(({ findings }) => findings.every(({ kind }) => kind !== 'rows_not_read')))
})

test('a drawing and a text above the names of columns are no row of the table', () => {
  const lines: PlacedText[][] = [[[220, 'Report Status: Final']], [], HEADER, ...ROWS]
  const ink = [
    { left: 42, right: 50, top: 40, bottom: 50 },
    { left: 60, right: 70, top: 40, bottom: 50 },
  ]
  assert.deepEqual(findingsOf(pageWithInk({ lines, ink })), { report: [], rows: [] })
})
