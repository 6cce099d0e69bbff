import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchLoinc, type Finding, type ReportRow } from './match-loinc.ts'
import { readNumber } from './numbers.ts'

type Line = [name: string, value: string, units?: string]
const createRows = (lines: Line[], date: string | null = null): ReportRow[] =>
  lines.map(([test_name, value, units]) => ({ test_name, value, units: units ?? null, date }))
/** Kinds of findings by name of the test. */
function findingsOf(lines: Line[]): Record<string, Finding['kind'][]> {
  const meanings = matchLoinc(createRows(lines))
  return Object.fromEntries(
    meanings
      .map((meaning, i) => [lines[i]![0], meaning.findings.map(({ kind }) => kind)])
      .filter(([, kinds]) => kinds!.length > 0),
  )
}

const PANEL: Line[] = [
  ['Cholesterol, Total', '200', 'mg/dL'],
  ['HDL Cholesterol', '50', 'mg/dL'],
  ['Triglycerides', '100', 'mg/dL'],
  ['LDL Chol Calc (NIH)', '130', 'mg/dL'],
  ['Non-HDL Cholesterol', '150', 'mg/dL'],
  ['Chol/HDL Ratio', '4.0', 'ratio'],
  ['Sodium', '140', 'mmol/L'],
  ['Chloride', '102', 'mmol/L'],
  ['Carbon Dioxide, Total', '25', 'mmol/L'],
  ['Anion Gap', '13', 'mmol/L'],
  ['Protein, Total', '7.0', 'g/dL'],
  ['Albumin', '4.2', 'g/dL'],
  ['Globulin', '2.8', 'g/dL'],
  ['A/G Ratio', '1.5'],
  ['Hemoglobin A1c', '6.0', '%'],
  ['Estimated average glucose', '126', 'mg/dL'],
  ['WBC', '6.0', 'K/uL'],
  ['Neutrophils', '55', '%'],
  ['Lymphocytes', '33', '%'],
  ['Monocytes', '8', '%'],
  ['Eosinophils', '3', '%'],
  ['Basophils', '1', '%'],
  ['Neutrophils, Absolute', '3.3', 'K/uL'],
]
const withLine = (name: string, value: string): Line[] =>
  PANEL.map((line) => (line[0] === name ? [name, value, ...line.slice(2)] : line) as Line)

test('a panel that agrees with itself has no finding', () => {
  assert.deepEqual(findingsOf(PANEL), {})
})

test('a calculated value that contradicts its parts is found, in mass and molar units', () => {
  for (const [name, value] of [
    ['LDL Chol Calc (NIH)', '13'],
    ['Non-HDL Cholesterol', '105'],
    ['Chol/HDL Ratio', '7.4'],
    ['Anion Gap', '31'],
    ['Globulin', '8.2'],
    ['A/G Ratio', '5.1'],
    ['Estimated average glucose', '216'],
    ['Neutrophils, Absolute', '33'],
  ] as const)
    assert.deepEqual(findingsOf(withLine(name, value))[name], ['contradicts_parts'], name)
  const molar: Line[] = [
    ['Cholesterol', '5.2', 'mmol/L'],
    ['HDL Cholesterol', '1.3', 'mmol/L'],
    ['Triglycerides', '1.1', 'mmol/L'],
    ['LDL Cholesterol', '3.4', 'mmol/L'],
  ]
  assert.deepEqual(findingsOf(molar), {})
  assert.deepEqual(findingsOf([...molar.slice(0, 3), ['LDL Cholesterol', '1.4', 'mmol/L']]), {
    'LDL Cholesterol': ['contradicts_parts'],
  })
})

test('an anion gap with potassium is as good as one without', () => {
  const electrolytes: Line[] = [...PANEL.slice(6, 9), ['Potassium', '4.4', 'mmol/L']]
  for (const gap of ['13', '17']) assert.deepEqual(findingsOf([...electrolytes, ['Anion Gap', gap, 'mmol/L']]), {}, gap)
  assert.deepEqual(findingsOf([...electrolytes, ['Anion Gap', '24', 'mmol/L']]), { 'Anion Gap': ['contradicts_parts'] })
})

test('percentages of a differential that do not add up to 100 are found in each of its rows', () => {
  const found = findingsOf(withLine('Lymphocytes', '3'))
  for (const name of ['Neutrophils', 'Lymphocytes', 'Monocytes', 'Eosinophils', 'Basophils'])
    assert.deepEqual(found[name], ['contradicts_parts'], name)
})

test('values outside of human limits are found in every unit of the report', () => {
  const impossible: Line[] = [
    ['Potassium', '44', 'mmol/L'],
    ['Glucose', '900', 'mmol/L'],
    ['Hemoglobin', '142', 'g/dL'],
    ['Hematocrit', '431', '%'],
    ['Sodium', '14', 'mmol/L'],
    ['TSH', '-1', 'mIU/L'],
    ['INR', '98'],
    ['Neutrophils', '558', '%'],
    ['Platelets', '250000', 'K/uL'],
  ]
  for (const line of impossible) assert.deepEqual(findingsOf([line])[line[0]], ['outside_human_limits'], line.join(' '))
  const possible: Line[] = [
    ['Potassium', '7.9', 'mmol/L'],
    ['Glucose', '900', 'mg/dL'],
    ['Hemoglobin', '142', 'g/L'],
    ['Platelets', '2.5', 'lakhs/cumm'],
    ['TSH', '<0.01', 'mIU/L'],
    ['PSA', '>5,000', 'ng/mL'],
    ['Ferritin', '1,650', 'ng/mL'],
    ['Hematocrit', '0.43', 'L/L'],
    ['Hemoglobin', 'see comment', 'g/dL'],
  ]
  for (const line of possible) assert.deepEqual(findingsOf([line]), {}, line.join(' '))
})

test('a unit that does not fit the component is found', () => {
  assert.deepEqual(findingsOf([['Albumin', '44', 'fL']]).Albumin, ['unit_does_not_fit'])
  // The amount of a substance of which only the mass has a term, and the other way round.
  assert.deepEqual(
    findingsOf([
      ['Gabapentin', '5', 'ug/mL'],
      ['Pregnenolone', '80', 'ng/dL'],
    ]),
    {},
  )
  // A quantity per creatinine is one of urine, and no term of a few words of a name tells which unit it has.
  assert.deepEqual(
    findingsOf([
      ['Estrone (E1)', '10.4', 'ng/mg'],
      ['2-OH-E1', '3.6', 'nm'],
      ['4-OH-E1', '0.5', 'nm'],
    ]),
    {},
  )
})

test('one test twice on one date is found; on two dates it is a course', () => {
  const lines: Line[] = [
    ['Creatinine', '0.9', 'mg/dL'],
    ['Creatinine, Serum', '1.4', 'mg/dL'],
  ]
  assert.deepEqual(Object.values(findingsOf(lines)), [['duplicate'], ['duplicate']])
  const [first, second] = createRows(lines)
  const course = matchLoinc([
    { ...first!, date: '2026-01-02' },
    { ...second!, date: '2026-03-04' },
  ])
  assert.deepEqual(
    course.flatMap(({ findings }) => findings),
    [],
  )
})

test('a finding lowers the confidence and asks for review; the text names no value', () => {
  const [fine] = matchLoinc(createRows([['Potassium', '4.4', 'mmol/L']]))
  const [doubtful] = matchLoinc(createRows([['Potassium', '44', 'mmol/L']]))
  assert.equal(fine!.loinc_match_status, 'auto_match')
  assert.equal(doubtful!.loinc_match_status, 'needs_review')
  assert.equal(doubtful!.loinc_matches[0]!.loinc_code, fine!.loinc_matches[0]!.loinc_code)
  assert.ok(doubtful!.loinc_matches[0]!.confidence_score < fine!.loinc_matches[0]!.confidence_score)
  assert.doesNotMatch(doubtful!.findings[0]!.text, /44/)
})

test('numbers are read as reports print them, and words are not', () => {
  const read = (text: string): unknown => {
    const number = readNumber(text)
    return number && (number.comparator ? [number.comparator, number.value] : number.value)
  }
  const numbers: [string, unknown][] = [
    ['5.4', 5.4],
    ['5,4', 5.4],
    ['1,234', 1234],
    ['1,234.5', 1234.5],
    ['1.234,5', 1234.5],
    ['1,50,000', 150_000],
    ['0,123', 0.123],
    ['<0.5', ['<', 0.5]],
    ['>= 90', ['>', 90]],
    ['98 H', 98],
    ['98*', 98],
    ['1e-3', 0.001],
    ['-2.1', -2.1],
    ['.5', 0.5],
    ['12 %', 12],
  ]
  for (const [text, value] of numbers) assert.deepEqual(read(text), value, text)
  for (const text of ['', 'Negative', '1:80', '10-20', '97/100', '3+', 'H', '1.2.3', ',', '--', '9'.repeat(400)])
    assert.equal(read(text), undefined, text)
})

test('a number without a unit has a finding if its test has a unit, and a ratio, a pH or a word has no finding', () => {
  assert.deepEqual(
    findingsOf([
      ['Glucose', '95'],
      ['Sodium', '140'],
      ['A/G Ratio', '1.5'],
      ['Urine pH', '6.0'],
      ['INR', '1.0'],
      ['HBsAg', 'Negative'],
      ['RDW', '13.1'],
    ]),
    { Glucose: ['unit_is_missing'], Sodium: ['unit_is_missing'], RDW: ['unit_is_missing'] },
  )
})

test('one result that is printed in two panels has no finding, two values of one test have', () => {
  const twice = (value: string) =>
    matchLoinc(
      createRows([
        ['Calcium', '9.6', 'mg/dL'],
        ['Calcium', value, 'mg/dL'],
      ]),
    ).map(({ findings }) => findings.map(({ kind }) => kind))
  assert.deepEqual(twice('9.6'), [[], []])
  assert.deepEqual(twice('8.4'), [['duplicate'], ['duplicate']])
})

test('units and international units, which are printed for each other, have the same limits', () => {
  for (const unit of ['uIU/mL', 'uU/mL', 'mIU/L', 'mU/L']) assert.deepEqual(findingsOf([['TSH', '2.14', unit]]), {}, unit)
  for (const unit of ['IU/mL', 'U/mL'])
    assert.deepEqual(findingsOf([['TSH', '2.14', unit]]), { TSH: ['outside_human_limits'] }, unit)
  for (const unit of ['IU/L', 'U/L']) {
    assert.deepEqual(findingsOf([['ALT', '35', unit]]), {}, unit)
    assert.deepEqual(findingsOf([['ALT', '90000', unit]]), { ALT: ['outside_human_limits'] }, unit)
  }
})
