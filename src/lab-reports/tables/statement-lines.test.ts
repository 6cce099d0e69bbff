// Specimens and methods on lines of their own: which rows they are about.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import type { PageText } from '../pages/page.ts'
import { understand } from '../reading/read-report.ts'

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
function createSpacedPage(lines: PlacedText[][], space: Record<number, number>): PageText {
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
  assert.deepEqual(specimens(createSpacedPage(lines(36), { 4: 8, 6: 8 })), expected, 'closer to the row above')
  assert.deepEqual(specimens(createSpacedPage(lines(46), {})), expected, 'indented')
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

test('where lines are far apart, specimens below most rows and below the last belong to the rows above', () => {
  const of = (text: string): PlacedText[] => [[36, `Specimen: ${text}`]]
  for (const pitch of [14, 30, 45]) {
    const below: PlacedText[][] = [HEADER, CREATININE, of('Urine'), PROTEIN, of('CSF'), SODIUM, of('Serum'), [[36, 'COMMENTS']]]
    assert.deepEqual(
      specimens(pageOfLines(below, pitch)),
      [
        ['Creatinine', 'Urine'],
        ['Protein', 'CSF'],
        ['Sodium', 'Serum'],
      ],
      `pitch ${pitch}`,
    )
  }
})

test('where lines are far apart, a specimen between rows that may be about the rows below applies to no row', () => {
  const lines = [HEADER, SODIUM, [[36, 'Specimen: Urine'] satisfies PlacedText], CREATININE, PROTEIN]
  assert.deepEqual(specimens(pageOfLines(lines, 30)), [
    ['Sodium', null],
    ['Creatinine', null],
    ['Protein', null],
  ])
})

test('where lines are far apart, a specimen in smaller letters, indented or closer to the row above is its own', () => {
  const lines = (left: number): PlacedText[][] => [HEADER, SODIUM, [[left, 'Specimen: Serum']], CREATININE, PROTEIN]
  const smaller = pageOfLines(lines(36), 30)
  for (const word of smaller.words) if (/^(?:Specimen:|Serum)$/u.test(word.text)) word.box.top += 2
  for (const [page, what] of [
    [smaller, 'smaller'],
    [pageOfLines(lines(46), 30), 'indented'],
    [createSpacedPage(lines(36), { 1: 20, 2: 12, 3: 26, 4: 20 }), 'closer'],
  ] as const)
    assert.deepEqual(
      specimens(page),
      [
        ['Sodium', 'Serum'],
        ['Creatinine', null],
        ['Protein', null],
      ],
      what,
    )
})
