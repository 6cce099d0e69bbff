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
  const wanted = new Set(keys.flatMap((key) => [key, ...(calculated[key]?.sources ?? [])]))
  for (const key of wanted) {
    const analyte = analyteOf(key)
    if (analyte.kind !== 'number' || calculated[key]) continue
    const before = previous?.get(key)
    values.set(key, before === undefined ? draw(analyte, subject, random) : before * (1 + random.gaussian() * 0.06))
  }
  if (wanted.has('neutrophils_pct') || wanted.has('neutrophils_abs')) balanceDifferential(values)
  for (const key of Object.keys(calculated)) {
    const { sources, value } = calculated[key]!
    if (wanted.has(key) && sources.every((part) => values.has(part)))
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
  if (place < SHARES.normal) return min + width * random.float(0.08, 0.92)
  const distance = stretch * (place < SHARES.normal + SHARES.outside ? random.float(0.08, 0.5) : random.float(FAR, 1.4))
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
  sources: string[]
  value: (get: (key: string) => number, subject: Subject) => number
}

const WHITE = ['wbc', 'neutrophils_pct', 'lymphocytes_pct', 'monocytes_pct', 'eosinophils_pct', 'basophils_pct']
const absolute = (share: string): Calculated => ({ sources: WHITE, value: (get) => (get('wbc') * get(share)) / 100 })

/** In an order in which each one finds its parts. */
const calculated: Record<string, Calculated> = {
  hematocrit: { sources: ['hemoglobin'], value: (get) => get('hemoglobin') * 2.95 },
  // Cells of different size, from person to person.
  rbc: { sources: ['hemoglobin'], value: (get, { age }) => get('hemoglobin') / (2.8 + (age % 9) * 0.05) },
  mcv: { sources: ['hemoglobin', 'rbc'], value: (get) => (get('hemoglobin') * 29.5) / get('rbc') },
  mch: { sources: ['hemoglobin', 'rbc'], value: (get) => (get('hemoglobin') * 10) / get('rbc') },
  mchc: { sources: ['hemoglobin', 'hematocrit'], value: (get) => (get('hemoglobin') * 100) / get('hematocrit') },
  neutrophils_abs: absolute('neutrophils_pct'),
  lymphocytes_abs: absolute('lymphocytes_pct'),
  monocytes_abs: absolute('monocytes_pct'),
  eosinophils_abs: absolute('eosinophils_pct'),
  basophils_abs: absolute('basophils_pct'),
  bun_creatinine: { sources: ['bun', 'creatinine'], value: (get) => get('bun') / get('creatinine') },
  urea: { sources: ['bun'], value: (get) => get('bun') * 2.14 },
  egfr: { sources: ['creatinine'], value: (get, subject) => estimateFiltration(get('creatinine'), subject) },
  anion_gap: { sources: ['sodium', 'chloride', 'co2'], value: (get) => get('sodium') - get('chloride') - get('co2') },
  globulin: { sources: ['protein_total', 'albumin'], value: (get) => Math.max(1.2, get('protein_total') - get('albumin')) },
  ag_ratio: { sources: ['albumin', 'protein_total', 'globulin'], value: (get) => get('albumin') / get('globulin') },
  bilirubin_direct: { sources: ['bilirubin_total'], value: (get) => get('bilirubin_total') * 0.22 },
  bilirubin_indirect: {
    sources: ['bilirubin_total', 'bilirubin_direct'],
    value: (get) => get('bilirubin_total') - get('bilirubin_direct'),
  },
  vldl: { sources: ['triglycerides'], value: (get) => get('triglycerides') / 5 },
  ldl: {
    sources: ['cholesterol', 'hdl', 'triglycerides'],
    value: (get) => Math.max(25, get('cholesterol') - get('hdl') - get('triglycerides') / 5),
  },
  non_hdl: { sources: ['cholesterol', 'hdl'], value: (get) => get('cholesterol') - get('hdl') },
  chol_hdl: { sources: ['cholesterol', 'hdl'], value: (get) => get('cholesterol') / get('hdl') },
  transferrin_saturation: { sources: ['iron', 'tibc'], value: (get) => (100 * get('iron')) / get('tibc') },
  eag: { sources: ['hba1c'], value: (get) => 28.7 * get('hba1c') - 46.7 },
  inr: { sources: ['pt'], value: (get) => get('pt') / 10.8 },
  psa_free: { sources: ['psa'], value: (get) => get('psa') * 0.22 },
  acr: { sources: ['urine_albumin', 'urine_creatinine'], value: (get) => (get('urine_albumin') * 100) / get('urine_creatinine') },
}

/** CKD-EPI 2021. */
function estimateFiltration(creatinine: number, { sex, age }: Subject): number {
  const [kappa, alpha, scale] = sex === 'female' ? [0.7, -0.241, 1.012] : [0.9, -0.302, 1]
  const ratio = creatinine / kappa
  return Math.min(140, 142 * Math.min(ratio, 1) ** alpha * Math.max(ratio, 1) ** -1.2 * 0.9938 ** age * scale)
}
