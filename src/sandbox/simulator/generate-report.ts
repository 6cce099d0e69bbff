// Reports of the sandbox laboratory. Pure: the same order and flags give the same report, so that snapshots of it stay valid.
// Source: lab-testing.md 24; plausible values are a choice of this project.
import { createHash } from 'node:crypto'
import type { ExpectedMarker } from '../../lab/catalog/analytes.ts'
import type { DiagnosticReport, ReportedResult, ResultType } from '../../lab/links/diagnostic-report.ts'
import type { Interpretation } from '../../lab-values/interpret.ts'
import { ageOn } from '../../platform/runtime/clock.ts'
import type { Order } from '../../lab/orders/schema.ts'
import { expectations, toMeasuredAnalyte, type ExpectedResult } from '../../lab/results/expected-results.ts'
import { computedAnalytes, makeResults, type ResultPlan, type SampledPatient } from './computed-results.ts'
import { seededRandom, isTextual, type GeneratedResult } from './result-values.ts'

export interface ReportFlags {
  interpretation: Interpretation
  /** Types to cycle over; null for the type of each analyte. */
  result_types: ResultType[] | null
  has_missing_results: boolean
  partial: boolean
  amended: boolean
}

/** A result to generate. */
interface Plan extends ResultPlan {
  item: ExpectedResult
}

/** For the computed results of a patient whose age is unknown. */
const UNKNOWN_AGE = 40
/** Share of the other results that are also abnormal if the report is. */
const ABNORMAL_SHARE = 0.15
const MISSING_SHARE = 0.1

/**
 * Generates the report of an order: one result for each expected one. `at` are ISO 8601 instants.
 * Not normal: at least one result has the requested interpretation. Partial: about half of the results. Missing: at least one result is
 * absent and reported as an `unknown_failure`. Amended: one result has another value, and what is computed of it changes with it; nothing
 * changes if no result can have another value.
 */
export function generateReport(
  order: Pick<Order, 'id' | 'sample_id' | 'patient_details'>,
  expected: ExpectedMarker[],
  flags: ReportFlags,
  times: { collected_at: string | null; received_at: string | null; reported_at: string },
): DiagnosticReport {
  const plans = planResults(order.id, expectations(expected), flags)
  const { includedPlans, missingPlans } = selectResults(plans, flags)
  const patient = sampledPatient(order, times.reported_at)
  const made = flags.amended ? measureAgain(plans, includedPlans, patient) : makeResults(plans, patient)
  return {
    status: flags.partial ? 'partial' : 'final',
    amended: flags.amended,
    specimen_number: order.sample_id ?? specimenNumber(order.id),
    collected_at: times.collected_at,
    received_at: times.received_at,
    reported_at: times.reported_at,
    performing_laboratory: null,
    results: includedPlans.map((plan) => toReportedResult(plan, made.get(plan.item.slug)!)),
    missing: missingPlans.map(({ item }) => ({ ...toMeasuredAnalyte(item), failure: 'unknown_failure', note: null })),
  }
}

/** A draw of one analyte gives the same value again in up to one of ten cases. */
const DRAWS_MAX = 10

/** The results of which one differs: the first that can, by priority. */
function measureAgain(
  plans: readonly Plan[],
  includedPlans: readonly Plan[],
  patient: SampledPatient,
): Map<string, GeneratedResult> {
  const first = makeResults(plans, patient)
  const included = new Set(includedPlans)
  for (const { item, seed } of plans.filter((plan) => included.has(plan)))
    for (let draw = 1; draw <= DRAWS_MAX; draw++) {
      const made = makeResults(plans, patient, {
        slug: item.slug,
        seed: draw === 1 ? `${seed} amended` : `${seed} amended ${draw}`,
      })
      if (made.get(item.slug)!.result !== first.get(item.slug)!.result) return made
    }
  return first
}

const specimenNumber = (id: string): string =>
  `S${createHash('sha256').update(`specimen ${id}`).digest('hex').slice(0, 10).toUpperCase()}`

const sampledPatient = ({ patient_details }: Pick<Order, 'patient_details'>, reported_at: string): SampledPatient => ({
  gender: patient_details?.gender ?? 'unknown',
  age: patient_details?.dob ? ageOn(patient_details.dob, reported_at.slice(0, 10)) : UNKNOWN_AGE,
})

const toReportedResult = ({ item, type }: Plan, result: GeneratedResult): ReportedResult => ({
  ...toMeasuredAnalyte(item),
  type,
  ...result,
  notes: null,
})

/**
 * Every expected result with its type and interpretation; results best suited to be abnormal come first, and those that are computed of
 * others last.
 */
function planResults(order_id: string, items: ExpectedResult[], flags: ReportFlags): (Plan & { place: number })[] {
  const types = chooseTypes(items, flags.result_types)
  const computed = computedAnalytes(items.map((item, place) => ({ item, type: types[place]! })))
  const priority = (plan: { item: ExpectedResult; type: ResultType }) =>
    computed.has(plan.item.slug) ? COMPUTED_LAST : planPriority(plan)
  const plans = items.map((item, place) => {
    const seed = `${order_id} ${item.slug}`
    return { item, place, type: types[place]!, seed, draw: seededRandom(`rank ${seed}`)() }
  })
  return plans
    .sort((a, b) => priority(a) - priority(b) || a.draw - b.draw)
    .map(({ item, place, type, seed, draw: random }, rank) => ({
      item,
      place,
      type,
      kind: interpretationFor(flags.interpretation, rank === 0, random),
      seed,
    }))
}

/** The requested types in turn; without any, each analyte's type in the catalog, as a laboratory would report it. */
function chooseTypes(items: ExpectedResult[], allowedTypes: ResultType[] | null): ResultType[] {
  if (allowedTypes?.length) return items.map((_, i) => allowedTypes[i % allowedTypes.length]!)
  return items.map(({ definition }) => definition?.type ?? 'comment')
}

/** After every other priority. */
const COMPUTED_LAST = 99

/** Numbers come first, because they can be out of range; those with critical limits before others. Optional results come last. */
function planPriority({ item, type }: { item: ExpectedResult; type: ResultType }): number {
  const { definition, required } = item
  const measured = (type === 'numeric' || type === 'range') && !isTextual(definition)
  const limits = definition?.critical_high != null || definition?.critical_low != null
  return (required ? 0 : 8) + (measured ? (type === 'numeric' ? 0 : 1) + (limits ? 0 : 2) : 4)
}

function interpretationFor(whole: Interpretation, first: boolean, random: number): Interpretation {
  if (first) return whole
  const mixed = whole === 'abnormal' || whole === 'critical'
  return mixed && random < ABNORMAL_SHARE ? 'abnormal' : 'normal'
}

/** Returns the reported and the missing results, both in expected order; the first result is the last to be removed. */
function selectResults(plans: (Plan & { place: number })[], flags: ReportFlags): { includedPlans: Plan[]; missingPlans: Plan[] } {
  const required = plans.filter(({ item }) => item.required)
  const candidates = required.length > 0 ? required : plans
  const count = flags.has_missing_results ? Math.max(1, Math.floor(candidates.length * MISSING_SHARE)) : 0
  const missing = new Set(candidates.slice(Math.max(0, candidates.length - count)))
  const there = plans.filter((plan) => !missing.has(plan))
  const chosen = new Set(flags.partial ? there.slice(0, Math.ceil(plans.length / 2)) : there)
  const inOrder = plans.toSorted((a, b) => a.place - b.place)
  return { includedPlans: inOrder.filter((plan) => chosen.has(plan)), missingPlans: inOrder.filter((plan) => missing.has(plan)) }
}
