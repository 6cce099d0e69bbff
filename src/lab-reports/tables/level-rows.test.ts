import assert from 'node:assert/strict'
import { test } from 'node:test'
import { centerY, type PageText, type Word } from '../pages/page.ts'
import { isAnalyte, isNamed } from '../reading/read-report.ts'
import { withLevelRows } from './level-rows.ts'
import { readRows } from './rows.ts'
import { baselinesOf } from './table-cells.ts'
import { readLinesOfPage } from './tables.ts'

const NAMES = [
  'Sodium',
  'Potassium',
  'Chloride',
  'Calcium',
  'Urea',
  'Creatinine',
  'Albumin',
  'Globulin',
  'Glucose',
  'Cholesterol',
]
const [TOP, PITCH, HEIGHT] = [100, 16, 10]

/** A page with the texts of columns moved down by what `drift` gives for a row. */
function createPage(drift: (row: number, column: number) => number, skipsUnit: (row: number) => boolean = () => false): PageText {
  const words: Word[] = []
  const put = (text: string, left: number, row: number, column: number) => {
    const top = TOP + row * PITCH + drift(row, column)
    words.push({ text, confidence: 0.95, box: { left, top, right: left + text.length * 5, bottom: top + HEIGHT } })
  }
  for (const [column, title] of ['Test', 'Result', 'Units', 'Range'].entries()) put(title, 40 + column * 120, 0, column)
  for (const [index, name] of NAMES.entries()) {
    put(name, 40, index + 1, 0)
    put(String(11 + index), 160, index + 1, 1)
    if (!skipsUnit(index)) put('mmol/L', 280, index + 1, 2)
    put(`${index}-${index + 20}`, 400, index + 1, 3)
  }
  return { number: 1, width: 612, height: 792, source: 'ocr', words }
}

const levelRows = (page: PageText) => withLevelRows(page, baselinesOf(page))
const rows = (page: PageText) =>
  readRows([{ page, lines: readLinesOfPage(page) }], { isAnalyte, isNamed }).map(({ name, value, range_lines }) => [
    name,
    value,
    ...range_lines,
  ])
const expected = NAMES.map((name, index) => [name, String(11 + index), `${index}-${index + 20}`])

test('results of a photo that are printed further above their names with each row belong to their names', () => {
  const bent = createPage((row, column) => -row * column * 1.1)
  assert.notDeepEqual(rows(bent), expected)
  assert.deepEqual(rows(levelRows(bent)), expected)
  const falling = createPage((row, column) => (row ** 2 / 10) * column * 0.9)
  assert.deepEqual(rows(levelRows(falling)), expected)
})

test('a moved row is found at its place on the page', () => {
  const bent = createPage((row, column) => -row * column * 1.1)
  const level = levelRows(bent)
  for (const [index, { box }] of level.words.entries()) {
    const place = level.drawnPage!.place(box)
    assert.ok(Math.abs(centerY(place) - centerY(bent.words[index]!.box)) < PITCH / 4, level.words[index]!.text)
  }
})

test('a page whose rows are level, slightly apart or suddenly apart stays unchanged', () => {
  for (const page of [
    createPage(() => 0),
    createPage((row, column) => -row * column * 0.1),
    createPage((row) => (row > 5 ? 9 : 0)),
    createPage(
      () => 0,
      (row) => row > 2 && row < 6,
    ),
  ])
    assert.equal(levelRows(page), page)
})

test('results of a table stand with its own names, however far apart the rows of the table next to it are', () => {
  const words: Word[] = []
  const put = (text: string, left: number, top: number) =>
    words.push({ text, confidence: 0.95, box: { left, top, right: left + text.length * 5, bottom: top + HEIGHT } })
  for (const [table, pitch] of [PITCH, PITCH * 0.9].entries()) {
    for (const [column, title] of ['Test', 'Result', 'Range'].entries()) put(title, 40 + table * 280 + column * 90, TOP)
    for (const [index, name] of NAMES.entries()) {
      const top = TOP + (index + 1) * pitch
      put(name, 40 + table * 280, top)
      put(String(11 + index), 130 + table * 280, top)
      put(`${index}-${index + 20}`, 220 + table * 280, top)
    }
  }
  const page: PageText = { number: 1, width: 612, height: 792, source: 'ocr', words }
  assert.equal(levelRows(page), page)
})

test('a page whose results, units and ranges are level stays unchanged, though names on two lines stand above and below them', () => {
  const words: Word[] = []
  const put = (text: string, left: number, top: number) =>
    words.push({ text, confidence: 0.95, box: { left, top, right: left + text.length * 5, bottom: top + HEIGHT } })
  for (const [column, title] of ['Test', 'Result', 'Units', 'Range'].entries()) put(title, 40 + column * 120, TOP)
  let top = TOP + PITCH
  for (const [index, name] of NAMES.entries()) {
    const isLong = index % 3 > 0
    put(name, 40, top)
    if (isLong) put('Serum', 40, top + HEIGHT + 1)
    const middle = top + (isLong ? HEIGHT / 2 : 0)
    for (const [column, text] of [String(11 + index), 'mmol/L', `${index}-${index + 20}`].entries())
      put(text, 160 + column * 120, middle)
    top += isLong ? PITCH + HEIGHT : PITCH
  }
  const page: PageText = { number: 1, width: 612, height: 792, source: 'ocr', words }
  assert.equal(levelRows(page), page)
})
