import assert from 'node:assert/strict'
import { test } from 'node:test'
import { combineResults } from './combined-results.ts'
import type { BiomarkerResult, MissingResult, ResultDocument } from './schema.ts'

const measuredMarker = (slug: string, provider_id: string | null) => ({
  name: slug,
  slug,
  provider_id,
  loinc: null,
  loinc_slug: null,
  source_markers: null,
})

const result = (slug: string, text: string, overrides: Partial<BiomarkerResult> = {}): BiomarkerResult => ({
  ...measuredMarker(slug, null),
  value: -1,
  result: text,
  type: 'comment',
  unit: null,
  timestamp: null,
  notes: text,
  reference_range: null,
  min_range_value: null,
  max_range_value: null,
  is_above_max_range: null,
  is_below_min_range: null,
  interpretation: 'normal',
  source_interpretation: '',
  performing_laboratory: null,
  source_sample_id: null,
  ...overrides,
})

const missingMarker = (slug: string, provider_id: string | null = null): MissingResult => ({
  ...measuredMarker(slug, provider_id),
  inferred_failure_type: 'internal_lab_failure',
  note: null,
})

const document = (specimen: string, results: BiomarkerResult[], missing_results: MissingResult[] = []): ResultDocument => ({
  metadata: {
    age: '40',
    dob: '1990-01-31',
    'clia_#': null,
    clia_number: null,
    patient: 'Testa Fictional',
    provider: null,
    laboratory: null,
    date_reported: '2030-01-04T08:00:00+00:00',
    date_collected: null,
    specimen_number: specimen,
    date_received: null,
    status: 'final',
    interpretation: 'normal',
    patient_id: null,
    account_id: null,
  },
  results,
  missing_results,
  sample_information: {
    [specimen]: {
      sample_id: specimen,
      control_number: null,
      date_collected: null,
      date_received: null,
      date_reported: null,
      performing_laboratories: null,
      clinical_information: null,
    },
  },
})

const listResults = ({ results }: ResultDocument) => results.map(({ slug, result }) => `${slug} ${result}`)
const listMissingSlugs = ({ missing_results }: ResultDocument) => missing_results.map(({ slug }) => slug)

test('a redraw supplies the results that the first order lacks', () => {
  const combined = combineResults(
    [document('A', [result('iron', 'first')], [missingMarker('zinc')]), document('B', [result('zinc', 'second')])],
    true,
  )
  assert.deepEqual(listResults(combined), ['iron first', 'zinc second'])
  assert.deepEqual(listMissingSlugs(combined), [])
  assert.deepEqual(Object.keys(combined.sample_information), ['A', 'B'])
  assert.deepEqual([combined.metadata.specimen_number, combined.metadata.status], ['B', 'final'])
})

test('a result of a later order replaces that of an earlier one', () => {
  const combined = combineResults([document('A', [result('iron', 'first')]), document('B', [result('iron', 'second')])], true)
  assert.deepEqual(listResults(combined), ['iron second'])
})

test('a result measured once is not missing, and a result missing twice is listed once', () => {
  const first = document('A', [result('iron', 'first')], [missingMarker('zinc')])
  const second = document('B', [], [missingMarker('iron'), missingMarker('zinc')])
  const combined = combineResults([first, second], true)
  assert.deepEqual([listResults(combined), listMissingSlugs(combined)], [['iron first'], ['zinc']])
})

test("results are distinguished by the laboratory's code if both have one, else by slug", () => {
  const codes = combineResults(
    [
      document('A', [result('iron', 'first', { provider_id: '1' })]),
      document('B', [result('iron', 'second', { provider_id: '2' })]),
    ],
    true,
  )
  assert.deepEqual(listResults(codes), ['iron first', 'iron second'])
  const renamed = combineResults(
    [
      document('A', [result('iron', 'first', { provider_id: '1' })]),
      document('B', [result('fe', 'second', { provider_id: '1' })]),
    ],
    true,
  )
  assert.deepEqual(listResults(renamed), ['fe second'])
  const panel = combineResults(
    [
      document('A', [result('iron', 'first')], [missingMarker('zinc')]),
      document('B', [result('iron', 'second', { provider_id: '1' })]),
    ],
    true,
  )
  assert.deepEqual(listResults(panel), ['iron second'])
})

test('combining recomputes the interpretation, and is final only if every order is final', () => {
  const first = document('A', [result('iron', 'first', { interpretation: 'critical' }), result('zinc', 'first')])
  const second = document('B', [result('iron', 'second', { interpretation: 'abnormal' })])
  assert.equal(combineResults([first, second], true).metadata.interpretation, 'abnormal')
  assert.equal(combineResults([first], true).metadata.interpretation, 'critical')
  assert.equal(combineResults([first, second], false).metadata.status, 'partial')
})
