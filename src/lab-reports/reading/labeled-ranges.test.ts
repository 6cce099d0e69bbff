// Ranges with a label or a name, cutoffs, and counts of cultures.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import { understand } from './read-report.ts'

const read = (...lines: PlacedText[][]) => understand([pageOfLines(lines, 14)])

const HEADER: PlacedText[] = [
  [36, 'Test'],
  [220, 'Result'],
  [300, 'Units'],
  [380, 'Reference Range'],
]
const line = (name: string, value: string, unit: string, range: string): PlacedText[] => [
  [36, name],
  [220, value],
  [300, unit],
  [380, range],
]

test('a cutoff is no result, and its unit is not that of a result in words', () => {
  const row = (name: string, result: string, cutoff: string): PlacedText[] => [
    [36, name],
    [200, result],
    [300, 'Negative'],
    [420, cutoff],
  ]
  const { results } = read(
    [
      [36, 'Drug Class'],
      [200, 'Result'],
      [300, 'Reference'],
      [420, 'Cutoff'],
    ],
    row('Amphetamines', 'Negative', '500 ng/mL'),
    row('Opiates', 'Positive', '300 ng/mL'),
  )
  assert.deepEqual(
    results.map(({ test_name, value, units, interpretation }) => [test_name, value, units, interpretation]),
    [
      ['Amphetamines', 'Negative', null, 'normal'],
      ['Opiates', 'Positive', null, 'abnormal'],
    ],
  )
})

test('the range in the line below a row stands behind its label, also with a dash behind the colon and in a cell of its own', () => {
  const { results } = read(
    [
      [36, 'TEST NAME'],
      [200, 'TECHNOLOGY'],
      [320, 'VALUE'],
      [420, 'UNITS'],
    ],
    ...['VITAMIN B-12', 'FOLIC ACID'].flatMap((name): PlacedText[][] => [
      [
        [36, name],
        [200, 'C.L.I.A'],
        [320, '168'],
        [420, 'pg/mL'],
      ],
      [
        [36, 'Bio. Ref. Interval. :-'],
        [150, '197 - 771'],
      ],
    ]),
  )
  assert.deepEqual(
    results.map(({ min_reference_range: min, max_reference_range: max }) => [min, max]),
    [
      [197, 771],
      [197, 771],
    ],
  )
})

test('a range with a name in the column of ranges is neither a flag nor a row of its own', () => {
  const { results } = read(
    HEADER,
    line('Cholesterol Total', '214', 'mg/dL', 'Desirable : < 200'),
    [
      [36, 'CHOD-POD'],
      [380, 'Borderline High : 200 - 239'],
    ],
    [[380, 'High : >= 240']],
    line('Triglycerides', '190', 'mg/dL', 'Normal : < 150'),
  )
  assert.deepEqual(
    results.map(({ test_name, value, interpretation }) => [test_name, value, interpretation]),
    [
      ['Cholesterol Total', '214', 'abnormal'],
      ['Triglycerides', '190', 'abnormal'],
    ],
  )
})

test('a count of colonies in no result asks for a person, and one that is read or explained does not', () => {
  const culture = (result: string, name = 'Urine Culture'): PlacedText[][] => [
    HEADER,
    line('Glucose', '92', 'mg/dL', '70 - 99'),
    [[36, 'Culture']],
    [[36, 'Status: Final']],
    [],
    [
      [36, name],
      [200, result],
    ],
  ]
  const kinds = (...lines: PlacedText[][]) => read(...lines).findings?.map(({ kind }) => kind)
  assert.deepEqual(kinds(...culture('>100,000 CFU/mL Fictococcus mirus', 'Isolate 1')), ['line_without_row'])
  assert.deepEqual(kinds(...culture('>100,000 CFU/mL Fictococcus mirus')), [])
  assert.deepEqual(kinds(...culture('No growth')), [])
  assert.deepEqual(kinds(HEADER, line('Urine Culture', '>100,000 CFU/mL', '', 'No growth')), [])
  assert.deepEqual(
    kinds(HEADER, line('Glucose', '92', 'mg/dL', '70 - 99'), [[36, 'Less than 10,000 CFU/mL is not significant.']]),
    [],
  )
})
