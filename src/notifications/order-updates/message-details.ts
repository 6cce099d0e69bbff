// What a message can say besides that something happened: when a kit arrives, where a visit is booked. Never of whom or of what.
import { readAppointment } from '../../visits/appointments/open-appointment.ts'
import type { OpenOrder } from '../../lab/orders/open-order.ts'
import { day } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { Help } from '../messages/texts.ts'

/** What helps the patient with a step of the order. */
export function helpWith(tx: Tx, open: OpenOrder, low: string): Help | Promise<Help> {
  if (low === 'transit_customer') return arrivalOf(tx, open)
  return low === 'requisition_created' && open.order.details.type === 'at_home_phlebotomy' ? bookingOf(tx, open) : {}
}

/** A day that is past helps nobody. */
const arrivalOf = (tx: Tx, { intake: { arrives_on } }: OpenOrder): Help =>
  arrives_on !== undefined && arrives_on >= day(tx.now) ? { arrives_on } : {}

/** A visit that was booked before the requisition is not booked once more. */
async function bookingOf(tx: Tx, { order: { id } }: OpenOrder): Promise<Help> {
  const url = tx.tenant.settings.appointment_booking_url as string | null | undefined
  if (!url || (await readAppointment(tx, id)) !== undefined) return {}
  return { booking_url: url.replaceAll('{order_id}', id) }
}
