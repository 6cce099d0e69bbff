// What a report says of the specimen and the method of its results, outside of their names, and what follows from it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pageOfLines, type PlacedText } from '../../../test/support/report-pages.ts'
import { resultData } from '../parsing-jobs/parsing-jobs.ts'
import { shippedTerm } from '../loinc/terms.ts'
import { understand, withReleaseTerms } from './read-report.ts'
import type { ReportResult } from './result.ts'

const resultsOf = (...lines: PlacedText[][]): ReportResult[] => understand([pageOfLines(lines)]).results
const code = ({ loinc_matches }: ReportResult): string | undefined => loinc_matches?.[0]?.loinc_code
const meanings = (results: ReportResult[]) =>
  results.map((result) => [result.test_name, result.sample_type, code(result), result.loinc_match_status])
const kinds = ({ findings }: ReportResult): string[] => findings.map(({ kind }) => kind)

const HEADER: PlacedText[] = [
  [36, 'Test'],
  [240, 'Result'],
  [320, 'Units'],
  [420, 'Reference Range'],
]
const row = (name: string, value: string, unit: string, range: string, ...texts: PlacedText[]): PlacedText[] => [
  [36, name],
  ...texts,
  [240, value],
  [320, unit],
  [420, range],
]
const withColumn = (name: string): PlacedText[] => [HEADER[0]!, [140, name], ...HEADER.slice(1)]

describe('the specimen of a result', () => {
  test('a column of specimens decides the LOINC code, the sample type and the plausible values', () => {
    const results = resultsOf(
      withColumn('Specimen'),
      row('Creatinine', '85', 'mg/dL', '20-320', [140, 'Urine']),
      row('Protein', '30', 'mg/dL', '15-45', [140, 'CSF']),
      row('Glucose', '95', 'mg/dL', '70-99', [140, 'Plasma']),
      row('Sodium', '85', 'mmol/L', '40-220', [140, 'U']),
    )
    assert.deepEqual(meanings(results), [
      ['Creatinine', 'urine', '2161-8', 'auto_match'],
      ['Protein', 'other', '2880-3', 'auto_match'],
      ['Glucose', 'serum_plasma_blood', '2345-7', 'auto_match'],
      ['Sodium', 'urine', '2955-3', 'auto_match'],
    ])
    assert.deepEqual(results.flatMap(kinds), [])
    assert.deepEqual(
      results.map(({ units, value }) => [value, units]),
      [
        ['85', 'mg/dL'],
        ['30', 'mg/dL'],
        ['95', 'mg/dL'],
        ['85', 'mmol/L'],
      ],
    )
  })

  test('a specimen between rows applies to no row, because it may be about the rows above or below', () => {
    const results = resultsOf(
      [[36, 'Specimen: Serum']],
      HEADER,
      row('Glucose', '95', 'mg/dL', '70-99'),
      [[36, 'Specimen: Urine']],
      row('Sodium', '140', 'mmol/L', '135-145'),
    )
    assert.deepEqual(
      results.map((result) => [result.test_name, code(result)]),
      [
        ['Glucose', '2345-7'],
        ['Sodium', '2951-2'],
      ],
    )
  })

  test('a specimen ends with its panel, also where only the names of columns name the next one', () => {
    const header = (panel: string): PlacedText[] => [[36, panel], ...HEADER.slice(1)]
    const results = resultsOf(
      header('URINALYSIS'),
      [[36, 'Specimen: Urine']],
      row('Protein', '30', 'mg/dL', '0-15'),
      header('CHEMISTRY'),
      row('Glucose', '95', 'mg/dL', '70-99'),
      row('Sodium', '140', 'mmol/L', '135-145'),
    )
    assert.deepEqual(
      results.map((result) => [result.test_name, result.specimen, code(result)]),
      [
        ['Protein', 'Urine', '2888-6'],
        ['Glucose', null, '2345-7'],
        ['Sodium', null, '2951-2'],
      ],
    )
  })

  test('a specimen in the heading about the person applies to all results', () => {
    const head: PlacedText[][] = [
      [
        [36, 'Patient Name: Jane Sample'],
        [320, 'Specimen Type: Urine'],
      ],
      [
        [36, 'DOB: 01/02/1980'],
        [320, 'Sex: Female'],
      ],
    ]
    const rows = [row('Creatinine', '85', 'mg/dL', '20-320'), row('Sodium', '85', 'mmol/L', '40-220')]
    assert.deepEqual(meanings(resultsOf(...head, HEADER, ...rows)), [
      ['Creatinine', 'urine', '2161-8', 'auto_match'],
      ['Sodium', 'urine', '2955-3', 'auto_match'],
    ])
  })

  test('numbers of specimens and lists of several specimens name no specimen', () => {
    for (const said of ['Specimen: U24-118823', 'Specimen Type: Serum, Urine', 'Sample: Urine 12345']) {
      const head: PlacedText[] = [
        [36, 'Patient Name: Jane Sample'],
        [320, said],
      ]
      const results = resultsOf(head, HEADER, row('Creatinine', '0.9', 'mg/dL', '0.5-1.1'))
      assert.deepEqual(meanings(results), [['Creatinine', 'unknown', '2160-0', 'auto_match']], said)
    }
    const numbered = resultsOf(withColumn('Sample'), row('Creatinine', '0.9', 'mg/dL', '0.5-1.1', [140, 'U1234']))
    assert.deepEqual(meanings(numbered), [['Creatinine', 'unknown', '2160-0', 'auto_match']])
  })

  test('a specimen below a heading is that of its panel and not of the next one', () => {
    const results = resultsOf(
      [[36, 'RENAL PROFILE']],
      [[36, 'Specimen: Urine']],
      HEADER,
      row('Creatinine', '85', 'mg/dL', '20-320'),
      [[36, 'CHEMISTRY']],
      row('Creatinine', '0.9', 'mg/dL', '0.5-1.1'),
    )
    assert.deepEqual(meanings(results), [
      ['Creatinine', 'urine', '2161-8', 'auto_match'],
      ['Creatinine', 'unknown', '2160-0', 'auto_match'],
    ])
  })

  test('where specimens are printed below rows each is that of the row above it', () => {
    const results = resultsOf(
      HEADER,
      row('Creatinine', '85', 'mg/dL', '20-320'),
      [[36, 'Sample Type : Spot urine']],
      row('Creatinine', '0.9', 'mg/dL', '0.5-1.1'),
      [[36, 'Sample Type : Serum']],
    )
    assert.deepEqual(meanings(results), [
      ['Creatinine', 'urine', '2161-8', 'auto_match'],
      ['Creatinine', 'serum_plasma_blood', '2160-0', 'auto_match'],
    ])
  })

  test('rows under the parts of an examination of urine have the type of its sample', () => {
    const results = resultsOf(
      [[240, 'URINE EXAMINATION']],
      HEADER,
      [[36, 'Chemical Examination']],
      row('Glucose', 'Negative', '', 'Negative'),
      [[36, 'Microscopic Examination']],
      row('Pus Cells', '2-4', '/hpf', '0-5'),
    )
    assert.deepEqual(
      results.map(({ sample_type }) => sample_type),
      ['urine', 'urine'],
    )
  })

  test('blood that a test strip looks for says nothing of the specimen', () => {
    const results = resultsOf(
      HEADER,
      row('Blood', 'Negative', '', 'Negative'),
      row('Occult Blood', 'Negative', '', 'Negative'),
      row('Blood Urea', '30', 'mg/dL', '15-45'),
    )
    assert.deepEqual(
      results.map(({ sample_type }) => sample_type),
      ['unknown', 'unknown', 'serum_plasma_blood'],
    )
  })

  test('venous blood is blood, except where its gases are measured', () => {
    const results = resultsOf(withColumn('Specimen'), row('Creatinine', '0.9', 'mg/dL', '0.5-1.1', [140, 'Venous blood']))
    assert.deepEqual(meanings(results), [['Creatinine', 'serum_plasma_blood', '2160-0', 'auto_match']])
  })

  test('urine that was collected over a day has the terms of a day', () => {
    const results = resultsOf(withColumn('Specimen'), row('Creatinine', '85', 'mg/dL', '20-320', [140, '24 h urine']))
    assert.equal(code(results[0]!), '20624-3')
  })
})

describe('the method of a result', () => {
  const LDL = ['LDL', '100', 'mg/dL', '0-130'] as const
  const EGFR = ['eGFR', '85', 'mL/min/1.73m2', '>60'] as const

  test('a column of methods decides between terms that differ in it', () => {
    const [ldl, egfr] = resultsOf(withColumn('Method'), row(...LDL, [140, 'Direct']), row(...EGFR, [140, 'MDRD']))
    assert.deepEqual([code(ldl!), ldl!.method, ldl!.value], ['18262-6', 'Direct', '100'])
    assert.equal(shippedTerm(code(egfr!)!)!.method, 'Creatinine-based formula (MDRD)')
  })

  test('a method below a row is that of this row alone', () => {
    const results = resultsOf(
      HEADER,
      row(...LDL),
      [[36, 'Method: Direct']],
      row(...EGFR),
      [[36, '(Method : MDRD)']],
      row('Glucose', '85', 'mg/dL', '70-99'),
    )
    assert.deepEqual(
      results.map(({ method }) => method),
      ['Direct', 'MDRD', null],
    )
    assert.equal(code(results[0]!), '18262-6')
    assert.notEqual(code(results[1]!), '98979-8')
  })

  test('a method below a heading is that of the rows of its panel', () => {
    const results = resultsOf(
      [[36, 'LIPID PROFILE']],
      [[36, 'Method: Direct']],
      HEADER,
      row(...LDL),
      row('HDL', '50', 'mg/dL', '40-60'),
      [[36, 'RENAL PROFILE']],
      row(...EGFR),
    )
    assert.deepEqual(
      results.map(({ method }) => method),
      ['Direct', 'Direct', null],
    )
  })

  test('immunoassays, which laboratories print for terms without method, choose no other term', () => {
    const [plain] = resultsOf(HEADER, row('Anti-TPO', '8.9', 'IU/mL', '<34'))
    const [printed] = resultsOf(withColumn('Methodology'), row('Anti-TPO', '8.9', 'IU/mL', '<34', [140, 'ECLIA']))
    assert.deepEqual([code(printed!), printed!.loinc_match_status], [code(plain!), 'auto_match'])
  })
})

test('terms of an imported release leave the matches of other rows unchanged, also under a heading of urine', () => {
  const report = understand([
    pageOfLines([
      [[240, 'URINE EXAMINATION']],
      HEADER,
      [[36, 'Chemical Examination']],
      row('Glucose', 'Negative', '', 'Negative'),
      row('Glucose', '5', 'mg/dL', '0-15'),
      [[36, 'Fictional Testing']],
      row('Unheardofin', '5', 'mg/dL', '1-9'),
    ]),
  ])
  const again = withReleaseTerms(report, new Map([['Unheardofin', [shippedTerm('2161-8')!]]]))
  const before = report.results.slice(0, 2)
  assert.ok(before.every(({ loinc_match_status }) => loinc_match_status === 'auto_match'))
  assert.deepEqual(meanings(again.results.slice(0, 2)), meanings(before))
})

test('the unit in the spelling of UCUM is kept in addition to the printed one, and clients see the fields of the API', () => {
  const [result] = resultsOf(withColumn('Method'), row('eGFR', '85', 'mL/min/1.73m2', '>60', [140, 'MDRD']))
  assert.deepEqual([result!.units, result!.unit_ucum], ['mL/min/1.73m2', 'mL/min/{1.73_m2}'])
  assert.deepEqual(Object.keys(resultData(result!)).toSorted(), [
    'interpretation',
    'is_above_max_range',
    'is_below_min_range',
    'loinc_match_status',
    'loinc_matches',
    'max_reference_range',
    'measurement_kind',
    'min_reference_range',
    'sample_type',
    'sensitivity',
    'source_panel_name',
    'test_name',
    'type',
    'units',
    'value',
  ])
})
