// Communication settings: the team's, and an order's own for text messages. An order's setting is stored in its internal data. Source:
// lab-testing.md 23.
import { updateOrder } from '../../lab/orders/change-order.ts'
import type { InternalData, LockedOrder } from '../../lab/orders/locked-order.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Channel } from './message-rules.ts'
import type { CommunicationSettings } from './schema.ts'
import { notDeleted } from '../../people/users/users.ts'
import { notOptedOut, optedOutChannels } from './opt-outs.ts'

type Settings = Readonly<Record<string, unknown>>

/** Returns the enabled channels of an order. A channel without a setting is enabled. */
export const enabledChannels = (
  settings: Settings,
  internalData: Readonly<Record<string, unknown>>,
): Record<Channel, boolean> => ({
  sms: ((internalData.sms_enabled ?? settings.lab_tests_patient_sms_communication_enabled) as boolean | undefined) ?? true,
  email: (settings.lab_tests_patient_email_communication_enabled as boolean | undefined) ?? true,
})

/** The team's own page for booking an at-home appointment of an order; undefined if it has none. */
export const createBookingUrl = ({ tenant }: Pick<Tx, 'tenant'>, order_id: string): string | undefined =>
  (tenant.settings.appointment_booking_url as string | null | undefined)?.replaceAll('{order_id}', order_id) || undefined

const Row = T.Object({ user_id: T.String(), internal_data: T.String(), accepts_sms: T.Boolean() })

/**
 * Returns the setting of an order, or the team's if the order has none; off for a patient who has turned text messages off. Errors: 404
 * unknown order.
 */
export async function getSettings(tx: Tx, order_id: string): Promise<CommunicationSettings> {
  const row = await tx.maybe(
    Row,
    sql`
    select user_id, internal_data, ${notOptedOut(tx, sql`user_id`, sql`'sms'`)} as accepts_sms
    from lab_order where id = ${order_id} and team_id = ${tx.team} and ${notDeleted(tx, sql`user_id`)}`,
  )
  if (!row) throw notFound('Order not found')
  tx.concerns(row.user_id)
  const { sms } = enabledChannels(tx.tenant.settings, JSON.parse(row.internal_data) as InternalData)
  return { order_id, sms_enabled: sms && row.accepts_sms }
}

/**
 * Sets an order's own setting, which overrides the team's but not that of the patient. Writes lab_order. Emits no event, because the
 * order's status does not change. Errors: 404 unknown order.
 */
export async function setSettings(tx: Tx, order_id: string, sms_enabled: boolean): Promise<CommunicationSettings> {
  let off = new Set<Channel>()
  const change = async (lockedOrder: LockedOrder) => {
    lockedOrder.internalData.sms_enabled = sms_enabled
    off = await optedOutChannels(tx, lockedOrder.order.user_id)
  }
  await updateOrder(tx, order_id, change, 'Order not found')
  return { order_id, sms_enabled: sms_enabled && !off.has('sms') }
}
