// Specimens and methods on lines of their own: which rows they are about.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import { understand } from '../reading/read-report.ts'
import type { PageText } from '../pages/page.ts'

const HEADER: PlacedText[] = [
  [36, 'Test'],
  [240, 'Result'],
  [320, 'Units'],
  [420, 'Reference Range'],
]
const row = (name: string, value: string, unit: string, range: string): PlacedText[] => [
  [36, name],
  [240, value],
  [320, unit],
  [420, range],
]
const PROTEIN = row('Protein', '30', 'mg/dL', '15-45')
const CREATININE = row('Creatinine', '85', 'mg/dL', '20-320')
const SODIUM = row('Sodium', '140', 'mmol/L', '135-145')

const specimens = (page: PageText) => understand([page]).results.map(({ test_name, specimen }) => [test_name, specimen])

/** A page whose lines have further space above them where `space` names one, in points. */
function spaced(lines: PlacedText[][], space: Record<number, number>): PageText {
  const page = pageOfLines(lines)
  const words = page.words.map((word) => {
    const above = Object.entries(space).reduce(
      (sum, [line, more]) => sum + (word.box.top >= 40 + Number(line) * 14 ? more : 0),
      0,
    )
    return { ...word, box: { ...word.box, top: word.box.top + above, bottom: word.box.bottom + above } }
  })
  return { ...page, words }
}

test('a specimen close below a row counts before the one above the rows of its panel', () => {
  const lines = (left: number): PlacedText[][] => [
    [[36, 'CHEMISTRY']],
    [[36, 'Specimen: Serum']],
    HEADER,
    CREATININE,
    PROTEIN,
    [[left, 'Specimen: Urine']],
    SODIUM,
  ]
  const expected = [
    ['Creatinine', 'Serum'],
    ['Protein', 'Urine'],
    ['Sodium', 'Serum'],
  ]
  assert.deepEqual(specimens(spaced(lines(36), { 4: 8, 6: 8 })), expected, 'closer to the row above')
  assert.deepEqual(specimens(spaced(lines(46), {})), expected, 'indented')
})

test('where specimens stand below rows they count before that of the panel', () => {
  const lines = [
    HEADER,
    CREATININE,
    [[36, 'Specimen: Urine'] satisfies PlacedText],
    [[36, 'CHEMISTRY'] satisfies PlacedText],
    [[36, 'Specimen: Serum'] satisfies PlacedText],
    SODIUM,
    PROTEIN,
    [[36, 'Specimen: CSF'] satisfies PlacedText],
  ]
  assert.deepEqual(specimens(pageOfLines(lines)), [
    ['Creatinine', 'Urine'],
    ['Sodium', 'Serum'],
    ['Protein', 'CSF'],
  ])
})
