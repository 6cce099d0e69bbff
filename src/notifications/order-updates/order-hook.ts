// Records messages to patients for the status transitions of orders, in the same transactions.
import { orderStepped } from '../../lab/orders/order-hooks.ts'
import { defineHook, type Hook } from '../../platform/db/hooks.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { LockedOrder } from '../../lab/orders/locked-order.ts'
import { selectChannels, triggeringStatuses } from '../messages/message-rules.ts'
import { recordMessages } from '../messages/messages.ts'
import { scheduleReminders } from '../reminders/reminders.ts'
import { createBookingUrl, enabledChannels } from '../messages/settings.ts'
import { planAppointmentReminders } from '../reminders/appointment-reminders.ts'
import { readAppointment } from '../../visits/appointments/locked-appointment.ts'
import { todayAt } from '../../lab/orders/collection-zone.ts'
import type { MessageDetails } from '../messages/message-templates.ts'

/** @param sms whether a gateway for text messages is configured */
export const orderHook = ({ sms }: { sms: boolean }): Hook =>
  defineHook(orderStepped, (tx, lockedOrder, low) => {
    if (triggeringStatuses.has(low) && !lockedOrder.isHidden && !isPassed(lockedOrder, low))
      return onStatus(tx, lockedOrder, low, sms)
  })

const PARCEL_STATUSES = new Set(['transit_customer', 'out_for_delivery', 'with_customer', 'transit_lab'])

/** Steps of a kit that nobody reported until its sample was at the laboratory are no news for the patient. */
const isPassed = ({ transitions }: LockedOrder, low: string): boolean =>
  PARCEL_STATUSES.has(low) && transitions.includes('delivered_to_lab')

async function onStatus(tx: Tx, lockedOrder: LockedOrder, low: string, sms: boolean): Promise<void> {
  const enabledByChannel = enabledChannels(tx.tenant.settings, lockedOrder.internalData)
  if (!enabledByChannel.sms && !enabledByChannel.email) return
  const { method } = lockedOrder.order.lab_test
  if (shouldNotify(lockedOrder, low))
    recordMessages(
      tx,
      lockedOrder.order,
      low,
      selectChannels(method, low, enabledByChannel),
      sms,
      await messageDetailsFor(tx, lockedOrder, low),
    )
  if (!enabledByChannel.sms) return
  scheduleReminders(tx, lockedOrder.order, low)
  planAppointmentReminders(tx, lockedOrder.order, low)
}

/** An imported order is not reported as newly placed. */
const shouldNotify = ({ internalData }: LockedOrder, low: string): boolean => low !== 'ordered' || internalData.imported !== true

/** Returns the details for a message about an order's status. */
function messageDetailsFor(tx: Tx, lockedOrder: LockedOrder, lowLevelStatus: string): MessageDetails | Promise<MessageDetails> {
  if (lowLevelStatus === 'transit_customer') return expectedArrival(tx, lockedOrder)
  return lowLevelStatus === 'requisition_created' && lockedOrder.order.details.type === 'at_home_phlebotomy'
    ? withBookingUrl(tx, lockedOrder)
    : {}
}

/** A past day is omitted. */
async function expectedArrival(tx: Tx, { order, internalData: { arrives_on } }: LockedOrder): Promise<MessageDetails> {
  return arrives_on !== undefined && arrives_on >= (await todayAt(tx, order)) ? { arrives_on } : {}
}

/** An appointment that was reserved before the requisition is not booked again. */
async function withBookingUrl(tx: Tx, { order: { id } }: LockedOrder): Promise<MessageDetails> {
  const booking_url = createBookingUrl(tx, id)
  return booking_url === undefined || (await readAppointment(tx, id)) !== undefined ? {} : { booking_url }
}
