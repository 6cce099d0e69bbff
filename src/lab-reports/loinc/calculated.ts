// Results that laboratories calculate from others, compared with the calculation. Pure.
import type { ReportRow } from './match-terms.ts'
import { readNumber } from './numbers.ts'
import type { Term } from './terms.ts'
import { convert, readUnit, type Unit } from '../../lab-values/ucum-units.ts'

export interface KnownResult {
  /** Number of the row. */
  index: number
  row: ReportRow
  term: Term
}

export interface Contradiction {
  index: number
  text: string
}

/** What a value stands for in the rules, by LOINC component; in blood unless the rule says otherwise. */
const COMPONENTS: Record<string, { component: RegExp; unit: string; molarMass?: number }> = {
  cholesterol: { component: /^Cholesterol$/, unit: 'mg/dL', molarMass: 386.65 },
  hdl: { component: /^Cholesterol\.in HDL$/, unit: 'mg/dL', molarMass: 386.65 },
  ldl: { component: /^Cholesterol\.in LDL$/, unit: 'mg/dL', molarMass: 386.65 },
  vldl: { component: /^Cholesterol\.in VLDL$/, unit: 'mg/dL', molarMass: 386.65 },
  nonHdl: { component: /^Cholesterol\.non HDL$/, unit: 'mg/dL', molarMass: 386.65 },
  triglyceride: { component: /^Triglyceride$/, unit: 'mg/dL', molarMass: 885.4 },
  cholesterolRatio: { component: /^Cholesterol\.total\/Cholesterol\.in HDL$/, unit: '{ratio}' },
  ldlRatio: { component: /^Cholesterol\.in LDL\/Cholesterol\.in HDL$/, unit: '{ratio}' },
  sodium: { component: /^Sodium$/, unit: 'mmol/L' },
  potassium: { component: /^Potassium$/, unit: 'mmol/L' },
  chloride: { component: /^Chloride$/, unit: 'mmol/L' },
  bicarbonate: { component: /^(?:Carbon dioxide|Bicarbonate)$/, unit: 'mmol/L' },
  anionGap: { component: /^Anion gap(?: [34])?$/, unit: 'mmol/L' },
  protein: { component: /^Protein$/, unit: 'g/dL' },
  albumin: { component: /^Albumin$/, unit: 'g/dL' },
  globulin: { component: /^Globulin$/, unit: 'g/dL' },
  albuminRatio: { component: /^Albumin\/Globulin$/, unit: '{ratio}' },
  bilirubin: { component: /^Bilirubin$/, unit: 'mg/dL', molarMass: 584.66 },
  direct: { component: /^Bilirubin\.glucuronidated\+Bilirubin\.albumin bound$/, unit: 'mg/dL', molarMass: 584.66 },
  indirect: { component: /^Bilirubin\.non-glucuronidated$/, unit: 'mg/dL', molarMass: 584.66 },
  ureaNitrogen: { component: /^Urea nitrogen$/, unit: 'mg/dL' },
  creatinine: { component: /^Creatinine$/, unit: 'mg/dL', molarMass: 113.12 },
  ureaRatio: { component: /^Urea nitrogen\/Creatinine$/, unit: '{ratio}' },
  a1c: { component: /^Hemoglobin A1c\/Hemoglobin\.total$/, unit: '%' },
  averageGlucose: { component: /^Estimated average glucose$/, unit: 'mg/dL', molarMass: 180.16 },
  hemoglobin: { component: /^Hemoglobin$/, unit: 'g/dL' },
  hematocrit: { component: /^Hematocrit$/, unit: '%' },
  redCells: { component: /^Erythrocytes$/, unit: '10*6/uL' },
  whiteCells: { component: /^Leukocytes$/, unit: '10*3/uL' },
  cellVolume: { component: /^Erythrocyte mean corpuscular volume$/, unit: 'fL' },
  cellHemoglobin: { component: /^Erythrocyte mean corpuscular hemoglobin$/, unit: 'pg' },
  cellConcentration: { component: /^Erythrocyte mean corpuscular hemoglobin concentration$/, unit: 'g/dL' },
  iron: { component: /^Iron$/, unit: 'ug/dL', molarMass: 55.845 },
  bindingCapacity: { component: /^Iron binding capacity$/, unit: 'ug/dL', molarMass: 55.845 },
  saturation: { component: /^Iron saturation$/, unit: '%' },
}
const CELL_LINES = ['Neutrophils', 'Lymphocytes', 'Monocytes', 'Eosinophils', 'Basophils'] as const
const OTHER_CELLS =
  /^(?:Neutrophils\.band form|Granulocytes\.immature|Metamyelocytes|Myelocytes|Promyelocytes|Blasts|Lymphocytes\.variant|Plasma cells|Large unstained cells)\/100 leukocytes$/

type Values = Partial<Record<string, number>>

interface Rule {
  result: string
  /** Printed names of the parts. */
  parts: string
  expected: (values: Values) => number | undefined
  tolerance: (expected: number) => number
  /** Does not apply to this term. */
  isExempt?: (term: Term) => boolean
}

const need = (values: Values, names: string[], calculate: (...numbers: number[]) => number): number | undefined => {
  const numbers = names.map((name) => values[name])
  return numbers.every((value) => value !== undefined) ? calculate(...(numbers as number[])) : undefined
}
const share = (part: number, least: number) => (expected: number) => Math.max(least, Math.abs(expected) * part)

/** Tolerances allow for rounding and for the formulas in use (Friedewald, Sampson, Martin-Hopkins). */
const RULES: Rule[] = [
  {
    result: 'ldl',
    parts: 'total cholesterol, HDL cholesterol and triglycerides',
    expected: (v) => need(v, ['cholesterol', 'hdl', 'triglyceride'], (c, h, t) => (t < 400 ? c - h - t / 5 : Number.NaN)),
    tolerance: share(0.15, 20),
    isExempt: (term) => /direct/i.test(term.method),
  },
  {
    result: 'nonHdl',
    parts: 'total cholesterol and HDL cholesterol',
    expected: (v) => need(v, ['cholesterol', 'hdl'], (c, h) => c - h),
    tolerance: share(0.02, 3),
  },
  {
    result: 'vldl',
    parts: 'triglycerides',
    expected: (v) => need(v, ['triglyceride'], (t) => (t < 400 ? t / 5 : Number.NaN)),
    tolerance: share(0.4, 10),
  },
  {
    result: 'cholesterolRatio',
    parts: 'total cholesterol and HDL cholesterol',
    expected: (v) => need(v, ['cholesterol', 'hdl'], (c, h) => c / h),
    tolerance: share(0.06, 0.15),
  },
  {
    result: 'ldlRatio',
    parts: 'LDL and HDL cholesterol',
    expected: (v) => need(v, ['ldl', 'hdl'], (l, h) => l / h),
    tolerance: share(0.06, 0.15),
  },
  {
    result: 'anionGap',
    parts: 'sodium, chloride and bicarbonate',
    expected: (v) => need(v, ['sodium', 'chloride', 'bicarbonate'], (na, cl, co2) => na - cl - co2),
    tolerance: () => 3,
  },
  {
    result: 'globulin',
    parts: 'total protein and albumin',
    expected: (v) => need(v, ['protein', 'albumin'], (p, a) => p - a),
    tolerance: share(0.05, 0.25),
  },
  {
    result: 'albuminRatio',
    parts: 'albumin and globulin',
    expected: (v) => need(v, ['albumin', 'globulin'], (a, g) => a / g) ?? need(v, ['albumin', 'protein'], (a, p) => a / (p - a)),
    tolerance: share(0.1, 0.2),
  },
  {
    result: 'indirect',
    parts: 'total and direct bilirubin',
    expected: (v) => need(v, ['bilirubin', 'direct'], (t, d) => t - d),
    tolerance: share(0.1, 0.25),
  },
  {
    result: 'ureaRatio',
    parts: 'urea nitrogen and creatinine',
    expected: (v) => need(v, ['ureaNitrogen', 'creatinine'], (u, c) => u / c),
    tolerance: share(0.1, 1.5),
  },
  {
    result: 'averageGlucose',
    parts: 'hemoglobin A1c',
    expected: (v) => need(v, ['a1c'], (a) => 28.7 * a - 46.7),
    tolerance: share(0.05, 6),
  },
  {
    result: 'cellVolume',
    parts: 'hematocrit and red cells',
    expected: (v) => need(v, ['hematocrit', 'redCells'], (h, r) => (10 * h) / r),
    tolerance: share(0.06, 4),
  },
  {
    result: 'cellHemoglobin',
    parts: 'hemoglobin and red cells',
    expected: (v) => need(v, ['hemoglobin', 'redCells'], (h, r) => (10 * h) / r),
    tolerance: share(0.06, 1.5),
  },
  {
    result: 'cellConcentration',
    parts: 'hemoglobin and hematocrit',
    expected: (v) => need(v, ['hemoglobin', 'hematocrit'], (h, c) => (100 * h) / c),
    tolerance: share(0.06, 2),
  },
  {
    result: 'saturation',
    parts: 'iron and binding capacity',
    expected: (v) => need(v, ['iron', 'bindingCapacity'], (i, b) => (100 * i) / b),
    tolerance: share(0.1, 3),
  },
]

const IN_BLOOD = new Set(['Ser/Plas', 'Ser', 'Plas', 'Bld', 'Ser/Plas/Bld', 'RBC'])

/** Contradictions among results of one date. A result with a comparator ("<5"), or that occurs twice, takes no part. */
export function calculatedFindings(results: readonly KnownResult[]): Contradiction[] {
  const found: Contradiction[] = []
  const [values, rows] = knownValues(results)
  for (const { result, parts, expected, tolerance, isExempt } of RULES) {
    const [value, row] = [values[result], rows.get(result)]
    const calculated = expected(values)
    if (value === undefined || !row || calculated === undefined || !Number.isFinite(calculated) || isExempt?.(row.term)) continue
    // Some laboratories count potassium in the anion gap.
    const others =
      result === 'anionGap' && values.potassium !== undefined ? [calculated, calculated + values.potassium] : [calculated]
    if (others.every((alternative) => Math.abs(value - alternative) > tolerance(alternative)))
      found.push({ index: row.index, text: `${row.term.displayName} does not agree with ${parts}.` })
  }
  if (values.direct !== undefined && values.bilirubin !== undefined && values.direct > values.bilirubin * 1.05 + 0.05)
    found.push({ index: rows.get('direct')!.index, text: 'Direct bilirubin is above total bilirubin.' })
  found.push(...differentialFindings(results, values.whiteCells))
  return found
}

function knownValues(results: readonly KnownResult[]): [Values, Map<string, KnownResult>] {
  const values: Values = {}
  const rows = new Map<string, KnownResult>()
  const twice = new Set<string>()
  for (const result of results) {
    if (!IN_BLOOD.has(result.term.system)) continue
    for (const [name, { component, unit, molarMass }] of Object.entries(COMPONENTS)) {
      if (!component.test(result.term.component)) continue
      const value = valueIn(result.row, unit, molarMass)
      if (value === undefined) continue
      if (rows.has(name)) twice.add(name)
      values[name] = value
      rows.set(name, result)
    }
  }
  for (const name of twice) {
    delete values[name]
    rows.delete(name)
  }
  return [values, rows]
}

/** The value of a row in a unit; undefined for words, comparators and units that cannot be converted. */
function valueIn(row: ReportRow, unit: string, molarMass?: number): number | undefined {
  const read = readNumber(row.value)
  if (!read || read.comparator !== null) return undefined
  const to = readUnit(unit)[0]!
  const from = readUnit(row.units)
  if (from.length === 0) return to.kind === 'ratio' && !row.units ? read.value : undefined
  for (const one of from) {
    const value =
      convert(read.value, one, to) ?? (molarMass === undefined ? undefined : fromMoles(read.value, one, to, molarMass))
    if (value !== undefined) return value
  }
  return to.kind === 'ratio' ? read.value : undefined
}

function fromMoles(value: number, unit: Unit, target: Unit, molarMass: number): number | undefined {
  if (unit.kind !== 'substance_volume' || target.kind !== 'mass_volume') return undefined
  return (value * unit.factor! * molarMass) / target.factor!
}

/** The percentages of a differential add up to 100, and the absolute counts are these parts of the white cells. */
function differentialFindings(results: readonly KnownResult[], whiteCells: number | undefined): Contradiction[] {
  const found: Contradiction[] = []
  const inBlood = results.filter(({ term }) => term.system === 'Bld')
  const percent = new Map<string, { index: number; value: number }>()
  let others = 0
  for (const { index, row, term } of inBlood) {
    const value = term.component.endsWith('/100 leukocytes') ? valueIn(row, '%') : undefined
    if (value === undefined) continue
    const line = CELL_LINES.find((name) => term.component === `${name}/100 leukocytes`)
    if (line) percent.set(line, { index, value })
    else if (OTHER_CELLS.test(term.component)) others += value
    else if (term.component === 'Neutrophils.segmented/100 leukocytes') percent.set('Neutrophils', { index, value })
  }
  if (percent.size === CELL_LINES.length) {
    const sum = [...percent.values()].reduce((total, { value }) => total + value, 0)
    // Analyzers count immature cells among the neutrophils or separately.
    if (Math.abs(sum - 100) > 2.5 && Math.abs(sum + others - 100) > 2.5)
      for (const { index } of percent.values())
        found.push({ index, text: 'The percentages of the differential do not add up to 100.' })
  }
  if (whiteCells === undefined) return found
  for (const { index, row, term } of inBlood) {
    const part = percent.get(term.component)
    const value = part ? valueIn(row, '10*3/uL') : undefined
    if (part === undefined || value === undefined) continue
    const expected = (whiteCells * part.value) / 100
    if (Math.abs(value - expected) > Math.max(0.15, expected * 0.12))
      found.push({ index, text: `${term.displayName} does not agree with the white cells and the percentage.` })
  }
  return found
}
