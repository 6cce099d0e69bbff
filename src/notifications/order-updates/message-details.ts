// What a message can say besides that something happened: when a kit arrives, where a visit is booked. Never of whom or of what.
import { readAppointment } from '../../visits/appointments/open-appointment.ts'
import type { LockedOrder } from '../../lab/orders/open-order.ts'
import { utcDate } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { MessageDetails } from '../messages/texts.ts'

/** What helps the patient with a step of the order. */
export function messageDetailsFor(tx: Tx, open: LockedOrder, lowLevelStatus: string): MessageDetails | Promise<MessageDetails> {
  if (lowLevelStatus === 'transit_customer') return expectedArrival(tx, open)
  return lowLevelStatus === 'requisition_created' && open.order.details.type === 'at_home_phlebotomy'
    ? bookingLinkFor(tx, open)
    : {}
}

/** A day that is past helps nobody. */
const expectedArrival = (tx: Tx, { internalData: { arrives_on } }: LockedOrder): MessageDetails =>
  arrives_on !== undefined && arrives_on >= utcDate(tx.now) ? { arrives_on } : {}

/** A visit that was booked before the requisition is not booked once more. */
async function bookingLinkFor(tx: Tx, { order: { id } }: LockedOrder): Promise<MessageDetails> {
  const url = tx.tenant.settings.appointment_booking_url as string | null | undefined
  if (!url || (await readAppointment(tx, id)) !== undefined) return {}
  return { booking_url: url.replaceAll('{order_id}', id) }
}
