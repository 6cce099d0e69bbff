// The table raw_result: incoming results as received, and their outcome. Makes no decisions.
import { mostSevere } from '../../lab-values/interpret.ts'
import { judgeResult, patientOn } from '../results/judge-result.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { hasFeature } from '../../platform/http/feature-flags.ts'
import { emit, eraseObjectEvents } from '../../platform/queue/outbox.ts'
import { Nullable, T, Timestamp, type Static } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { unmatchedResults } from './features.ts'
import type { Ambiguity } from './match.ts'
import type { IncomingResult, ReceivedResult } from './incoming-result.ts'
import type { Action, CandidateGroup, DecisionCode, ReviewStatus, UnmatchedResult } from './schema.ts'

const nullableText = Nullable(T.String())

export const RawResult = T.Object({
  id: T.String(),
  lab: T.Object({ id: T.Integer(), name: T.String(), slug: T.String() }),
  payload: T.String(),
  status: T.Unsafe<ReviewStatus>({ type: 'string' }),
  decision_code: T.Unsafe<DecisionCode>({ type: 'string' }),
  sub_reason_codes: T.Array(T.Literal('lab_account_mismatch')),
  candidates: T.String(),
  visible_to_team: T.Boolean(),
  note: nullableText,
  resolution_action: Nullable(T.Unsafe<Action>({ type: 'string' })),
  resolved_user_id: nullableText,
  resolved_order_id: nullableText,
  created_at: Timestamp,
  updated_at: Timestamp,
  reviewed_at: Nullable(Timestamp),
})
export type RawResult = Static<typeof RawResult>

/** A select of raw results `r`, without conditions. */
export const selectRawResults: Sql = sql`
  select r.id, json_build_object('id', l.id, 'name', l.name, 'slug', l.slug) as lab, r.payload, r.status, r.decision_code,
         r.sub_reason_codes, r.candidates, r.visible_to_team, r.note, r.resolution_action, r.resolved_user_id, r.resolved_order_id, r.created_at,
         r.updated_at, r.reviewed_at
  from raw_result r join lab l on l.id = r.lab_id`

/** The text by which a review is searched: `testa fictional 1990-01-31`. */
export const searchText = ({ patient }: IncomingResult): string =>
  [patient?.first_name, patient?.last_name, patient?.dob].filter(Boolean).join(' ').toLowerCase()

/** Records that the result matched an order. Writes raw_result. */
export const markMatched = (tx: Tx, id: string, match: { order_id: string; user_id: string }): void =>
  tx.defer(sql`
    update raw_result
    set status = 'matched', decision_code = 'match_sample_id', candidate_user_ids = array[${match.user_id}::uuid], resolved_user_id = ${match.user_id},
        resolved_order_id = ${match.order_id}, pdfs = '{}', updated_at = ${tx.now}
    where id = ${id} and team_id = ${tx.team}`)

/**
 * Opens a review. The team's reviewers see it if the team has that feature, else only the operator does.
 * Writes raw_result. Emits labtest.match_review.created to a team that sees it.
 */
export function openReview(
  tx: Tx,
  id: string,
  { code, sub_reason_codes, groups }: Ambiguity,
  pdfs: ReceivedResult['pdfs'],
): ReviewStatus {
  const visibleToTeam = hasFeature(tx.tenant, unmatchedResults)
  const status = visibleToTeam ? 'pending_customer_review' : 'pending_ops_review'
  const users = groups.flatMap(({ user_id }) => (user_id === null ? [] : [user_id]))
  tx.defer(sql`
    update raw_result
    set status = ${status}, decision_code = ${code}, sub_reason_codes = ${sub_reason_codes}::text[], candidates = ${JSON.stringify(groups)},
        candidate_user_ids = ${users}::uuid[], visible_to_team = ${visibleToTeam}, pdfs = ${pdfs}::bytea[], updated_at = ${tx.now}
    where id = ${id} and team_id = ${tx.team}`)
  const none = { resolution_action: null, resolved_user_id: null, resolved_order_id: null }
  if (visibleToTeam) emitReviewEvent(tx, 'created', { id, status, decision_code: code, sub_reason_codes, ...none })
  return status
}

type ReviewEventFields = Pick<
  RawResult,
  'id' | 'status' | 'decision_code' | 'sub_reason_codes' | 'resolution_action' | 'resolved_user_id' | 'resolved_order_id'
>

/** Emits an event about a review. The patient is not certain, so the event names no user. Emits labtest.match_review.*. */
function emitReviewEvent(tx: Tx, change: 'created' | 'updated', review: ReviewEventFields): void {
  const { id, status, decision_code, sub_reason_codes, resolution_action, resolved_user_id, resolved_order_id } = review
  const data = { id, status, decision_code, sub_reason_codes, resolution_action, resolved_user_id, resolved_order_id }
  const type = change === 'created' ? 'labtest.match_review.created' : 'labtest.match_review.updated'
  emit(tx, { type, object_id: id, user_id: null, client_user_id: null, data: JSON.stringify(data) })
}

/**
 * Writes a reviewer's decision; `visible_to_team`: the team sees the review from now on. Writes raw_result.
 * Emits labtest.match_review.created when the team first sees the review, labtest.match_review.updated later, nothing before.
 */
export function saveReview(tx: Tx, review: RawResult, change: Partial<RawResult>): RawResult {
  const after = { ...review, ...change, updated_at: iso(tx.now) }
  const users = after.resolved_user_id === null ? sql`candidate_user_ids` : sql`array[${after.resolved_user_id}::uuid]`
  tx.defer(sql`
    update raw_result
    set status = ${after.status}, note = ${after.note}, resolution_action = ${after.resolution_action}, candidate_user_ids = ${users},
        resolved_user_id = ${after.resolved_user_id}, resolved_order_id = ${after.resolved_order_id}, visible_to_team = ${after.visible_to_team},
        reviewed_at = ${after.reviewed_at}, pdfs = case when ${after.status === 'resolved'} then '{}' else pdfs end, updated_at = ${tx.now}
    where id = ${after.id} and team_id = ${tx.team}`)
  if (after.visible_to_team) emitReviewEvent(tx, review.visible_to_team ? 'updated' : 'created', after)
  return after
}

const Pdfs = T.Object({ pdfs: T.Array(Nullable(T.Unsafe<Buffer>({}))) })

/** The laboratory's own documents of a result that awaits a decision. */
export const findReviewPdfs = async (tx: Tx, id: string): Promise<ReceivedResult['pdfs']> =>
  (await tx.one(Pdfs, sql`select pdfs from raw_result where id = ${id} and team_id = ${tx.team}`)).pdfs

const reasonTexts: Record<DecisionCode, string> = {
  match_sample_id: 'An order has this sample.',
  match_completed: 'The order of this sample already has its final result, or a newer one.',
  match_cancelled: 'The order of this sample was cancelled.',
  wrong_collection: 'No collection was reported for the order of this sample, or the order failed.',
  wrong_lab: 'The patient has an open order at another laboratory.',
  multiple_demo_match: 'Several users have orders of a patient with this name and date of birth.',
  match_sample_id_mismatch_demo:
    'The order of this sample belongs to another patient, or the report has too little patient data.',
  match_demo: 'The patient is known, but not the order.',
  no_match: 'No order has this sample, and no patient has this name and date of birth.',
}

const reasonOf = ({ decision_code, sub_reason_codes }: RawResult): string =>
  [reasonTexts[decision_code], ...(sub_reason_codes.length ? ['The laboratory names another account.'] : [])].join(' ')

const MARKERS_MAX = 500

/** A raw result as reviewers see it. `statuses`: the existing candidate orders with their present low-level status. */
export function reviewToWire(raw: RawResult, statuses: ReadonlyMap<string, string>): UnmatchedResult {
  const { patient, report } = JSON.parse(raw.payload) as IncomingResult
  const judgedPatient = patientOn(patient ?? {}, (report.collected_at ?? report.reported_at).slice(0, 10))
  const groups = (JSON.parse(raw.candidates) as CandidateGroup[]).map(({ user_id, candidates }) => ({
    user_id,
    candidates: candidates.flatMap((candidate) => {
      const last_status = statuses.get(candidate.order_id ?? '')
      return last_status === undefined ? [] : [{ ...candidate, last_status }]
    }),
  }))
  return {
    id: raw.id,
    status: raw.status,
    decision_code: raw.decision_code,
    sub_reason_codes: raw.sub_reason_codes,
    reason: reasonOf(raw),
    patient: patient && {
      first_name: patient.first_name,
      last_name: patient.last_name,
      dob: patient.dob,
      gender: patient.gender,
    },
    lab: raw.lab,
    markers: markersOf(report),
    interpretation: mostSevere([
      ...(report.interpretation ? [report.interpretation] : []),
      ...report.results.map((item) => judgeResult(item, judgedPatient).interpretation),
    ]),
    result_status: report.status,
    note: raw.note,
    resolution_action: raw.resolution_action,
    resolved_user_id: raw.resolved_user_id,
    resolved_order_id: raw.resolved_order_id,
    allowed_actions: raw.status === 'pending_customer_review' ? ['accept', 'reject', 'unsure'] : [],
    candidate_groups: groups.filter(({ candidates }) => candidates.length > 0),
    created_at: raw.created_at,
    updated_at: raw.updated_at,
    reviewed_at: raw.reviewed_at,
  }
}

/** The tested markers as the link names them, else the results themselves. Each once. */
function markersOf({ results, missing }: IncomingResult['report']): UnmatchedResult['markers'] {
  const all = [...results, ...missing].flatMap(
    ({ source_markers, provider_id, name }) => source_markers ?? [{ provider_id, name }],
  )
  const once = new Map(all.map(({ provider_id, name }) => [`${provider_id} ${name}`, { provider_id, name }]))
  return [...once.values()].slice(0, MARKERS_MAX)
}

/**
 * Deletes incoming results that can only belong to the user, with their events, which name no user. If other users are possible, removes
 * the user's orders from the candidates. Writes raw_result, event.
 */
export async function eraseRawResults(tx: Tx, user_id: string): Promise<void> {
  const about = sql`
    select id from raw_result_of_team where candidate_user_ids = array[${user_id}::uuid] and team_id = ${tx.team}`
  await eraseObjectEvents(tx, about)
  await tx.run(sql`
    with about as materialized (${about})
    delete from raw_result r using about where r.id = about.id and r.team_id = ${tx.team}`)
  await tx.run(sql`
    update raw_result
    set candidate_user_ids = array_remove(candidate_user_ids, ${user_id}::uuid), updated_at = ${tx.now},
        candidates = (
          select coalesce(json_agg(g), '[]')::text from json_array_elements(candidates::json) g
          where g ->> 'user_id' is distinct from ${user_id}::text)
    where team_id = ${tx.team} and status <> 'matched' and cardinality(candidate_user_ids) > 1
      and candidate_user_ids @> array[${user_id}::uuid]`)
}
