// How certain rows of pictures are: names that nobody uses, ranges that may have moved, pages of which much is doubtful.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import type { PageText } from '../pages/page.ts'
import { understand } from './read-report.ts'

const HEADER: PlacedText[] = [
  [40, 'Test'],
  [220, 'Result'],
  [300, 'Unit'],
  [380, 'Reference Range'],
]
const row = (name: string, value: string, range = '0 - 200'): PlacedText[] => [
  [40, name],
  [220, value],
  [300, 'mmol/L'],
  ...(range ? [[380, range] as PlacedText] : []),
]
const VALUES = {
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
const rows = (change: (name: string, value: string, index: number) => PlacedText[]): PlacedText[][] => [
  HEADER,
  ...Object.entries(VALUES).map(([name, value], index) => change(name, value, index)),
]

const read = (lines: PlacedText[][], source: PageText['source'] = 'ocr') =>
  understand([{ ...pageOfLines(lines), source }]).results
const kindsOf = (results: ReturnType<typeof read>) => results.map(({ findings }) => findings.map(({ kind }) => kind))

test('an unknown test name in a picture is doubtful, and in a text it is read as printed', () => {
  const lines = rows((name, value, index) => row(index === 2 ? 'Chlorlde ofx' : name, value))
  assert.deepEqual(kindsOf(read(lines))[2], ['name_is_unknown'])
  assert.deepEqual(kindsOf(read(lines, 'text'))[2], [])
  assert(read(lines).every(({ findings }, index) => index === 2 || findings.length === 0))
})

test('a unit in a picture that is not known and a name that ends in a dot are doubtful, and in a text they are read as printed', () => {
  const lines = rows((name, value, index) => row(index === 4 ? 'Glucose.' : name, value))
  lines[2]![2] = [300, 'mmol/..']
  const [ofPicture, ofText] = [kindsOf(read(lines)), kindsOf(read(lines, 'text'))]
  assert.deepEqual([ofPicture[1], ofPicture[4]], [['unit_is_no_unit'], ['name_is_unknown']])
  assert(ofPicture.every((kinds, index) => index === 1 || index === 4 || kinds.length === 0))
  assert(ofText.every((kinds) => kinds.length === 0))
})

/** A column of signs without a name between names and results. `sign` is that of the row of the index. */
function withSigns(sign: Record<number, string>): PageText {
  const lines = rows((name, value, index) => {
    const cells = row(name, index === 1 ? '7.1' : value, index === 1 ? '3.5 - 5.1' : undefined)
    return sign[index] ? [cells[0]!, [150, sign[index]] as PlacedText, ...cells.slice(1)] : cells
  })
  return { ...pageOfLines(lines), source: 'ocr' }
}

test('an arrow in a picture that was read as a digit is not the result, and gives no finding if the result is outside of its range', () => {
  const valuesOf = (page: PageText) => understand([page]).results.map(({ value }) => value)
  const page = withSigns({ 1: '1', 4: '1' })
  assert.deepEqual(valuesOf(page), valuesOf(withSigns({})))
  const kinds = kindsOf(understand([page]).results)
  assert.deepEqual([kinds[1], kinds[4]], [[], ['text_not_read']])
})

test('an arrow in a picture of which no letter was recognized gives a finding only if the result is within its range', () => {
  const page = withSigns({ 1: 't', 4: 't' })
  const isSign = ({ text }: { text: string }) => text === 't'
  const unread = page.words.filter(isSign).map(({ box }) => box)
  const kinds = kindsOf(understand([{ ...page, words: page.words.filter((word) => !isSign(word)), unread }]).results)
  assert.deepEqual([kinds[1], kinds[4]], [[], ['letters_not_read']])
})

test('names of cards in a picture that stand above their ranges and have no result ask for a person', () => {
  const card = (value: string): PlacedText[][] => [
    [
      [40, 'TSH'],
      [300, 'Free T4'],
    ],
    [
      [40, 'Normal range: 0.450 - 4.500 uIU/mL'],
      [300, 'Normal range: 0.82 - 1.77 ng/dL'],
    ],
    [
      [40, value ? 'Value 1.985' : 'Val ue1.985'],
      [300, value ? 'Value 1.40' : 'Values.40'],
    ],
  ]
  const reportOf = (lines: PlacedText[][]) => understand([{ ...pageOfLines(lines), source: 'ocr' }])
  assert.equal(reportOf(card('1.985')).results.length, 2)
  assert.equal(reportOf(card('1.985')).findings?.length, 0)
  assert.deepEqual(
    reportOf(card('')).findings?.map(({ kind }) => kind),
    ['line_without_row'],
  )
})

test('a range in a picture next to two lost ranges may belong to another row', () => {
  const lines = rows((name, value, index) => row(name, value, index === 3 || index === 5 ? '' : '0 - 200'))
  const kinds = kindsOf(read(lines))
  assert.deepEqual(
    kinds.map((ownKinds) => ownKinds[0] ?? ''),
    ['', '', 'range_is_doubtful', 'range_is_missing', 'range_is_doubtful', 'range_is_missing', 'range_is_doubtful', '', '', ''],
  )
})

test('where more than a fifth of the rows in pictures are doubtful, no row has a confidence of 0.9', () => {
  const sure = (lines: PlacedText[][]) => read(lines).filter(({ place }) => place.confidence >= 0.9).length
  const unknown = (count: number) => rows((name, value, index) => row(index < count ? `Unheard of ${name}x` : name, value))
  assert.equal(sure(unknown(0)), 10)
  assert.equal(sure(unknown(2)), 8)
  assert.equal(sure(unknown(3)), 0)
})

test('where several results of a picture do not fit their names, no row of its page is certain', () => {
  const moved: Record<string, string> = { Sodium: '4.1', Potassium: '140', Calcium: '101', Magnesium: '93' }
  const results = read(rows((name, value) => row(name, moved[name] ?? value)))
  const kinds = Object.fromEntries(results.map(({ test_name, findings }) => [test_name, findings.map(({ kind }) => kind)]))
  assert.deepEqual(kinds.Sodium, ['outside_human_limits'])
  assert.deepEqual(kinds.Urea, ['table_is_doubtful'])
  assert(results.every(({ place }) => place.confidence < 0.9))
  const single = read(rows((name, value) => row(name, name === 'Sodium' ? '4.1' : value)))
  assert.deepEqual(
    single.flatMap(({ findings }) => findings.map(({ kind }) => kind)),
    ['outside_human_limits'],
  )
})

test('the number of a laboratory behind most names of a picture gives no finding, also where its zero was read as a letter', () => {
  const lines = rows((name, value, index) => {
    const [first, ...others] = row(name, value)
    return [first!, [130, ['01', 'o1', 'O1'][index % 3]!], ...others]
  })
  const results = read(lines)
  assert.equal(results.length, Object.keys(VALUES).length)
  assert(kindsOf(results).every((kinds) => kinds.length === 0))
})

test('a method that is stated next to the lines of a range counts as read', () => {
  const lines: PlacedText[][] = [
    HEADER,
    ...rows((name, value) => row(name, value)).slice(1),
    [
      [40, 'Estradiol'],
      [220, '35'],
      [300, 'pg/mL'],
      [380, 'Adult men: 7.6 to 42.6'],
    ],
    [
      [40, 'Method: Equilibrium dialysis'],
      [380, 'Adult women: 27.0 to 246.0'],
    ],
    [[380, 'Children: 24.8 to 226.3']],
  ]
  const results = read(lines)
  assert.equal(results.at(-1)!.test_name, 'Estradiol')
  assert.deepEqual(kindsOf(results).at(-1), [])
})

/** Rows of words on two pages, of which the second has no names of columns, with its columns moved to the right. */
function readTwoPages(shift: number) {
  const words = (isShifted: boolean): PlacedText[][] =>
    ['Bilirubin', 'Urobilinogen', 'Nitrite'].map((name) =>
      [40, 220, 380].map((left, column) => [left + (isShifted ? shift : 0), column ? 'Negative' : name]),
    )
  return understand([
    { ...pageOfLines([HEADER, ...words(false)]), source: 'ocr' },
    { ...pageOfLines(words(true)), source: 'ocr', number: 2 },
  ])
}

test('rows of words on the next page of a picture that are under no column ask for a person', () => {
  const whole = readTwoPages(0)
  assert.deepEqual([whole.results.length, whole.findings], [6, []])
  const { results, findings } = readTwoPages(45)
  assert.equal(results.length, 3)
  assert.deepEqual(
    findings!.map(({ kind, page }) => [kind, page]),
    Array.from({ length: 3 }, () => ['line_without_row', 2]),
  )
})
