// Operational messages: messages about deliveries, sent to endpoints that subscribe to them by name, in an envelope of their
// own. They cause no further messages. Source: events.md 6.8.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import type { EventType, ExampleContext } from '../../platform/queue/event-type.ts'
import { attemptId, messageId } from '../catalog/message-id.ts'

const SAMPLE_ID = '0'.repeat(32)

const SAMPLE_ENDPOINT = `ep_${SAMPLE_ID}`

const sampleReport = (context: ExampleContext) =>
  messageReport({ ...context, webhook_id: SAMPLE_ENDPOINT, msg: SAMPLE_ID, attempt_id: SAMPLE_ID, status: 500 })

/** The types, with samples. Sent only to endpoints that subscribe to them by name. */
export const eventTypes: readonly EventType[] = [
  { name: 'message.attempt.exhausted', family: 'operational', example: sampleReport },
  { name: 'message.attempt.failing', family: 'operational', example: sampleReport },
  { name: 'message.attempt.recovered', family: 'operational', example: sampleReport },
  {
    name: 'endpoint.disabled',
    family: 'operational',
    example: ({ team_id, at_text }) => endpointReport({ team_id, webhook_id: SAMPLE_ENDPOINT, since_text: at_text }),
  },
]

/**
 * Queues a message for one endpoint, or for all endpoints of the team that subscribed to its type. Writes webhook_message,
 * delivery.
 */
export async function queueMessage(
  tx: PlainTx,
  message: { team_id: string; type: string; body: string; created_at: Date; trigger: 'scheduled' | 'manual' },
  webhook_id?: string,
): Promise<string> {
  const id = tx.uuid()
  await tx.run(sql`
    insert into webhook_message (id, team_id, type, created_at, body)
    values (${id}, ${message.team_id}, ${message.type}, ${message.created_at}, ${message.body})`)
  await tx.run(sql`
    with receiver as materialized (
      select w.team_id, w.id from webhook w join destination d on d.id = w.id and d.team_id = w.team_id
      where w.team_id = ${message.team_id} and not w.disabled
        and ${webhook_id === undefined ? sql`${message.type} = any (w.filter_types)` : sql`w.id = ${webhook_id}`}
      for key share of d)
    insert into delivery (team_id, destination_id, message_id, queue_position, state, due_at, trigger, created_at)
    select team_id, id, ${id}, nextval('delivery_queue_position'), 'pending', ${dbNow}, ${message.trigger}, ${message.created_at} from receiver`)
  return id
}

interface MessageReport {
  team_id: string
  webhook_id: string
  msg: string
  attempt_id: string
  status: number | null
  at_text: string
}

/** The data about a message that keeps failing, has failed permanently, or was delivered after that. */
export function messageReport({ team_id, webhook_id, msg, attempt_id, status, at_text }: MessageReport) {
  const lastAttempt = { id: attemptId(attempt_id), responseStatusCode: status ?? 0, timestamp: at_text }
  return { appId: team_id, appUid: null, endpointId: webhook_id, msgId: messageId(msg), msgEventId: null, lastAttempt }
}

/** The data about an endpoint that was disabled automatically. */
export const endpointReport = (report: { team_id: string; webhook_id: string; since_text: string }) => ({
  appId: report.team_id,
  appUid: null,
  endpointId: report.webhook_id,
  endpointUid: null,
  failSince: report.since_text,
})
