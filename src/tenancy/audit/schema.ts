// Schemas of the audit log and the access log. Source: management-auth.md 8.
import { Cursor, NextCursor, teamInEnvironment } from '../organizations/management-shapes.ts'
import { describedAs, Fields, Int, Maybe, Nullable, T, Text, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'

export const AuditEntry = Fields(
  {
    id: Uuid,
    created_at: Timestamp,
    key_id: T.String({ description: 'The management key that did it; of a read of secrets with the key of a team, that key.' }),
    member_id: Nullable(
      T.String({ format: 'uuid', description: 'The member for whom the key was created, or who used the console; else null.' }),
    ),
    operation: T.String(),
    team_id: Nullable(Uuid),
    object: Nullable(T.String({ description: 'What the path named in addition to organization and team.' })),
  },
  { title: 'AuditLine' },
)
export const AuditPage = Fields({ data: T.Array(AuditEntry), next_cursor: Cursor }, { title: 'AuditPage' })
export const AuditQuery = Fields({
  operation: Maybe(Text({ minLength: 1, maxLength: 100 })),
  limit: Maybe(Int({ minimum: 1, maximum: 250, default: 50 })),
  next_cursor: NextCursor,
})
export type AuditQuery = Static<typeof AuditQuery>

export const AccessLine = Fields(
  {
    line: Int({ description: 'Its number in the log of the cell.' }),
    created_at: Timestamp,
    request_id: Nullable(
      T.String({ description: 'As the answer named it in `x-request-id`; null for a command of the operator.' }),
    ),
    key_id: T.String({ description: 'The key; `token:`, `link:` or `cli:` and a name where it was none.' }),
    member_id: Nullable(
      T.String({ format: 'uuid', description: 'The member for whom the key was created; null for a key of a program.' }),
    ),
    operation: T.String(),
    objects: T.Array(Uuid, { description: 'What it was about in addition to users: orders, for example.' }),
    address: Nullable(T.String()),
    outcome: Int({ description: 'The status of the answer.' }),
  },
  { title: 'AccessLine' },
)
export const AccessPage = Fields({ data: T.Array(AccessLine), next_cursor: Cursor }, { title: 'AccessPage' })
export const AccessQuery = Fields({
  user_id: Uuid,
  object_id: Maybe(describedAs(Uuid, 'Only lines that name this object beside the user, an order for example.')),
  limit: Maybe(Int({ minimum: 1, maximum: 250, default: 50 })),
  next_cursor: NextCursor,
})
export type AccessQuery = Static<typeof AccessQuery>
export const TeamAuditParams = Fields(teamInEnvironment)

export const AccessLogCheck = Fields(
  {
    checked_at: Timestamp,
    lines: T.Integer({ description: 'How many lines were checked.' }),
    last_line: T.Integer({ description: 'The number of the last line at that time.' }),
    is_intact: T.Boolean(),
    fault: Nullable(T.String({ description: 'What is wrong with the first line that was changed, removed or added.' })),
  },
  { title: 'AccessLogCheck' },
)
export const LastAccessLogCheck = Fields(
  { last_check: Nullable(AccessLogCheck) },
  { title: 'LastAccessLogCheck', description: 'Null: the command has not checked the log yet.' },
)
export type LastAccessLogCheck = Static<typeof LastAccessLogCheck>
