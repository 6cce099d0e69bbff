// Further details for a message: when a kit arrives, where to book an at-home appointment. Never names or tests.
import { readAppointment } from '../../visits/appointments/locked-appointment.ts'
import type { LockedOrder } from '../../lab/orders/locked-order.ts'
import { utcDate } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { MessageDetails } from '../messages/message-templates.ts'

/** Returns the details for a message about an order's status. */
export function messageDetailsFor(tx: Tx, open: LockedOrder, lowLevelStatus: string): MessageDetails | Promise<MessageDetails> {
  if (lowLevelStatus === 'transit_customer') return expectedArrival(tx, open)
  return lowLevelStatus === 'requisition_created' && open.order.details.type === 'at_home_phlebotomy'
    ? bookingLinkFor(tx, open)
    : {}
}

/** A past day is omitted. */
const expectedArrival = (tx: Tx, { internalData: { arrives_on } }: LockedOrder): MessageDetails =>
  arrives_on !== undefined && arrives_on >= utcDate(tx.now) ? { arrives_on } : {}

/** An appointment that was reserved before the requisition is not booked again. */
async function bookingLinkFor(tx: Tx, { order: { id } }: LockedOrder): Promise<MessageDetails> {
  const url = tx.tenant.settings.appointment_booking_url as string | null | undefined
  if (!url || (await readAppointment(tx, id)) !== undefined) return {}
  return { booking_url: url.replaceAll('{order_id}', id) }
}
