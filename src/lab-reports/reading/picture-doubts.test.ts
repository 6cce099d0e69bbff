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
