import { Interpretation } from '../orders/schema.ts'
import {
  DateOnly,
  Fields,
  Int,
  Maybe,
  Nullable,
  OpenEnum,
  T,
  Text,
  Timestamp,
  Uuid,
  type Static,
} from '../../platform/schema/schema.ts'

/** The reasons for a review. */
export const reviewCodes = [
  'match_completed',
  'match_cancelled',
  'wrong_collection',
  'wrong_lab',
  'multiple_demo_match',
  'match_sample_id_mismatch_demo',
  'match_demo',
  'no_match',
] as const
const decisionCodes = ['match_sample_id', ...reviewCodes] as const
export type DecisionCode = (typeof decisionCodes)[number]

const reviewStatuses = ['matched', 'pending_customer_review', 'pending_ops_review', 'resolved'] as const
export type ReviewStatus = (typeof reviewStatuses)[number]
const actions = ['accept', 'reject', 'unsure'] as const
export type Action = (typeof actions)[number]

const reasonCodes = [
  'sample_id_match',
  'lab_account_mismatch',
  'matched_completed_order',
  'matched_cancelled_order',
  'invalid_collection_state',
  'demographic_mismatch',
  'demographic_match',
  'possible_wrong_lab',
  'same_lab',
  'same_user',
  'marker_overlap_exact',
  'marker_overlap_partial',
  'marker_overlap_none',
] as const
export type ReasonCode = (typeof reasonCodes)[number]

const DecisionCodeShape = OpenEnum(decisionCodes)
const nullableText = Nullable(T.String())

export const Candidate = Fields(
  {
    candidate_type: OpenEnum(['provenance_order', 'order_option'], {
      description: '`provenance_order`: the order with the sample id of the result.',
    }),
    order_id: Nullable(Uuid),
    order_transaction_id: Nullable(Uuid),
    last_status: nullableText,
    confidence_level: OpenEnum(['high', 'medium', 'low']),
    confidence_score: Nullable(T.Number({ description: 'From 0 to 1.' })),
    reasons: T.Array(OpenEnum(reasonCodes)),
    marker_overlap: Nullable(Fields({ ordered: T.Integer(), reported: T.Integer(), common: T.Integer() })),
    status_context: Nullable(Fields({ status: T.String(), since: Timestamp }, { description: 'When the result arrived.' })),
  },
  { title: 'MatchReviewCandidate' },
)
export type Candidate = Static<typeof Candidate>

export const CandidateGroup = Fields(
  { user_id: Nullable(Uuid), candidates: T.Array(Candidate) },
  { title: 'MatchReviewCandidateGroup' },
)
export type CandidateGroup = Static<typeof CandidateGroup>

export const UnmatchedResult = Fields(
  {
    id: Uuid,
    status: OpenEnum(reviewStatuses),
    decision_code: DecisionCodeShape,
    sub_reason_codes: T.Array(OpenEnum(['lab_account_mismatch'])),
    reason: T.String(),
    patient: Nullable(
      Fields(
        { first_name: nullableText, last_name: nullableText, dob: Nullable(DateOnly), gender: nullableText },
        { title: 'MatchReviewPatient', description: 'The patient as reported by the laboratory.' },
      ),
    ),
    lab: Fields({ id: T.Integer(), name: T.String(), slug: T.String() }, { title: 'MatchReviewLab' }),
    markers: T.Array(Fields({ provider_id: nullableText, name: nullableText }, { title: 'MatchReviewMarker' })),
    interpretation: Nullable(Interpretation),
    result_status: Nullable(OpenEnum(['final', 'partial'])),
    note: nullableText,
    resolution_action: Nullable(OpenEnum(actions)),
    resolved_user_id: Nullable(Uuid),
    resolved_order_id: Nullable(Uuid),
    allowed_actions: T.Array(OpenEnum(actions)),
    candidate_groups: T.Array(CandidateGroup),
    created_at: Timestamp,
    updated_at: Timestamp,
    reviewed_at: Nullable(Timestamp),
  },
  { title: 'UnmatchedResult' },
)
export type UnmatchedResult = Static<typeof UnmatchedResult>

export const UnmatchedResultPage = Fields(
  { data: T.Array(UnmatchedResult), next_cursor: nullableText, total: T.Integer() },
  { title: 'ListUnmatchedResultResponse' },
)
export type UnmatchedResultPage = Static<typeof UnmatchedResultPage>

export const UnmatchedResultQuery = Fields({
  limit: Maybe(Int({ minimum: 1, maximum: 100, default: 50 })),
  next_cursor: Maybe(Text({ maxLength: 1000 })),
  decision_code: Maybe(DecisionCodeShape),
  lab_slug: Maybe(Text({ minLength: 1, maxLength: 100 })),
  status: Maybe(OpenEnum(['pending_customer_review', 'pending_ops_review', 'resolved'])),
  created_at_start: Maybe(DateOnly),
  created_at_end: Maybe(DateOnly),
  search_input: Maybe(
    Text({ minLength: 1, maxLength: 200, description: 'A part of the name of the patient, or of the date of birth.' }),
  ),
})
export type UnmatchedResultQuery = Static<typeof UnmatchedResultQuery>

const note = Maybe(Text({ maxLength: 2000 }))

export const AcceptUnmatchedResult = Fields(
  { order_id: Maybe(Uuid), user_id: Maybe(Uuid), note },
  { title: 'AcceptUnmatchedResultBody' },
)
export type AcceptUnmatchedResult = Static<typeof AcceptUnmatchedResult>

export const ResolveUnmatchedResult = Fields(
  { action: OpenEnum(['reject', 'unsure']), note },
  { title: 'ResolveUnmatchedResultBody' },
)
export type ResolveUnmatchedResult = Static<typeof ResolveUnmatchedResult>

export const RejectUnmatchedResult = Fields({ note }, { title: 'RejectUnmatchedResultBody' })
export const ReleaseUnmatchedResult = Fields({ note }, { title: 'ReleaseUnmatchedResultBody' })
