// The candidate orders of a review: the score of each and its reasons. Only reads. Source: lab-testing.md 14; the scores are a choice of
// this project.
import { expectedResults } from '../catalog/lab-tests.ts'
import type { DiagnosticReport, MeasuredAnalyte } from '../links/diagnostic-report.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { expectations, type ExpectedResult } from '../results/expected-results.ts'
import { identifyAnalytes } from '../results/identify-analytes.ts'
import type { IncomingResult } from './incoming-result.ts'
import type { FoundOrder } from './matching-orders.ts'
import type { Candidate, CandidateGroup, ReasonCode } from './schema.ts'

const CANDIDATES_MAX = 20

export interface Provenance {
  lab_id: number
  /** The order with the sample id of the result, if one exists. */
  sample?: FoundOrder | undefined
  /** The laboratory reports a different account than that of the order with the sample id. */
  otherAccount: boolean
}

/** The candidates by user: the order with the sample id first, then those of the patient, newest first; at most 20. */
export async function candidateGroups(
  tx: Tx,
  delivery: IncomingResult,
  provenance: Provenance,
  orders: FoundOrder[],
): Promise<CandidateGroup[]> {
  const overlaps = new Map<string, Overlap>()
  const groups = new Map<string, CandidateGroup>()
  for (const found of orders.slice(0, CANDIDATES_MAX)) {
    const { user_id, lab_test } = found.order
    const overlap =
      overlaps.get(lab_test.id) ?? markerOverlap(delivery.report, expectations(await expectedResults(tx, lab_test.id)))
    overlaps.set(lab_test.id, overlap)
    const group = groups.get(user_id) ?? { user_id, candidates: [] }
    groups.set(user_id, group)
    group.candidates.push(candidate(found, provenance, overlap))
  }
  return [...groups.values()]
}

type Overlap = NonNullable<Candidate['marker_overlap']>

/** The number of expected results, of reported results, and of results that are both. */
function markerOverlap(report: DiagnosticReport, expected: ExpectedResult[]): Overlap {
  const { results, missing } = identifyAnalytes(report, expected)
  const isSame = (a: MeasuredAnalyte, b: MeasuredAnalyte) =>
    (a.slug !== '' && a.slug === b.slug) || (a.provider_id !== null && a.provider_id === b.provider_id)
  const reported: MeasuredAnalyte[] = [...results, ...missing]
  const common = expected.filter((item) => reported.some((result) => isSame(item, result))).length
  return { ordered: expected.length, reported: reported.length, common }
}

function candidate(foundOrder: FoundOrder, provenance: Provenance, overlap: Overlap): Candidate {
  const { order, lowLevelStatus } = foundOrder
  const reasons = reasonCodes(foundOrder, provenance, overlap)
  const score = scoreOf(reasons)
  return {
    candidate_type: foundOrder === provenance.sample ? 'provenance_order' : 'order_option',
    order_id: order.id,
    order_transaction_id: order.order_transaction.id,
    last_status: lowLevelStatus,
    confidence_level: score >= 0.75 ? 'high' : score >= 0.5 ? 'medium' : 'low',
    confidence_score: score,
    reasons,
    marker_overlap: overlap,
    status_context: { status: order.last_event.status, since: order.last_event.created_at },
  }
}

function reasonCodes(foundOrder: FoundOrder, { lab_id, sample, otherAccount }: Provenance, overlap: Overlap): ReasonCode[] {
  const { order, state, patient } = foundOrder
  const isSample = foundOrder === sample
  const sameLab = order.lab_test.lab?.id === lab_id
  const { ordered, reported, common } = overlap
  const rules: [boolean, ReasonCode][] = [
    [isSample, 'sample_id_match'],
    [isSample && otherAccount, 'lab_account_mismatch'],
    [state === 'completed', 'matched_completed_order'],
    [state === 'cancelled', 'matched_cancelled_order'],
    [state === 'early' || state === 'over', 'invalid_collection_state'],
    [patient === 'same', 'demographic_match'],
    [patient !== 'same', 'demographic_mismatch'],
    [!sameLab, 'possible_wrong_lab'],
    [sameLab, 'same_lab'],
    [!isSample && sample?.order.user_id === order.user_id, 'same_user'],
    [common > 0 && common === ordered && common === reported, 'marker_overlap_exact'],
    [common > 0 && !(common === ordered && common === reported), 'marker_overlap_partial'],
    [common === 0, 'marker_overlap_none'],
  ]
  return rules.flatMap(([holds, code]) => (holds ? [code] : []))
}

const weights: Partial<Record<ReasonCode, number>> = {
  sample_id_match: 0.4,
  demographic_match: 0.35,
  same_lab: 0.15,
  marker_overlap_exact: 0.1,
  marker_overlap_partial: 0.05,
  same_user: 0.05,
  demographic_mismatch: -0.2,
  lab_account_mismatch: -0.2,
  matched_completed_order: -0.1,
  matched_cancelled_order: -0.1,
  invalid_collection_state: -0.05,
}

function scoreOf(reasons: ReasonCode[]): number {
  const sum = reasons.reduce((total, code) => total + (weights[code] ?? 0), 0)
  return Math.round(Math.min(1, Math.max(0, sum)) * 100) / 100
}
