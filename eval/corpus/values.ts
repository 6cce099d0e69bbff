// Values of one person's sample: plausible, seeded, and in agreement with each other. All are in conventional units.
import { analyteOf, type Bounds, type NumericAnalyte } from './analytes.ts'
import type { Person } from './people.ts'
import type { Random } from './random.ts'

export interface Subject {
  sex: Person['sex']
  age: number
}

/** How far a value is from its range. */
const SHARES = { normal: 0.78, outside: 0.19 }
/** Of a value far outside, relative to the range: laboratories call the physician. */
const FAR = 0.9

export const boundsFor = (analyte: NumericAnalyte, sex: Person['sex']): Bounds => analyte.bySex?.[sex] ?? analyte.bounds

/** Values by key of their analyte. `previous`: those of an earlier day of the same person, from which these differ somewhat. */
export function generateValues(
  keys: readonly string[],
  subject: Subject,
  random: Random,
  previous?: Map<string, number>,
): Map<string, number> {
  const values = new Map<string, number>()
  const wanted = new Set(keys.flatMap((key) => [key, ...(calculated[key]?.from ?? [])]))
  for (const key of wanted) {
    const analyte = analyteOf(key)
    if (analyte.kind !== 'number' || calculated[key]) continue
    const before = previous?.get(key)
    values.set(key, before === undefined ? draw(analyte, subject, random) : before * (1 + random.gaussian() * 0.06))
  }
  if (wanted.has('neutrophils_pct') || wanted.has('neutrophils_abs')) balanceDifferential(values)
  for (const key of Object.keys(calculated)) {
    const { from, value } = calculated[key]!
    if (wanted.has(key) && from.every((part) => values.has(part)))
      values.set(
        key,
        value((part) => values.get(part)!, subject),
      )
  }
  return values
}

function draw(analyte: NumericAnalyte, { sex }: Subject, random: Random): number {
  const { low, high } = boundsFor(analyte, sex)
  const min = low ?? 0.3 * high!
  const max = high ?? 2.2 * low!
  const width = max - min
  const place = random.next()
  // Physiology ends soon on both sides of these.
  const stretch = NARROW.has(analyte.key) ? 0.15 : 1
  if (place < SHARES.normal) return min + width * random.between(0.08, 0.92)
  const distance = stretch * (place < SHARES.normal + SHARES.outside ? random.between(0.08, 0.5) : random.between(FAR, 1.4))
  const isHigh = low === null || low <= 0 || (high !== null && random.chance(0.65))
  return isHigh ? max + width * distance : Math.max(min * 0.3, min - width * distance)
}

const NARROW = new Set([
  'sodium',
  'chloride',
  'calcium',
  'ph_arterial',
  'osmolality',
  'mchc',
  'specific_gravity',
  'urine_ph',
  'neutrophils_pct',
])

/** The shares of white cells add up to 100. */
function balanceDifferential(values: Map<string, number>): void {
  const rest = ['lymphocytes_pct', 'monocytes_pct', 'eosinophils_pct', 'basophils_pct'].map((key) => {
    const { decimals } = (analyteOf(key) as NumericAnalyte).conventional
    const value = Number(Math.max(0, values.get(key) ?? 0).toFixed(decimals))
    values.set(key, value)
    return value
  })
  values.set('neutrophils_pct', 100 - rest.reduce((sum, value) => sum + value, 0))
}

interface Calculated {
  from: string[]
  value: (of: (key: string) => number, subject: Subject) => number
}

const WHITE = ['wbc', 'neutrophils_pct', 'lymphocytes_pct', 'monocytes_pct', 'eosinophils_pct', 'basophils_pct']
const absolute = (share: string): Calculated => ({ from: WHITE, value: (of) => (of('wbc') * of(share)) / 100 })

/** In an order in which each one finds its parts. */
const calculated: Record<string, Calculated> = {
  hematocrit: { from: ['hemoglobin'], value: (of) => of('hemoglobin') * 2.95 },
  // Cells of different size, from person to person.
  rbc: { from: ['hemoglobin'], value: (of, { age }) => of('hemoglobin') / (2.8 + (age % 9) * 0.05) },
  mcv: { from: ['hemoglobin', 'rbc'], value: (of) => (of('hemoglobin') * 29.5) / of('rbc') },
  mch: { from: ['hemoglobin', 'rbc'], value: (of) => (of('hemoglobin') * 10) / of('rbc') },
  mchc: { from: ['hemoglobin', 'hematocrit'], value: (of) => (of('hemoglobin') * 100) / of('hematocrit') },
  neutrophils_abs: absolute('neutrophils_pct'),
  lymphocytes_abs: absolute('lymphocytes_pct'),
  monocytes_abs: absolute('monocytes_pct'),
  eosinophils_abs: absolute('eosinophils_pct'),
  basophils_abs: absolute('basophils_pct'),
  bun_creatinine: { from: ['bun', 'creatinine'], value: (of) => of('bun') / of('creatinine') },
  urea: { from: ['bun'], value: (of) => of('bun') * 2.14 },
  egfr: { from: ['creatinine'], value: (of, subject) => estimateFiltration(of('creatinine'), subject) },
  anion_gap: { from: ['sodium', 'chloride', 'co2'], value: (of) => of('sodium') - of('chloride') - of('co2') },
  globulin: { from: ['protein_total', 'albumin'], value: (of) => Math.max(1.2, of('protein_total') - of('albumin')) },
  ag_ratio: { from: ['albumin', 'protein_total', 'globulin'], value: (of) => of('albumin') / of('globulin') },
  bilirubin_direct: { from: ['bilirubin_total'], value: (of) => of('bilirubin_total') * 0.22 },
  bilirubin_indirect: {
    from: ['bilirubin_total', 'bilirubin_direct'],
    value: (of) => of('bilirubin_total') - of('bilirubin_direct'),
  },
  vldl: { from: ['triglycerides'], value: (of) => of('triglycerides') / 5 },
  ldl: {
    from: ['cholesterol', 'hdl', 'triglycerides'],
    value: (of) => Math.max(25, of('cholesterol') - of('hdl') - of('triglycerides') / 5),
  },
  non_hdl: { from: ['cholesterol', 'hdl'], value: (of) => of('cholesterol') - of('hdl') },
  chol_hdl: { from: ['cholesterol', 'hdl'], value: (of) => of('cholesterol') / of('hdl') },
  transferrin_saturation: { from: ['iron', 'tibc'], value: (of) => (100 * of('iron')) / of('tibc') },
  eag: { from: ['hba1c'], value: (of) => 28.7 * of('hba1c') - 46.7 },
  inr: { from: ['pt'], value: (of) => of('pt') / 10.8 },
  psa_free: { from: ['psa'], value: (of) => of('psa') * 0.22 },
  acr: { from: ['urine_albumin', 'urine_creatinine'], value: (of) => (of('urine_albumin') * 100) / of('urine_creatinine') },
}

/** CKD-EPI 2021. */
function estimateFiltration(creatinine: number, { sex, age }: Subject): number {
  const [kappa, alpha, scale] = sex === 'female' ? [0.7, -0.241, 1.012] : [0.9, -0.302, 1]
  const ratio = creatinine / kappa
  return Math.min(140, 142 * Math.min(ratio, 1) ** alpha * Math.max(ratio, 1) ** -1.2 * 0.9938 ** age * scale)
}
