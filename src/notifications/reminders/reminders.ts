// Reminders of open steps of a patient: jobs in team time that read the order when they run. Source: lab-testing.md 23.
import type { InternalData } from '../../lab/orders/locked-order.ts'
import type { Order } from '../../lab/orders/schema.ts'
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { enqueue, defineHandler, defineJob } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { patientReminders } from './features.ts'
import { reminders, textMessage } from '../messages/message-rules.ts'
import { recordMessages } from '../messages/messages.ts'
import { enabledChannels } from '../messages/settings.ts'
import { notDeleted } from '../../people/users/users.ts'

const remind = defineJob(
  'messages.remind',
  T.Object({ order_id: T.String(), low: T.String(), began_at: T.String(), turn: T.Integer() }),
)

/** Whether the operator has disabled reminders for the team. */
export const remindersDisabled = ({ tenant }: Tx): boolean => tenant.disabled_features?.includes(patientReminders.name) ?? false

/** Schedules the first reminder of a series if the status starts one. Queues messages.remind. */
export function scheduleReminders(tx: Tx, { id, lab_test, last_event }: Order, low: string): void {
  const series = reminders[lab_test.method]
  if (series?.low !== low || remindersDisabled(tx)) return
  const { created_at: began_at } = last_event
  enqueue(tx, remind, { order_id: id, low, began_at, turn: 1 }, addSeconds(new Date(began_at), series.after_s[0]!))
}

const Row = T.Object({ document: T.String(), internal_data: T.String(), low_level_status: T.String(), tellable: T.Boolean() })
const MessageRow = T.Object({ id: T.String() })

/**
 * The order of a reminder, locked, so that a job that runs twice records one reminder; undefined if its status has changed or reminders are
 * disabled. `bySms`: its patient receives text messages.
 */
export async function lockOrderToRemind(
  tx: Tx,
  order_id: string,
  low: string,
): Promise<{ order: Order; bySms: boolean } | undefined> {
  const row = await tx.locking.maybe(
    Row,
    sql`
    select document, internal_data, low_level_status, ${notDeleted(tx, sql`user_id`)} as tellable
    from lab_order where id = ${order_id} and team_id = ${tx.team} for no key update`,
  )
  if (row?.low_level_status !== low || remindersDisabled(tx)) return undefined
  const { sms } = enabledChannels(tx.tenant.settings, JSON.parse(row.internal_data) as InternalData)
  return { order: JSON.parse(row.document) as Order, bySms: row.tellable && sms }
}

/** Whether the order has a message of a kind, recorded at an instant or later. */
export const wasSent = async (tx: Tx, order_id: string, kind: string, sinceTime = new Date(0)): Promise<boolean> =>
  (await tx.maybe(
    MessageRow,
    sql`
    select id from patient_message
    where order_id = ${order_id} and team_id = ${tx.team} and kind = ${kind} and created_at >= ${sinceTime} limit 1`,
  )) !== undefined

/** @param smsEnabled whether a gateway is configured */
export const remindHandler = (smsEnabled: boolean) =>
  defineHandler(remind, (context, { order_id, low, began_at, turn }) =>
    context.tx(async (tx) => {
      const found = await lockOrderToRemind(tx, order_id, low)
      if (!found || (await wasSent(tx, order_id, `reminder_${turn}`))) return
      if (found.bySms) recordMessages(tx, found.order, `reminder_${turn}`, textMessage, smsEnabled)
      const next_s = reminders[found.order.lab_test.method]?.after_s[turn]
      if (next_s === undefined) return
      enqueue(tx, remind, { order_id, low, began_at, turn: turn + 1 }, addSeconds(new Date(began_at), next_s))
    }),
  )
