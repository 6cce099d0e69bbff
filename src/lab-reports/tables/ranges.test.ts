// Tables of ranges by sex and age: the row that fits the patient.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import { ageBetween, ageOfDays, type AgeUnit, agreedAge, toDays } from '../../lab-values/ages.ts'
import { type Patient, rangeFor } from '../../lab-values/ranges.ts'
import { understand } from '../reading/read-report.ts'
import { ageOf } from '../texts/patient.ts'

const patientOfAge = (count: number, unit: AgeUnit = 'years', sex: Patient['sex'] = null): Patient => ({
  sex,
  age: ageOfDays(toDays(count, unit)),
})
const woman = patientOfAge(40, 'years', 'female')
const man = patientOfAge(40, 'years', 'male')
const unknown: Patient = { sex: null, age: null }

const fitting = (lines: string[], patient: Patient) => {
  const range = rangeFor(lines, patient)
  return range && [range.min, range.max]
}

test('of a table of ranges the row that fits the patient counts', () => {
  assert.deepEqual(fitting(['Male : 13.0 - 17.7', 'Female : 11.1 - 15.9'], woman), [11.1, 15.9])
  assert.deepEqual(fitting(['Normal: <5.7', 'Prediabetes: 5.7-6.4', 'Diabetes: >=6.5'], woman), [null, 5.7])
  assert.deepEqual(fitting(['Children: 10-20', 'Adults: 5-9'], woman), [5, 9])
  assert.deepEqual(fitting(['18-60 years: 2-5', '>60 years: 3-6'], patientOfAge(70)), [3, 6])
  assert.deepEqual(fitting(['Male: 1-2', 'Female: 3-4'], unknown), [null, null])
})

test('rows from an age on do not fit younger patients, in any spelling', () => {
  for (const label of [
    '18+ years',
    '18 years and above',
    '18 yrs & older',
    'Over 18 years',
    '≥18 years',
    '>= 18 Y',
    '18+',
    'From 18 years',
    '18 years or older',
  ])
    for (const separator of [': ', ' ']) {
      const lines = [`${label}${separator}40-150`, '1-17 years: 100-400']
      assert.deepEqual(fitting(lines, patientOfAge(5)), [100, 400], label)
      assert.deepEqual(fitting(lines, patientOfAge(18)), [40, 150], label)
      assert.deepEqual(fitting(lines, unknown), [null, null], label)
    }
})

test('rows up to an age do not fit older patients, in any spelling', () => {
  for (const label of [
    '<18 years',
    'Up to 17 years',
    'Under 18 years',
    'Below 18 yrs',
    '17 years and below',
    'Children up to 17 years',
  ]) {
    const lines = [`${label}: 100-400`, 'Adults: 40-150']
    assert.deepEqual(fitting(lines, patientOfAge(5)), [100, 400], label)
    assert.deepEqual(fitting(lines, patientOfAge(18)), [40, 150], label)
  }
})

test('rows in days, weeks and months fit only infants of that age', () => {
  const lines = ['0-7 days: 1-10', '1 week to 4 weeks: 2-20', '1-11 months: 3-30', '1-5 years: 4-40', 'Over 5 years: 5-50']
  for (const [age, range] of [
    [patientOfAge(3, 'days'), [1, 10]],
    [patientOfAge(2, 'weeks'), [2, 20]],
    [patientOfAge(3, 'months'), [3, 30]],
    [patientOfAge(11, 'months'), [3, 30]],
    [patientOfAge(2), [4, 40]],
    [patientOfAge(40), [5, 50]],
    [unknown, [null, null]],
  ] as const)
    assert.deepEqual(fitting(lines, age), range, JSON.stringify(age))
  assert.deepEqual(fitting(['Newborn: 8-9', 'Infants: 6-7', 'Children: 4-5', 'Adults: 2-3'], patientOfAge(6, 'days')), [8, 9])
  assert.deepEqual(fitting(['6 months - 5 years: 2-8', '6-12 years:3-9'], patientOfAge(8, 'months')), [2, 8])
})

test('where one row ends and the next begins with the same age, the next fits', () => {
  assert.deepEqual(fitting(['1-5 years: 1-2', '5-10 years: 3-4'], patientOfAge(5)), [3, 4])
  assert.deepEqual(fitting(['18-60 years: 1-2', '>60 years: 3-4'], patientOfAge(60)), [1, 2])
  assert.deepEqual(fitting(['>60 years: 3-4', '18-60 years: 1-2'], patientOfAge(60)), [1, 2])
  assert.deepEqual(fitting(['>18 years: 3-4'], patientOfAge(18)), [3, 4])
})

test('a row that names more of the patient comes before one that names less', () => {
  assert.deepEqual(fitting(['Male: 1-2', 'Male > 60 years: 3-4', 'Female: 5-6'], patientOfAge(70, 'years', 'male')), [3, 4])
  assert.deepEqual(fitting(['10-20', 'Children: 1-2'], patientOfAge(5)), [1, 2])
})

test('a row with an unknown condition counts only if no other row fits, and never if it is about age', () => {
  assert.deepEqual(fitting(['Smokers: 1-9', 'Adults: 1-4'], woman), [1, 4])
  assert.deepEqual(fitting(['Fasting: 70-99'], woman), [70, 99])
  assert.deepEqual(fitting(['Adolescents: 1-9'], woman), [null, null])
  assert.deepEqual(fitting(['School age: 1-9', 'Female: 2-4'], woman), [2, 4])
})

test('entries of both sexes stand on one line, with the word before or behind its range', () => {
  for (const line of [
    'Male: 13.5-17.5 Female: 12-16',
    'Male: 13.5-17.5 g/dL Female: 12-16 g/dL',
    'M: 13.5-17.5 F: 12-16',
    'M 13.5-17.5 F 12-16',
    'Men 13.5 - 17.5, Women 12 - 16',
    'Male: 13.5-17.5; Female: 12-16',
    'Adult Male: 13.5-17.5 Adult Female: 12-16',
    'Male >18 years: 13.5-17.5 Female >18 years: 12-16',
    '13.5-17.5 (Male) 12-16 (Female)',
    '13.5-17.5 Male, 12-16 Female',
    '13.5-17.5 (M) 12-16 (F)',
    '12-16 (F) 13.5-17.5 (M)',
    '13.5-17.5 M / 12-16 F',
    '13.5-17.5M 12-16F',
    '13.5-17.5 [M] 12-16 [F]',
    '13.5 to 17.5 (m), 12 to 16 (f)',
    'M:13.5-17.5/F:12-16',
    'M-13.5-17.5 F-12-16',
    '(M) 13.5-17.5 (F) 12-16',
    '13.5-17.5 M/uL (M) 12-16 M/uL (F)',
    '13.5-17.5 x10^6/uL (Male) 12-16 x10^6/uL (Female)',
    'Adults: 13.5-17.5 (M) 12-16 (F)',
    '13.5-17.5 (M, >18 years) 12-16 (F, >18 years)',
    '13.5-17.5 in men, 12-16 in women',
    '13.5-17.5 ♂ 12-16 ♀',
  ]) {
    assert.deepEqual(fitting([line], woman), [12, 16], line)
    assert.deepEqual(fitting([line], man), [13.5, 17.5], line)
    assert.deepEqual(fitting([line], unknown), [null, null], line)
  }
  assert.deepEqual(fitting(['10-20 Children 5-9 Adults'], woman), [5, 9])
  assert.deepEqual(fitting(['>40 (M) >50 (F)'], woman), [50, null])
  assert.deepEqual(fitting(['Male: 13-17 Female:', '12-16'], woman), [12, 16])
  assert.deepEqual(fitting(['13-17 (M) 12-16 (F) 11-14 (Children)'], woman), [12, 16])
  assert.deepEqual(fitting(['M/F: 13-17'], woman), [13, 17])
})

test('ranges of both sexes after a result are read without names of columns, on one line or two', () => {
  for (const [first, ...others] of [
    ['13.5-17.5 (M) 12-16 (F)'],
    ['M: 13.5-17.5 F: 12-16'],
    ['13.5-17.5 M / 12-16 F'],
    ['13.5-17.5 (M)', '12-16 (F)'],
  ]) {
    const lines: PlacedText[][] = [
      [[36, 'Sex: Female']],
      [
        [36, 'Hemoglobin'],
        [200, '14.1'],
        [260, 'g/dL'],
        [330, first!],
      ],
      ...others.map((text): PlacedText[] => [[330, text]]),
    ]
    const { results } = understand([pageOfLines(lines)])
    assert.deepEqual(
      results.map((result) => [result.test_name, result.min_reference_range, result.max_reference_range]),
      [['Hemoglobin', 12, 16]],
      first,
    )
  }
})

test('hostile texts of ranges are not ranges, and are read to their end', () => {
  for (const text of [
    '1 a '.repeat(50_000),
    'Male: '.repeat(50_000),
    '1-'.repeat(50_000),
    `${' '.repeat(100_000)}x`,
    '1 year and '.repeat(20_000),
  ])
    assert.equal(rangeFor([text, ...Array.from({ length: 1_000 }, () => text.slice(0, 1_000))], woman)?.min ?? null, null)
})

test('a category behind a range and its unit is that of the range', () => {
  assert.deepEqual(fitting(['<60 mg/dL: High risk', '>=60 mg/dL: Low risk'], woman), [60, null])
})

test('ages between dates count completed months and years by the calendar', () => {
  for (const [born, until, expected] of [
    ['2026-02-01', '2026-03-01', { years: 0, months: 1, weeks: 4, days: 28 }],
    ['2026-01-01', '2026-01-31', { years: 0, months: 0, weeks: 4, days: 30 }],
    ['2007-03-02', '2026-03-01', { years: 18, months: 227, weeks: 991, days: 6_939 }],
    ['2026-03-02', '2026-03-01', undefined],
    [undefined, '2026-03-01', undefined],
  ] as const)
    assert.deepEqual(ageBetween(born, until), expected, `${born} to ${until}`)
})

test('of an age that is printed and one between dates the dates count where both are the same in the printed unit', () => {
  const counted = ageBetween('2026-01-10', '2026-03-01')
  assert.equal(counted?.days, 50)
  assert.equal(agreedAge({ days: toDays(1, 'months'), unit: 'months' }, counted), counted)
  assert.equal(agreedAge({ days: toDays(3, 'months'), unit: 'months' }, counted)?.months, 3)
  assert.equal(agreedAge(undefined, counted), counted)
  assert.equal(agreedAge(undefined, undefined), null)
})

test('ages are read in their unit', () => {
  for (const [text, days] of [
    ['34', toDays(34, 'years')],
    ['34 Y / F', toDays(34, 'years')],
    ['34 M', toDays(34, 'years')],
    ['3 Months', toDays(3, 'months')],
    ['6 Days', 6],
    ['2 weeks', 14],
    ['2 Week(s) / Male', 14],
    ['1 Y 6 M', toDays(1, 'years') + toDays(6, 'months')],
    ['52 Y 3 M 4 D/M', toDays(52, 'years') + toDays(3, 'months') + 4],
    ['21/06/1958 (65 years)', toDays(65, 'years')],
    ['12 Jan 1980', undefined],
    ['1234', undefined],
  ] as const)
    assert.equal(ageOf(text)?.days, days, text)
})
