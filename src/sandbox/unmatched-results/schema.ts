import { Interpretation } from '../../lab/orders/schema.ts'
import { Fields, Maybe, Nullable, OpenEnum, T, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { unmatchedResultTestCases } from './cases.ts'

const Case = OpenEnum(unmatchedResultTestCases)
const Source = OpenEnum(['managed', 'provided'])
const ResultStatus = OpenEnum(['final', 'partial'])
const Status = OpenEnum(['queued', 'running', 'succeeded', 'failed'])

/** In the order in which a run passes them. */
export const stages = [
  'validating',
  'selecting_configuration',
  'creating_orders',
  'transitioning_orders',
  'writing_result',
  'matching_result',
  'verifying_review',
] as const
export type Stage = (typeof stages)[number]

export const CreateUnmatchedResultTest = Fields(
  {
    case: Case,
    order_source: Source,
    orders: Maybe(T.Record(T.String({ maxLength: 50 }), Uuid, { description: 'By role; only with the source `provided`.' })),
    result_status: Maybe(ResultStatus),
    interpretation: Maybe(Interpretation),
    lab_test_id: Maybe(Uuid),
    wrong_lab_test_id: Maybe(Uuid),
  },
  { title: 'CreateUnmatchedResultTestBody', additionalProperties: false },
)
export type CreateUnmatchedResultTest = Static<typeof CreateUnmatchedResultTest>

export const UnmatchedResultTestStarted = Fields({ run_id: Uuid, status: Status }, { title: 'CreateUnmatchedResultTestResponse' })

const Artifact = Fields(
  { order_id: Uuid, user_id: Uuid, order_transaction_id: Uuid },
  { title: 'UnmatchedResultTestOrderArtifact' },
)
export type Artifact = Static<typeof Artifact>

export const UnmatchedResultTest = Fields(
  {
    run_id: Uuid,
    status: Status,
    stage: OpenEnum(['queued', ...stages, 'succeeded', 'failed']),
    case: Case,
    order_source: Source,
    result_status: ResultStatus,
    orders: T.Record(T.String(), Artifact),
    raw_result_id: Nullable(Uuid),
    error: Nullable(Fields({ code: T.String(), message: T.String() }, { title: 'UnmatchedResultTestFailure' })),
    created_at: Timestamp,
    updated_at: Timestamp,
    started_at: Nullable(Timestamp),
    completed_at: Nullable(Timestamp),
  },
  { title: 'GetUnmatchedResultTestResponse' },
)
export type UnmatchedResultTest = Static<typeof UnmatchedResultTest>

export const UnmatchedResultTestCases = Fields(
  {
    data: T.Array(
      Fields(
        {
          case: Case,
          order_roles: T.Array(T.String()),
          required_statuses: T.Record(T.String(), T.String({ description: 'A low-level status.' })),
          lab_constraints: T.Array(T.String({ description: 'The slug of a supported laboratory.' })),
        },
        { title: 'UnmatchedResultTestCaseDefinition' },
      ),
    ),
  },
  { title: 'ListUnmatchedResultTestCasesResponse' },
)
