// Whether a patient is told anything, and how: the team's switches, and an order's own for text messages. An order's is kept with what
// else was given with it. Source: lab-testing.md 23.
import { updateOrder } from '../../lab/orders/change-order.ts'
import type { InternalData } from '../../lab/orders/open-order.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Channel } from './kinds.ts'
import type { CommunicationSettings } from './schema.ts'
import { notDeleted } from '../../people/users/users.ts'

type Settings = Readonly<Record<string, unknown>>

/** The switches of an order. What nobody has switched is on. */
export const enabledChannels = (settings: Settings, intake: InternalData): Record<Channel, boolean> => ({
  sms: ((intake.sms_enabled ?? settings.lab_tests_patient_sms_communication_enabled) as boolean | undefined) ?? true,
  email: (settings.lab_tests_patient_email_communication_enabled as boolean | undefined) ?? true,
})

const Row = T.Object({ user_id: T.String(), intake: T.String() })

/** The switch of an order, the team's where it has none of its own. 404: no such order. */
export async function getSettings(tx: Tx, order_id: string): Promise<CommunicationSettings> {
  const row = await tx.maybe(
    Row,
    sql`
    select user_id, intake from lab_order where id = ${order_id} and team_id = ${tx.team} and ${notDeleted(tx, sql`user_id`)}`,
  )
  if (!row) throw notFound('Order not found')
  tx.concerns(row.user_id)
  return { order_id, sms_enabled: enabledChannels(tx.tenant.settings, JSON.parse(row.intake) as InternalData).sms }
}

/** Give an order a switch of its own, whatever the team's says. No event: nothing happened to it. 404: no such order. */
export async function setSettings(tx: Tx, order_id: string, sms_enabled: boolean): Promise<CommunicationSettings> {
  await updateOrder(tx, order_id, (open) => void (open.internalData.sms_enabled = sms_enabled), 'Order not found')
  return { order_id, sms_enabled }
}
