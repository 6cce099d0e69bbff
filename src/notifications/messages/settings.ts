// Communication settings: the team's, and an order's own for text messages. An order's setting is stored in its internal data. Source:
// lab-testing.md 23.
import { updateOrder } from '../../lab/orders/change-order.ts'
import type { InternalData } from '../../lab/orders/locked-order.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Channel } from './message-rules.ts'
import type { CommunicationSettings } from './schema.ts'
import { notDeleted } from '../../people/users/users.ts'

type Settings = Readonly<Record<string, unknown>>

/** Returns the enabled channels of an order. A channel without a setting is enabled. */
export const enabledChannels = (settings: Settings, internalData: InternalData): Record<Channel, boolean> => ({
  sms: ((internalData.sms_enabled ?? settings.lab_tests_patient_sms_communication_enabled) as boolean | undefined) ?? true,
  email: (settings.lab_tests_patient_email_communication_enabled as boolean | undefined) ?? true,
})

const Row = T.Object({ user_id: T.String(), internal_data: T.String() })

/** Returns the setting of an order, or the team's if the order has none. Errors: 404 unknown order. */
export async function getSettings(tx: Tx, order_id: string): Promise<CommunicationSettings> {
  const row = await tx.maybe(
    Row,
    sql`
    select user_id, internal_data from lab_order where id = ${order_id} and team_id = ${tx.team} and ${notDeleted(tx, sql`user_id`)}`,
  )
  if (!row) throw notFound('Order not found')
  tx.concerns(row.user_id)
  return { order_id, sms_enabled: enabledChannels(tx.tenant.settings, JSON.parse(row.internal_data) as InternalData).sms }
}

/**
 * Sets an order's own setting, which overrides the team's. Emits no event, because the order's status does not change. Errors: 404 unknown
 * order.
 */
export async function setSettings(tx: Tx, order_id: string, sms_enabled: boolean): Promise<CommunicationSettings> {
  await updateOrder(tx, order_id, (lockedOrder) => void (lockedOrder.internalData.sms_enabled = sms_enabled), 'Order not found')
  return { order_id, sms_enabled }
}
