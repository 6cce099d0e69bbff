// Which clock is that of an order.
import type { Order } from '../../lab/orders/schema.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { timeZoneAt } from '../geocoding/distance.ts'
import { findPlace } from '../geocoding/postal-places.ts'
import { readAppointment } from './locked-appointment.ts'
import type { Appointment } from './schema.ts'

/**
 * The time zone where the sample of an order is taken: that of the visit or service center, else where the patient lives; UTC where neither
 * is known.
 */
export async function collectionZone(tx: Tx, { id, patient_address: address }: Order): Promise<string> {
  const appointment = await readAppointment(tx, id)
  const named = appointment && (JSON.parse(appointment) as Appointment).iana_timezone
  if (named) return named
  const place = address && (await findPlace(tx, { country: address.country, postal_code: address.zip, city: address.city }))
  return (place && (await timeZoneAt(place.lat, place.lng))) ?? 'Etc/UTC'
}
