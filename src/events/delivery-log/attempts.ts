// The attempts to deliver a message: those that failed or that a person made, and the one that succeeded, which its delivery has.
import type { Tx } from '../../platform/db/transaction.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { attemptId, messageId } from '../catalog/message-id.ts'
import type { Attempt } from '../endpoints/schema.ts'

const SHOWN_BYTES_MAX = 4096

const AttemptRow = T.Object({
  id: T.String(),
  destination_id: T.String(),
  trigger: T.String(),
  at: T.String(),
  at_s: T.Integer(),
  duration_ms: T.Integer(),
  response_status: Nullable(T.Integer()),
  response_body: T.String(),
  error: Nullable(T.String()),
  succeeded: T.Boolean(),
  signature: T.String(),
  custom_headers: T.Array(T.String()),
})
type AttemptRow = Static<typeof AttemptRow>

/**
 * The attempts to deliver a message to some destinations.
 * @param end what follows `where`: further conditions on the columns, the order and the limit
 */
export function findAttempts(
  tx: Tx,
  { destination_ids, message_id }: { destination_ids: readonly string[]; message_id: string },
  end: Sql,
): Promise<AttemptRow[]> {
  const ofMessage = sql`destination_id = any (${[...destination_ids]}::text[]) and message_id = ${message_id}`
  return tx.many(
    AttemptRow,
    sql`
    select id, destination_id, trigger, date_trunc('second', at) as at, floor(extract(epoch from at))::bigint as at_s, duration_ms, response_status,
           response_body, error, succeeded, signature, custom_headers
    from (
      select id, destination_id, trigger, at, duration_ms, response_status, response_body, error, succeeded, signature, custom_headers
      from delivery_attempt where team_id = ${tx.team} and ${ofMessage}
      union all
      select attempt_id as id, destination_id, 'scheduled' as trigger, attempted_at as at, duration_ms, response_status, response_body, null as error,
             true as succeeded, signature, coalesce(custom_headers, '{}') as custom_headers
      from delivery where team_id = ${tx.team} and ${ofMessage} and attempt_id is not null) attempt
    where ${end}`,
  )
}

/** @param fixed the headers of every attempt */
export function toAttempt(row: AttemptRow, message_uuid: string, fixed: Record<string, string>): Static<typeof Attempt> {
  const id = messageId(message_uuid)
  return {
    id: attemptId(row.id),
    message_id: id,
    trigger: row.trigger as Static<typeof Attempt>['trigger'],
    at: row.at,
    duration_ms: row.duration_ms,
    succeeded: row.succeeded,
    request_headers: {
      ...Object.fromEntries(row.custom_headers.map((name) => [name, '(withheld)'])),
      ...fixed,
      ...Object.fromEntries(
        ['svix', 'webhook'].flatMap((prefix) => [
          [`${prefix}-id`, id],
          [`${prefix}-timestamp`, String(row.at_s)],
          [`${prefix}-signature`, row.signature],
        ]),
      ),
    },
    response_status: row.response_status,
    response_body: Buffer.from(row.response_body).subarray(0, SHOWN_BYTES_MAX).toString('utf8'),
    error: row.error,
  }
}
