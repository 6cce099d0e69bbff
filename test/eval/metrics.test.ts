// The figures of the evaluation, from reports whose scores are known.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { composeDocument } from '../../eval/corpus/compose/document.ts'
import { layouts } from '../../eval/corpus/layouts/all.ts'
import type { TrueResult, Truth } from '../../eval/corpus/truth.ts'
import { evaluate, type Reader } from '../../eval/evaluate.ts'
import {
  addFigures,
  compareReport,
  metadataShare,
  noFigures,
  normalizeName,
  normalizeUnit,
  normalizeValue,
  rowScores,
  wholeRowScores,
  type ReadReport,
  type ReadResult,
} from '../../eval/metrics.ts'
import { printFailures, printTable, toJson } from '../../eval/report.ts'

const truth: Truth = {
  metadata: {
    patient_first_name: 'Mary Ann',
    patient_last_name: 'van Mockum',
    dob: '1980-03-04',
    gender: 'female',
    lab_name: ['Fictional Labs, Inc.', 'Fictional Labs'],
    date_reported: '2024-05-06',
    date_collected: undefined,
    specimen_number: 'A-1',
  },
  results: [
    result('Glucose', '95', { loinc: ['2345-7', '1558-6'] }),
    result('Platelet Count', '2,45,000', { loinc: ['777-3'], units: '/cumm' }),
    result('TSH', '<0.01', { loinc: ['3016-3'], interpretations: ['abnormal'] }),
    result('Color', 'Yellow', { loinc: ['5778-6'], range: undefined, interpretations: ['normal', 'unknown'] }),
  ],
  ambiguousDates: {},
}

function result(test_name: string, value: string, rest: Partial<TrueResult>): TrueResult {
  return {
    test_name,
    value,
    units: 'mg/dL',
    range: { min: 70, max: 99 },
    interpretations: ['normal'],
    source_panel_name: 'Panel',
    loinc: [],
    box: undefined,
    ...rest,
  }
}

/** The report of a parser that reads everything right. */
const perfect = (truth: Truth): ReadReport => ({
  metadata: {
    ...truth.metadata,
    lab_name: truth.metadata.lab_name[0] ?? null,
    date_collected: truth.metadata.date_collected ?? null,
  },
  results: truth.results.map((row): ReadResult => ({
    ...row,
    min_reference_range: row.range?.min ?? null,
    max_reference_range: row.range?.max ?? null,
    interpretation: row.interpretations?.[0] ?? null,
    loinc_matches: row.loinc[0] === undefined ? null : [{ loinc_code: row.loinc[0] }],
    loinc_match_status: 'auto_match',
  })),
})

const always = () => true

test('a perfect report scores 1 in everything', () => {
  const { figures, lostResults, falseRows, differences, metadata } = compareReport(truth, perfect(truth), always)
  assert.deepEqual(rowScores(figures), { precision: 1, recall: 1, f1: 1 })
  assert.deepEqual([lostResults, falseRows, differences, metadata], [[], [], [], []])
  assert.deepEqual(figures.range, { right: 3, total: 3 }, 'a range that the page leaves open is not compared')
  assert.deepEqual(figures.loinc, { right: 4, total: 4 })
  assert.deepEqual(figures.wrongAutoMatches, { right: 0, total: 4 })
  assert.deepEqual(metadataShare(figures), { right: 7, total: 7 })
})

test('a row is right as a whole if name, value, unit, range and interpretation are; wrong rows are caught and right ones doubted', () => {
  const report = perfect(truth)
  const finding = { kind: 'unit_does_not_fit' }
  Object.assign(report.results[0]!, { units: '70 - 99', findings: [finding], place: { confidence: 0.6 } })
  Object.assign(report.results[1]!, { min_reference_range: 7, place: { confidence: 1 } })
  Object.assign(report.results[2]!, { loinc_match_status: 'needs_review', place: { confidence: 1 } })
  Object.assign(report.results[3]!, { source_panel_name: null, loinc_matches: null, place: { confidence: 0.89 } })
  report.results.push({ test_name: 'Page', value: '1', loinc_match_status: 'no_match' })
  const { figures } = compareReport(truth, report, always)
  assert.equal(figures.wholeRows, 2)
  const { precision, recall, f1 } = wholeRowScores(figures)
  assert.deepEqual([precision, recall, f1.toFixed(6)], [0.4, 0.5, (4 / 9).toFixed(6)])
  assert.deepEqual(figures.caughtShare, { right: 1, total: 3 })
  assert.deepEqual(figures.doubtedShare, { right: 1, total: 2 })
  assert.deepEqual(figures.sure, { right: 1, total: 3 }, 'a row without a confidence is certain')
})

test('a finding on the report doubts every row, and catches lost rows; a lost row with a false row in its place counts once', () => {
  const report = { ...perfect(truth), findings: [{ kind: 'lines_not_read' }] }
  report.results = [report.results[0]!, { ...report.results[1]!, value: '7' }]
  const { figures } = compareReport(truth, report, always)
  assert.deepEqual(
    [figures.caughtShare, figures.doubtedShare],
    [
      { right: 3, total: 3 },
      { right: 1, total: 1 },
    ],
  )
  const { figures: silent } = compareReport(truth, { ...report, findings: [] }, always)
  assert.deepEqual(silent.caughtShare, { right: 0, total: 3 })
})

test('comments count for rows that have one or are read with one', () => {
  const rows = [['hemolyzed'], ['repeated'], [], [], undefined].map((comments, index) =>
    result(`Test ${index}`, '1', { comments }),
  )
  const report = perfect({ ...truth, results: rows })
  report.results[1]!.comments = []
  report.results[2]!.comments = ['of another row']
  report.results[4]!.comments = ['not compared']
  const { figures, differences } = compareReport({ ...truth, results: rows }, report, always)
  assert.deepEqual(figures.comments, { right: 1, total: 3 })
  assert.deepEqual(
    differences.map(({ fields }) => fields),
    [['comments'], ['comments']],
  )
})

test('a row counts if name and value are both right, and each row once', () => {
  const report = perfect(truth)
  report.results[0]!.value = '59'
  report.results.push({ test_name: 'tsh', value: '< 0.01' }, { test_name: 'Page', value: '1' })
  const { figures, lostResults, falseRows } = compareReport(truth, report, always)
  assert.deepEqual(figures.rows, { matches: 3, read: 6, expected: 4 })
  const { precision, recall, f1 } = rowScores(figures)
  assert.deepEqual([precision, recall], [0.5, 0.75])
  assert(Math.abs(f1 - 0.6) < 1e-9)
  assert.deepEqual(
    lostResults.map(({ test_name }) => test_name),
    ['Glucose'],
  )
  assert.deepEqual(
    falseRows.map(({ value }) => value),
    ['59', '< 0.01', '1'],
  )
})

test('units, range, interpretation, panel and code of matched rows are compared', () => {
  const report = perfect(truth)
  Object.assign(report.results[0]!, { units: 'MG/DL', min_reference_range: 7, loinc_matches: [{ loinc_code: '1558-6' }] })
  Object.assign(report.results[1]!, { units: 'cumm', source_panel_name: null, loinc_matches: [{ loinc_code: '26515-7' }] })
  Object.assign(report.results[2]!, { interpretation: null, loinc_matches: null, loinc_match_status: 'no_match' })
  const { figures, differences } = compareReport(truth, report, (code) => code !== '5778-6')
  assert.deepEqual(figures.units, { right: 3, total: 4 })
  assert.deepEqual(figures.range, { right: 2, total: 3 })
  assert.deepEqual(figures.interpretation, { right: 3, total: 4 })
  assert.deepEqual(figures.panel, { right: 3, total: 4 })
  assert.deepEqual(figures.loinc, { right: 1, total: 3 }, 'the table does not have the code of the color')
  assert.deepEqual(figures.wrongAutoMatches, { right: 1, total: 3 })
  assert.deepEqual(
    differences.map(({ fields }) => fields),
    [['range'], ['units', 'panel', 'loinc'], ['interpretation', 'loinc']],
  )
})

test('right first candidates are counted by the interval of their score', () => {
  const report = perfect(truth)
  const codes = [
    ['2345-7', 0.9],
    ['26515-7', 0.89],
    ['3016-3', 0.3],
    ['5778-6', 1],
  ] as const
  for (const [index, [loinc_code, confidence_score]] of codes.entries())
    report.results[index]!.loinc_matches = [{ loinc_code, confidence_score }]
  const { figures } = compareReport(truth, report, always)
  const [none, counted, wrong] = [
    { right: 0, total: 0 },
    { right: 1, total: 1 },
    { right: 0, total: 1 },
  ]
  assert.deepEqual(figures.scores, [counted, none, none, wrong, { right: 2, total: 2 }])
  const sum = noFigures()
  for (let times = 0; times < 2; times++) addFigures(sum, figures)
  assert.deepEqual(sum.scores[4], { right: 4, total: 4 })
})

test('metadata is compared by field', () => {
  const report = perfect(truth)
  Object.assign(report.metadata, {
    patient_first_name: 'Mary',
    patient_last_name: 'Ann van Mockum',
    dob: '1980-04-03',
    lab_name: 'FICTIONAL LABS INC',
    date_reported: '2024-05-06T10:00',
    specimen_number: null,
  })
  const { figures, metadata } = compareReport(truth, report, always)
  assert.deepEqual(
    metadata.map(({ field }) => field),
    ['dob', 'specimen_number'],
  )
  assert.deepEqual(metadataShare(figures), { right: 5, total: 7 })
})

test('a date as it is printed is right if the document leaves open which number is the month', () => {
  const report = perfect(truth)
  report.metadata.dob = '03/04/1980'
  const isRight = (ambiguousDates: Record<string, string>) =>
    compareReport({ ...truth, ambiguousDates }, report, always).figures.metadata.dob.right === 1
  assert(isRight({ dob: '03/04/1980' }))
  assert(!isRight({}))
})

test('values are equal regardless of spaces after a comparator, groups of digits and forms of signs', () => {
  for (const [printed, read] of [
    ['2,45,000', '245000'],
    ['< 0.01', '<0.01'],
    ['≥ 90', '>=90'],
    ['NEGATIVE', 'Negative'],
    ['No  growth', 'No growth'],
  ] as const)
    assert.equal(normalizeValue(printed), normalizeValue(read))
  for (const [printed, read] of [
    ['1.0', '10'],
    ['5', '5.0'],
    ['1,5', '15'],
    ['<5', '>5'],
  ] as const)
    assert.notEqual(normalizeValue(printed), normalizeValue(read))
})

test('figures of documents add up', () => {
  const sum = noFigures()
  addFigures(sum, compareReport(truth, perfect(truth), always).figures)
  addFigures(sum, compareReport(truth, { metadata: {}, results: [] }, always).figures)
  assert.deepEqual(sum.rows, { matches: 4, read: 4, expected: 8 })
  assert.deepEqual(sum.metadata.dob, { right: 1, total: 2 })
  assert.equal(sum.documents, 2)
})

test('the evaluation runs a parser over layouts and counts documents for which it throws', async () => {
  const [layout, other] = layouts
  const reader: Reader = async ([file]) => {
    assert(file && Buffer.from(file.bytes).subarray(0, 5).toString() === '%PDF-')
    for (const known of [layout!, other!])
      if (file.bytes.length === lengths.get(known.name)) {
        if (known === other) throw new Error('the parser cannot read this')
        return perfect(composeDocument(known, 5).truth)
      }
    return { metadata: {}, results: [] }
  }
  const lengths = new Map<string, number>()
  const options = { layouts: [layout!, other!], kinds: ['text'] as const, seed: 5, limit: 1, isInTable: always }
  let current = 0
  await evaluate(async ([file]) => {
    lengths.set(options.layouts[current++]!.name, file!.bytes.length)
    return { metadata: {}, results: [] }
  }, options)
  const printed: string[] = []
  const evaluation = await evaluate(reader, { ...options, onDocument: (...args) => printed.push(printFailures(...args)) })
  const [good, bad] = [...evaluation.byLayout.values()].map((figures) => figures.get('text')!)
  assert.equal(rowScores(good!).f1, 1)
  assert.deepEqual([bad!.failures, bad!.rows.matches], [1, 0])
  assert(bad!.rows.expected > 5)
  assert.equal(printed[0], '')
  assert.match(printed[1]!, /failed: the parser cannot read this\n[^]*missed: /)
  assert.match(printTable(evaluation), /ALL +text +2 \(1 failed\)/)
  const json = JSON.parse(JSON.stringify(toJson(evaluation)))
  assert.equal(json.totals.text.rows.expected, good!.rows.expected + bad!.rows.expected)
})

test('spaces next to the signs of a name and the forms of one unit do not count, and other differences do', () => {
  for (const [printed, read] of [
    ['Lipoprotein (a)', 'lipoprotein(a)'],
    ['SGPT / ALT', 'SGPT/ALT'],
    ['Bilirubin, Total', 'Bilirubin,Total'],
  ] as const)
    assert.equal(normalizeName(printed), normalizeName(read))
  for (const [printed, read] of [
    ['Bilirubin, Total', 'Bilirubin Total'],
    ['Lipoprotein (a)', 'Lipoprotein a'],
    ['Vitamin B 12', 'Vitamin B12'],
  ] as const)
    assert.notEqual(normalizeName(printed), normalizeName(read))
  for (const [printed, read] of [
    ['µmol/L', 'umol/L'],
    ['K/µL', 'K/uL'],
    ['mL/min/1.73 m²', 'mL/min/1.73m2'],
    ['x 10^9/L', '×10⁹/L'],
    ['10~12/L', '10¹²/L'],
    ['mg/24 h', 'mg/24h'],
  ] as const)
    assert.equal(normalizeUnit(printed), normalizeUnit(read))
  for (const [printed, read] of [
    ['x10^9/L', 'x10^6/L'],
    ['x10^9/L', 'x109/L'],
    ['µmol/L', 'mmol/L'],
    ['U/L', 'IU/L'],
    ['mg/dL', 'mg/L'],
  ] as const)
    assert.notEqual(normalizeUnit(printed), normalizeUnit(read))
})
