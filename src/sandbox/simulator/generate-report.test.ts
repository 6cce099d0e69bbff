import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnalyteDefinition, ExpectedMarker } from '../../lab/catalog/analytes.ts'
import { readCatalogRows } from '../../lab/catalog/data-files.ts'
import { resultTypes, type DiagnosticReport, type ReportedResult, type ResultType } from '../../lab/links/diagnostic-report.ts'
import { mostSevere, type Interpretation } from '../../lab-values/interpret.ts'
import { judgeResult, patientOn } from '../../lab/results/judge-result.ts'
import { generateReport, type ReportFlags } from './generate-report.ts'
import { makeResults } from './computed-results.ts'
import { seededRandom, isTextual, makeResult } from './result-values.ts'

const offers = readCatalogRows()
const analytes = new Map(offers.analytes.map((analyte) => [analyte.slug, analyte]))
const markers: ExpectedMarker[] = offers.markers.map((marker) => ({
  marker_id: marker.id,
  name: marker.name,
  slug: marker.slug,
  provider_id: marker.provider_id,
  type: marker.type as ExpectedMarker['type'],
  lab_id: marker.lab_id,
  expected: offers.marker_analytes
    .filter(({ marker_id }) => marker_id === marker.id)
    .map(({ analyte, required }) => ({ ...analytes.get(analyte)!, required: required })),
}))
const findMarkers = (...ids: number[]) => ids.map((id) => markers.find((marker) => marker.marker_id === id)!)

/** A lipid panel, A1c, hs-CRP, TSH and vitamin D of one laboratory: ten results. */
const kit = findMarkers(3001, 3002, 3003, 3004, 3005)
const KIT_RESULTS = 10
/** A thyroid panel, and TSH as a separate marker. */
const overlapping = findMarkers(3021, 3004)
const mixed = findMarkers(3025, 3024, 3001)

const order = (n: number, overrides: Partial<Parameters<typeof generateReport>[0]> = {}) => ({
  id: `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`,
  sample_id: null,
  patient_details: null,
  ...overrides,
})
const usual: ReportFlags = {
  interpretation: 'normal',
  result_types: null,
  has_missing_results: false,
  partial: false,
  amended: false,
}
const at = {
  collected_at: '2030-01-02T08:00:00+00:00',
  received_at: '2030-01-03T08:00:00+00:00',
  reported_at: '2030-01-04T08:00:00+00:00',
}
const generate = (n: number, flags: Partial<ReportFlags> = {}, expected = kit): DiagnosticReport =>
  generateReport(order(n), expected, { ...usual, ...flags }, at)
const many = Array.from({ length: 40 }, (_, n) => n)

const anyPatient = patientOn({}, '2030-01-02')
const meaningOf = (result: Pick<ReportedResult, 'type' | 'result' | 'reference_range' | 'flag'>): Interpretation =>
  judgeResult({ name: 'Analyte', unit: null, ...result }, anyPatient).interpretation
const wholeOf = (report: DiagnosticReport) => mostSevere(report.results.map(meaningOf))
const slugsOf = (list: { slug: string }[]) => list.map(({ slug }) => slug)

test('a report has each expected result once, in order, with the names of the catalog', () => {
  const report = generate(1)
  assert.deepEqual(
    slugsOf(report.results),
    kit.flatMap((marker) => slugsOf(marker.expected)),
  )
  assert.equal(report.results.length, KIT_RESULTS)
  assert.deepEqual(report.missing, [])
  const [cholesterol] = report.results
  assert.equal(cholesterol!.name, 'Cholesterol, Total')
  assert.equal(cholesterol!.loinc, '2093-3')
  assert.equal(cholesterol!.provider_id, null)
  assert.deepEqual(slugsOf(cholesterol!.source_markers!), [kit[0]!.slug])
  const a1c = report.results.find(({ slug }) => slug === 'hemoglobin-a1c')
  assert.equal(a1c!.provider_id, kit[1]!.provider_id)
})

test('a result that two markers expect is reported once with both markers', () => {
  const report = generate(1, {}, overlapping)
  assert.equal(report.results.length, 4)
  const tsh = report.results.find(({ slug }) => slug === 'tsh')!
  assert.deepEqual(
    tsh.source_markers!.map(({ marker_id }) => marker_id),
    [3021, 3004],
  )
  assert.equal(tsh.provider_id, overlapping[1]!.provider_id)
})

test('a marker without expected results is reported as one result', () => {
  const report = generate(1, {}, findMarkers(4143))
  assert.equal(report.results.length, 1)
  assert.equal(report.results[0]!.slug, findMarkers(4143)[0]!.slug)
  assert.equal(report.results[0]!.provider_id, findMarkers(4143)[0]!.provider_id)
})

test('the same order has the same report, and another order has another one', () => {
  for (const interpretation of ['normal', 'abnormal', 'critical', 'unknown'] as const) {
    assert.deepEqual(generate(1, { interpretation }), generate(1, { interpretation }))
    assert.notDeepEqual(generate(1, { interpretation }).results, generate(2, { interpretation }).results)
  }
})

test('a report has the specimen of its order and the given instants', () => {
  const { specimen_number, collected_at, received_at, reported_at } = generateReport(
    order(1, { sample_id: 'DBKTEST' }),
    kit,
    usual,
    { ...at, received_at: null },
  )
  assert.deepEqual([specimen_number, collected_at, received_at, reported_at], ['DBKTEST', at.collected_at, null, at.reported_at])
  assert.notEqual(generate(1).specimen_number, generate(2).specimen_number)
})

test('the interpretation of the report is the requested one', () => {
  for (const interpretation of ['normal', 'abnormal', 'critical', 'unknown'] as const)
    for (const expected of [kit, overlapping, mixed, findMarkers(4143)])
      for (const n of many)
        for (const partial of [true, false])
          assert.equal(wholeOf(generate(n, { interpretation, partial }, expected)), interpretation)
})

test('an abnormal report has a number outside its range, and a critical one a number beyond the critical limit', () => {
  for (const n of many) {
    const flagged = generate(n, { interpretation: 'abnormal' }).results.filter(({ type, flag }) => type === 'numeric' && flag)
    assert.ok(flagged.length > 0 && flagged.every(({ flag }) => flag === 'H' || flag === 'L'))
    const critical = generate(n, { interpretation: 'critical' }).results.filter(({ flag }) => /^(HH|LL)$/.test(flag))
    assert.equal(critical.length, 1)
    assert.ok(generate(n, { interpretation: 'normal' }).results.every(({ flag }) => flag === ''))
  }
})

test('each result has the type of its analyte if no types are requested', () => {
  const { results } = generate(1, {}, mixed)
  const types = new Set(results.map(({ type }) => type))
  assert(types.has('numeric') && types.size > 1)
  for (const { type, slug } of results) assert.equal(type, analytes.get(slug)!.definition.type)
})

/** Every marker of the catalog with several results, and markers together whose results belong together. */
const panels = [
  ...markers.filter(({ expected }) => expected.length > 1).map((marker) => [marker]),
  kit,
  findMarkers(4001, 4006, 4009, 4012),
  findMarkers(6001, 6006, 6009, 6011),
  findMarkers(4016, 4012),
]
const patients = (['female', 'male', 'other'] as const).flatMap((gender) =>
  ['1999-05-01', '1958-05-01'].map((dob) => ({ gender, dob })),
)

test('numbers of a report agree with each other for every interpretation', () => {
  const checked = new Set<string>()
  for (const [index, expected] of panels.entries())
    for (const interpretation of ['normal', 'abnormal', 'critical'] as const)
      for (const [n, who] of patients.entries()) {
        const patient_details = who as never
        const report = generateReport(order(100 * index + n, { patient_details }), expected, { ...usual, interpretation }, at)
        const what = `${expected.map(({ slug }) => slug).join(', ')}, ${interpretation}, ${who.gender} ${who.dob}`
        assert.equal(wholeOf(report), interpretation, what)
        const values = new Map(report.results.map((result) => [result.slug, Number(result.result)]))
        for (const { slug, result } of report.results) assert(!result.startsWith('-'), `${what}: ${slug} ${result}`)
        const agree = (tolerance: number, computedName: string, sources: string[], value: (...inputs: number[]) => number) => {
          if (![computedName, ...sources].every((slug) => Number.isFinite(values.get(slug)))) return
          const difference = values.get(computedName)! - value(...sources.map((slug) => values.get(slug)!))
          assert(Math.abs(difference) <= tolerance, `${what}: ${computedName} differs by ${difference}`)
          checked.add(computedName)
        }
        agree(0.51, 'ldl-cholesterol', ['cholesterol-total', 'hdl-cholesterol', 'triglycerides'], (a, b, c) => a - b - c / 5)
        agree(0, 'non-hdl-cholesterol', ['cholesterol-total', 'hdl-cholesterol'], (a, b) => a - b)
        agree(0.051, 'cholesterol-hdl-ratio', ['cholesterol-total', 'hdl-cholesterol'], (a, b) => a / b)
        agree(0.51, 'vldl-cholesterol', ['triglycerides'], (a) => a / 5)
        agree(0.051, 'hemoglobin-a1c', ['glucose'], (a) => (1.1 * a + 46.7) / 28.7)
        agree(0.51, 'estimated-average-glucose', ['hemoglobin-a1c'], (a) => 28.7 * a - 46.7)
        agree(0.051, 'homa-ir', ['glucose', 'insulin'], (a, b) => (a * b) / 405)
        agree(0.51, 'bun-creatinine-ratio', ['bun', 'creatinine'], (a, b) => a / b)
        agree(0.001, 'globulin', ['total-protein', 'albumin'], (a, b) => a - b)
        agree(0.051, 'albumin-globulin-ratio', ['albumin', 'globulin'], (a, b) => a / b)
        agree(0.001, 'bilirubin-indirect', ['bilirubin-total', 'bilirubin-direct'], (a, b) => a - b)
        agree(0, 'anion-gap', ['sodium', 'chloride', 'carbon-dioxide'], (a, b, c) => a - b - c)
        agree(0.1, 'hematocrit', ['hemoglobin', 'mchc'], (a, b) => (a * 100) / b)
        agree(0.01, 'rbc', ['hematocrit', 'mcv'], (a, b) => (a * 10) / b)
        agree(0.1, 'mch', ['hemoglobin', 'rbc'], (a, b) => (a * 10) / b)
        agree(0.51, 'iron-saturation', ['iron', 'tibc'], (a, b) => (100 * a) / b)
        const counts = ['neutrophils', 'lymphocytes', 'monocytes', 'eosinophils', 'basophils']
        for (const cell of counts) agree(0.006, `${cell}-absolute`, ['wbc', `${cell}-percent`], (a, b) => (a * b) / 100)
        const shares = [...counts, 'immature-granulocytes'].map((cell) => values.get(`${cell}-percent`))
        if (shares[0] === undefined || shares.slice(0, 5).includes(undefined)) continue
        const sum = shares.reduce<number>((total, share) => total + (share ?? 0), 0)
        assert(Math.abs(sum - 100) < 0.001, `${what}: the differential sums to ${sum}`)
        checked.add('neutrophils-percent')
      }
  assert(checked.size >= 20, [...checked].join(', '))
})

test('the filtration rate is that of creatinine, age and sex by CKD-EPI 2021', () => {
  const definition = analytes.get('creatinine')!.definition
  const [creatinine, egfr] = ['creatinine', 'egfr'].map((slug) => ({ slug, definition: analytes.get(slug)!.definition }))
  const rateOf = (gender: string, age: number, value: number) => {
    const fixed = { ...definition, low_female: value, high_female: value, low_male: value, high_male: value }
    const plan = (item: typeof creatinine) => ({ item: item!, type: 'numeric' as const, kind: 'normal' as const, seed: 'any' })
    const wide = { slug: 'egfr', definition: { ...egfr!.definition, low: 1 } }
    return makeResults([plan({ slug: 'creatinine', definition: fixed }), plan(wide)], { gender, age }).get('egfr')!.result
  }
  assert.deepEqual(
    [rateOf('female', 50, 0.8), rateOf('male', 50, 0.8), rateOf('female', 70, 1.5), rateOf('male', 30, 2)],
    ['90', '108', '37', '45'],
  )
})

test('requested types cycle over all results', () => {
  const asked: ResultType[] = ['range', 'coded_value']
  const { results } = generate(1, { result_types: asked }, mixed)
  assert.deepEqual(
    results.map(({ type }) => type),
    results.map((_, i) => asked[i % 2]),
  )
  for (const type of resultTypes) assert.ok(generate(1, { result_types: [type] }).results.every((result) => result.type === type))
})

test('a partial report has half of the results, and the final one repeats them', () => {
  for (const n of many)
    for (const interpretation of ['normal', 'critical'] as const) {
      const partial = generate(n, { interpretation, partial: true })
      const { results } = generate(n, { interpretation })
      assert.equal(partial.status, 'partial')
      assert.equal(partial.results.length, KIT_RESULTS / 2)
      assert.deepEqual(
        partial.results,
        results.filter(({ slug }) => slugsOf(partial.results).includes(slug)),
      )
    }
})

test('missing results are listed and not reported', () => {
  for (const n of many) {
    const whole = generate(n, { interpretation: 'abnormal' })
    const report = generate(n, { interpretation: 'abnormal', has_missing_results: true })
    assert.equal(report.missing.length, 1)
    assert.deepEqual(
      slugsOf(whole.results).filter((slug) => !slugsOf(report.results).includes(slug)),
      slugsOf(report.missing),
    )
    const [missing] = report.missing
    assert.equal(missing!.failure, 'unknown_failure')
    assert.ok(missing!.source_markers!.length > 0)
  }
  const alone = generate(1, { has_missing_results: true }, findMarkers(3002))
  assert.deepEqual(slugsOf(alone.missing), ['hemoglobin-a1c'])
  assert.deepEqual(alone.results, [])
})

test('an amended report is marked as amended, and one measurement and the values computed from it differ', () => {
  for (const n of many) {
    const first = generate(n).results
    const amended = generate(n, { amended: true })
    assert.equal(amended.amended, true)
    const differing = slugsOf(amended.results.filter((result, i) => result.result !== first[i]!.result))
    const computed = ['ldl-cholesterol', 'non-hdl-cholesterol', 'cholesterol-hdl-ratio']
    assert.ok(differing.filter((slug) => !computed.includes(slug)).length <= 1, differing.join(', '))
    assert.ok(differing.length > 0)
  }
})

test('an amended report differs in each marker that has a number', () => {
  for (const { id } of offers.markers)
    for (const n of [1, 2, 3]) {
      const first = generate(n, {}, findMarkers(id)).results
      const amended = generate(n, { amended: true }, findMarkers(id)).results
      if (first.some(({ type }) => type === 'numeric')) assert.notDeepEqual(amended, first, `marker ${id}`)
    }
})

const RANGE = /^([<>]=?\d*(\.\d+)?|(\d*(\.\d+)?-\d*(\.\d+)?))$/

test('every analyte of the catalog can have every type and interpretation, inside and outside its limits', () => {
  for (const { slug, definition } of offers.analytes)
    for (const gender of ['female', 'male', 'other'])
      for (const type of resultTypes)
        for (const kind of ['normal', 'abnormal', 'critical', 'unknown'] as const)
          for (let n = 0; n < 6; n++) {
            const made = makeResult(
              { slug, definition },
              type,
              kind,
              gender,
              seededRandom(`${slug} ${gender} ${type} ${kind} ${n}`),
            )
            const what = `${slug}, ${gender}, ${type}, ${kind}: ${made.result} of ${made.reference_range} ${made.flag}`
            assert.equal(meaningOf({ type, ...made }), kind, what)
            if (type === 'numeric') assertNumber(definition, kind, made, what)
            if (type === 'range') assert.match(made.result, RANGE, what)
            if (type === 'comment') assert.match(made.result, /[A-Za-z:]/, what)
            if (type === 'coded_value') assert.match(made.result, /^[A-Z_]+$/, what)
          }
})

function assertNumber(
  definition: AnalyteDefinition,
  kind: Interpretation,
  { result, reference_range, flag }: Pick<ReportedResult, 'result' | 'reference_range' | 'flag'>,
  subject: string,
): void {
  const decimals = definition.decimals ?? 1
  assert.match(result, decimals === 0 ? /^\d+$/ : new RegExp(`^\\d+\\.\\d{${decimals}}$`), subject)
  const value = Number(result)
  const outside = judgeResult(
    { name: 'Analyte', type: 'numeric', result, reference_range, flag, unit: definition.unit },
    anyPatient,
  )
  const isOut = kind === 'abnormal' || kind === 'critical'
  assert.equal(outside.is_above_max_range || outside.is_below_min_range, isOut, subject)
  if (isOut) assert.equal(flag[0], outside.is_above_max_range ? 'H' : 'L', subject)
  if (definition.unit === '%' && (outside.max_range_value ?? 0) < 100) assert.ok(value <= 100, subject)
  if (isTextual(definition)) return
  const { critical_low, critical_high } = definition
  const beyond = (critical_high !== null && value > critical_high) || (critical_low !== null && value < critical_low)
  const side = outside.is_above_max_range ? critical_high : critical_low
  assert.equal(beyond, kind === 'critical' && side !== null, subject)
}

test("uses the limits of the patient's gender", () => {
  const { definition } = analytes.get('hemoglobin')!
  const rangeFor = (gender: string) =>
    makeResult({ slug: 'hemoglobin', definition }, 'numeric', 'normal', gender, seededRandom('any')).reference_range
  assert.deepEqual(['female', 'male', 'other', 'unknown'].map(rangeFor), ['11.7-15.5', '13.2-17.1', '11.7-17.1', '11.7-17.1'])
  const psa = analytes.get('psa-total')!.definition
  const made = makeResult({ slug: 'psa-total', definition: psa }, 'numeric', 'normal', 'female', seededRandom('any'))
  assert.equal(made.reference_range, '<=4.00')
})
