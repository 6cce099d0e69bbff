// Shapes of messages over links and of issues in the Management API.
import { Fields, Int, Maybe, Nullable, OpenEnum, T, Text, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { CellParams } from '../../tenancy/organizations/management-shapes.ts'
import { issueReasons } from './issue-reasons.ts'

/** The states of incoming messages, and those of outgoing ones. */
export const messageStates = [
  'received',
  'applied',
  'review',
  'failed',
  'test',
  'shadow',
  'queued',
  'sent',
  'committed',
  'accepted',
  'refused',
  'expired',
  'done',
] as const

const MessageStateShape = OpenEnum(messageStates, {
  description:
    'Incoming: `received`, not processed yet; `applied` to its order; `review`, its result waits for a person; `failed`, see `error`; `test` and `shadow`, read over a link in that mode. Outgoing: `queued`; `sent`, without an answer; `committed`, the laboratory has stored it; `accepted` or `refused` by its answer; `expired`, not answered. `done`: a person has dealt with it.',
})
const Reason = OpenEnum(issueReasons)
const Direction = OpenEnum(['in', 'out'], { description: '`in`: from the laboratory.' })

const page = { limit: Maybe(Int({ minimum: 1, maximum: 250, default: 50 })), next_cursor: Maybe(Text({ maxLength: 600 })) }

export const MessageQuery = Fields({
  account_id: Maybe(Uuid),
  order_id: Maybe(Uuid),
  direction: Maybe(Direction),
  state: Maybe(T.Array(OpenEnum(messageStates), { maxItems: 20 })),
  control_id: Maybe(Text({ maxLength: 200 })),
  since: Maybe(T.String({ format: 'date-time', description: 'Messages that came or were queued at this time or later.' })),
  ...page,
})
export type MessageQuery = Static<typeof MessageQuery>

const nullableText = Nullable(T.String())
const nullableId = Nullable(Uuid)

const summary = {
  id: Uuid,
  account_id: Nullable(T.String({ format: 'uuid', description: 'The lab account of the link; null if no link has the sender.' })),
  lab: nullableText,
  team_id: nullableId,
  order_id: nullableId,
  unmatched_result_id: Nullable(T.String({ format: 'uuid', description: 'The result of the message if it is in review.' })),
  direction: Direction,
  source: Nullable(T.String({ description: 'Transport and address, of an incoming message.' })),
  message_type: Nullable(T.String({ description: 'Such as `ORU^R01`.' })),
  sender: nullableText,
  control_id: nullableText,
  reuses_control_id: T.Boolean({ description: 'Another message of the sender had this control id.' }),
  state: MessageStateShape,
  attempts: T.Integer(),
  repetitions: T.Integer({ description: 'How often the same bytes came again.' }),
  reason: Nullable(Reason),
  error: Nullable(T.String({ description: 'Without patient data.' })),
  comment: Nullable(T.String({ description: 'Of the person who marked it as done.' })),
  bytes: T.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
  answered_at: Nullable(Timestamp),
  next_attempt_at: Nullable(Timestamp),
}

export const LabMessageSummary = Fields(summary, { title: 'LabMessageSummary' })
export type LabMessageSummary = Static<typeof LabMessageSummary>
export const LabMessagePage = Fields({ data: T.Array(LabMessageSummary), next_cursor: nullableText }, { title: 'LabMessagePage' })

export const LabMessage = Fields(
  {
    ...summary,
    text: T.String({ description: 'The message with its segments named, or why it cannot be shown.' }),
    answer: Nullable(T.String({ description: 'The answer of the laboratory, in the same form.' })),
  },
  { title: 'LabMessage' },
)
export type LabMessage = Static<typeof LabMessage>

/** What a step on a message has led to. */
export const MessageStep = Fields({ id: Uuid, state: MessageStateShape }, { title: 'LabMessageStep' })
export type MessageStep = Static<typeof MessageStep>

export const IssueQuery = Fields({
  account_id: Maybe(Uuid),
  reason: Maybe(T.Array(Reason, { maxItems: 50 })),
  state: Maybe(OpenEnum(['open', 'done'])),
  ...page,
})
export type IssueQuery = Static<typeof IssueQuery>

export const LinkIssue = Fields(
  {
    id: Uuid,
    reason: Reason,
    text: T.String({ description: 'The reason in a sentence.' }),
    remedy: T.String({ description: 'What to do.' }),
    detail: Nullable(T.String({ description: 'Without patient data.' })),
    account_id: nullableId,
    account_number: Nullable(T.String({ description: 'Account number at the laboratory.' })),
    lab: nullableText,
    message_id: nullableId,
    order_id: nullableId,
    team_id: Nullable(T.String({ format: 'uuid', description: 'The team of the order.' })),
    source: nullableText,
    count: T.Integer({ description: 'How often it occurred.' }),
    state: OpenEnum(['open', 'done']),
    comment: Nullable(T.String({ description: 'Of the person who marked it as done.' })),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'LinkIssue' },
)
export type LinkIssue = Static<typeof LinkIssue>
export const LinkIssuePage = Fields({ data: T.Array(LinkIssue), next_cursor: nullableText }, { title: 'LinkIssuePage' })

export const COMMENT_LENGTH_MAX = 500

export const DoneBody = Fields(
  { comment: Maybe(Text({ minLength: 1, maxLength: COMMENT_LENGTH_MAX, description: 'What was done. Without patient data.' })) },
  { title: 'LabLinkDone' },
)

/** The number at which open issues are no longer counted. */
export const COUNTED_MAX = 1000

export const OpenIssues = Fields(
  {
    count: T.Integer({ description: `Counting stops at ${COUNTED_MAX}.` }),
    is_exact: T.Boolean({ description: 'False if counting has stopped.' }),
  },
  { title: 'OpenLinkIssues' },
)
export type OpenIssues = Static<typeof OpenIssues>

export const IssueStep = Fields(
  { id: Uuid, state: OpenEnum(['open', 'done']), comment: nullableText },
  { title: 'LabLinkIssueStep' },
)

export const MessageParams = Fields({ ...CellParams.properties, message_id: Uuid })
export const IssueParams = Fields({ ...CellParams.properties, issue_id: Uuid })
