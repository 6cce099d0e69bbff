// Results that laboratories compute of others, or that follow from others in a body: LDL cholesterol of total, HDL and triglycerides, the
// differential of white cells. Pure; the same plans give the same results.
import type { AnalyteDefinition } from '../../lab/catalog/analytes.ts'
import type { ResultType } from '../../lab/links/diagnostic-report.ts'
import type { Interpretation } from '../../lab-values/interpret.ts'
import { isTextual, makeResult, resultOfNumber, seededRandom, type GeneratedResult } from './result-values.ts'

/** A result to make: what it is, and how it is to be interpreted. */
export interface ResultPlan {
  item: { slug: string; definition: AnalyteDefinition | null }
  type: ResultType
  kind: Interpretation
  seed: string
}

export interface SampledPatient {
  gender: string
  /** Whole years. */
  age: number
}

/** How a value follows from others, in the units of the catalog. `least`: a lower value is not plausible. */
interface Computation {
  slug: string
  inputSlugs: readonly string[]
  value(inputs: number[], patient: SampledPatient): number
  least?: number
}

const createComputation = (
  slug: string,
  slugs: string,
  value: (inputs: number[], patient: SampledPatient) => number,
  least = 0,
): Computation => ({ slug, inputSlugs: slugs.split(' '), value, least })

/** CKD-EPI 2021, without race. Source: Inker et al., N Engl J Med 2021; 385:1737. */
function filtrationRate(creatinine: number, { gender, age }: SampledPatient): number {
  const female = gender === 'female'
  const ratio = creatinine / (female ? 0.7 : 0.9)
  const filtered = 142 * Math.min(ratio, 1) ** (female ? -0.241 : -0.302) * Math.max(ratio, 1) ** -1.2
  return filtered * 0.9938 ** age * (female ? 1.012 : 1)
}

const percentOf = (name: string) =>
  createComputation(`${name}-absolute`, `wbc ${name}-percent`, ([wbc, percent]) => (wbc! * percent!) / 100)
const remainder = (slugs: string) =>
  createComputation('neutrophils-percent', slugs, (shares) => 100 - shares.reduce((sum, share) => sum + share, 0), 5)

/**
 * Each group is drawn as a whole. A computation follows those of its inputs; of two for one analyte the first whose inputs are reported
 * is used. Fasting glucose and A1c are related by the average glucose of Nathan et al., Diabetes Care 2008; 31:1473, which is a tenth above
 * the fasting one here.
 */
const GROUPS: readonly (readonly Computation[])[] = [
  [
    createComputation(
      'ldl-cholesterol',
      'cholesterol-total hdl-cholesterol triglycerides',
      ([total, hdl, fat]) => total! - hdl! - fat! / 5,
      30,
    ),
    createComputation(
      'ldl-cholesterol-direct',
      'cholesterol-total hdl-cholesterol triglycerides',
      ([total, hdl, fat]) => total! - hdl! - fat! / 5,
      30,
    ),
    createComputation('non-hdl-cholesterol', 'cholesterol-total hdl-cholesterol', ([total, hdl]) => total! - hdl!, 40),
    createComputation('vldl-cholesterol', 'triglycerides', ([fat]) => fat! / 5),
    createComputation('cholesterol-hdl-ratio', 'cholesterol-total hdl-cholesterol', ([total, hdl]) => total! / hdl!),
  ],
  [
    createComputation('hemoglobin-a1c', 'glucose', ([glucose]) => (1.1 * glucose! + 46.7) / 28.7, 3.5),
    createComputation('estimated-average-glucose', 'hemoglobin-a1c', ([a1c]) => 28.7 * a1c! - 46.7, 40),
    createComputation('homa-ir', 'glucose insulin', ([glucose, insulin]) => (glucose! * insulin!) / 405),
  ],
  [
    createComputation('egfr', 'creatinine', ([creatinine], patient) => filtrationRate(creatinine!, patient), 2),
    createComputation('bun-creatinine-ratio', 'bun creatinine', ([bun, creatinine]) => bun! / creatinine!, 1),
  ],
  [
    createComputation('globulin', 'total-protein albumin', ([protein, albumin]) => protein! - albumin!, 0.5),
    createComputation('albumin-globulin-ratio', 'albumin globulin', ([albumin, globulin]) => albumin! / globulin!),
  ],
  [createComputation('bilirubin-indirect', 'bilirubin-total bilirubin-direct', ([total, direct]) => total! - direct!)],
  [
    createComputation(
      'anion-gap',
      'sodium chloride carbon-dioxide',
      ([sodium, chloride, carbonate]) => sodium! - chloride! - carbonate!,
      1,
    ),
  ],
  [
    createComputation('hematocrit', 'hemoglobin mchc', ([hemoglobin, mchc]) => (hemoglobin! * 100) / mchc!, 8),
    createComputation('rbc', 'hematocrit mcv', ([hematocrit, mcv]) => (hematocrit! * 10) / mcv!, 0.8),
    createComputation('mch', 'hemoglobin rbc', ([hemoglobin, rbc]) => (hemoglobin! * 10) / rbc!, 10),
  ],
  [
    remainder('lymphocytes-percent monocytes-percent eosinophils-percent basophils-percent immature-granulocytes-percent'),
    remainder('lymphocytes-percent monocytes-percent eosinophils-percent basophils-percent'),
    ...['neutrophils', 'lymphocytes', 'monocytes', 'eosinophils', 'basophils', 'immature-granulocytes'].map(percentOf),
  ],
  [
    createComputation('uibc', 'tibc iron', ([tibc, iron]) => tibc! - iron!, 10),
    createComputation('iron-saturation', 'iron tibc', ([iron, tibc]) => (iron! / tibc!) * 100, 1),
  ],
  [createComputation('apob-apoa1-ratio', 'apolipoprotein-b apolipoprotein-a1', ([b, a]) => b! / a!)],
  [createComputation('psa-percent-free', 'psa-free psa-total', ([free, total]) => (free! / total!) * 100, 1)],
  [createComputation('free-thyroxine-index', 'total-t4 t3-uptake', ([t4, uptake]) => (t4! * uptake!) / 100)],
]

/** Draws until every value of a group is plausible; in the shipped catalog most need fewer than ten. */
const DRAWS_MAX = 1000

/** The computations of each group whose inputs are all among the reported numbers. */
function computationsAmong(numbers: ReadonlySet<string>): Computation[][] {
  return GROUPS.map((group) => {
    const possible = group.filter(({ slug, inputSlugs }) => numbers.has(slug) && inputSlugs.every((input) => numbers.has(input)))
    return possible.filter(({ slug }, index) => possible.findIndex((candidate) => candidate.slug === slug) === index)
  }).filter((group) => group.length > 0)
}

const isNumber = ({ item, type }: Pick<ResultPlan, 'item' | 'type'>): boolean => type === 'numeric' && !isTextual(item.definition)
const numbersOf = (plans: readonly Pick<ResultPlan, 'item' | 'type'>[]) =>
  new Set(plans.filter(isNumber).map(({ item }) => item.slug))

/** The analytes whose values follow from others of these results. */
export const computedAnalytes = (plans: readonly Pick<ResultPlan, 'item' | 'type'>[]): ReadonlySet<string> =>
  new Set(computationsAmong(numbersOf(plans)).flatMap((group) => group.map(({ slug }) => slug)))

/**
 * Makes the result of each plan, by analyte, so that numbers agree with each other. A computed one has the flag of its value, whatever its
 * plan says: none if all that it is computed of is normal, and no critical one unless one of these is critical.
 * @param remeasurement the analyte that is measured again, with its seed: the others keep their values
 */
export function makeResults(
  plans: readonly ResultPlan[],
  patient: SampledPatient,
  remeasurement?: { slug: string; seed: string },
): Map<string, GeneratedResult> {
  const bySlug = new Map(plans.map((plan) => [plan.item.slug, plan]))
  const made = new Map<string, GeneratedResult>()
  for (const computations of computationsAmong(numbersOf(plans))) {
    const group = drawGroup(computations, bySlug, patient, undefined)
    const measuredAgain =
      group &&
      remeasurement &&
      group.has(remeasurement.slug) &&
      drawGroup(computations, bySlug, patient, { ...remeasurement, group })
    for (const [slug, result] of measuredAgain || group || []) made.set(slug, result)
  }
  for (const { item, type, kind, seed } of plans) {
    if (made.has(item.slug)) continue
    const own = remeasurement?.slug === item.slug ? remeasurement.seed : seed
    made.set(item.slug, makeResult(item, type, kind, patient.gender, seededRandom(own)))
  }
  return made
}

interface Remeasurement {
  slug: string
  seed: string
  /** The results of the first measurement. */
  group: ReadonlyMap<string, GeneratedResult>
}

/** Results of one group that agree; undefined if none are found, which other limits than those of the shipped catalog can cause. */
function drawGroup(
  computations: readonly Computation[],
  plans: ReadonlyMap<string, ResultPlan>,
  patient: SampledPatient,
  remeasurement: Remeasurement | undefined,
): Map<string, GeneratedResult> | undefined {
  const computed = new Set(computations.map(({ slug }) => slug))
  const measured = [...new Set(computations.flatMap(({ inputSlugs }) => inputSlugs))].filter((slug) => !computed.has(slug))
  const kinds = new Set(measured.map((slug) => plans.get(slug)!.kind))
  const allowed: Interpretation[] = kinds.has('critical')
    ? ['normal', 'abnormal', 'critical']
    : kinds.has('abnormal')
      ? ['normal', 'abnormal']
      : ['normal']
  for (let draw = 0; draw < DRAWS_MAX; draw++) {
    const results = new Map<string, GeneratedResult>()
    for (const slug of measured) {
      const { item, type, kind, seed } = plans.get(slug)!
      const own = remeasurement?.slug === slug ? remeasurement.seed : seed
      const kept = remeasurement && remeasurement.slug !== slug ? remeasurement.group.get(slug) : undefined
      results.set(slug, kept ?? makeResult(item, type, kind, patient.gender, seededRandom(draw === 0 ? own : `${own} ${draw}`)))
    }
    if (computations.every((computation) => compute(computation, results, plans, patient, allowed))) return results
  }
  return undefined
}

/** Adds a computed result; returns whether it is plausible and may be interpreted so. */
function compute(
  { slug, inputSlugs, value, least = 0 }: Computation,
  results: Map<string, GeneratedResult>,
  plans: ReadonlyMap<string, ResultPlan>,
  patient: SampledPatient,
  allowedFlags: readonly Interpretation[],
): boolean {
  const inputs = inputSlugs.map((input) => Number(results.get(input)!.result))
  const { kind, ...result } = resultOfNumber(plans.get(slug)!.item.definition!, value(inputs, patient), patient.gender)
  results.set(slug, result)
  return Number(result.result) >= least && allowedFlags.includes(kind)
}
