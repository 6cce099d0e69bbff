// Finds the time zone of the place where the sample of an order is taken. Only reads.
import { collectionZoneAsked, type ZonedOrder } from '../../lab/orders/collection-zone.ts'
import { countryCode } from '../../people/person/countries.ts'
import { findUser } from '../../people/users/users.ts'
import { defineHook, type Hook } from '../../platform/db/hooks.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { addSeconds } from '../../platform/runtime/clock.ts'
import { zonedParts } from '../../platform/runtime/zoned-time.ts'
import { isTimeZone } from '../../platform/schema/formats.ts'
import { timeZoneAt } from '../geocoding/distance.ts'
import { findPlace, type PlaceQuery } from '../geocoding/postal-places.ts'
import { readAppointment } from './locked-appointment.ts'
import type { Appointment } from './schema.ts'

/** Answers with the first that is known: of the visit or service center, of the patient's address (of a kit without a patient, the recipient's), of its country, of the user. */
export const collectionZoneHook: Hook = defineHook(collectionZoneAsked, async (tx, order, answer) => {
  answer.zone ??= (await zoneOfAppointment(tx, order)) ?? (await zoneOfAddress(tx, order)) ?? (await zoneOfUser(tx, order))
})

async function zoneOfAppointment(tx: Tx, { id }: ZonedOrder): Promise<string | null> {
  const text = id === null ? undefined : await readAppointment(tx, id)
  if (text === undefined) return null
  const { iana_timezone, location, address } = JSON.parse(text) as Appointment
  if (iana_timezone) return iana_timezone
  const { lat, lng } = location
  const zone = lat || lng ? await timeZoneAt(lat, lng) : undefined
  return zone ?? zoneAt(tx, { country: 'US', postal_code: address.zip_code, city: address.city, state: address.state })
}

async function zoneOfAddress(tx: Tx, { patient_address, shipping_details }: ZonedOrder): Promise<string | null> {
  const address = patient_address ?? shipping_details
  if (!address) return null
  return zoneAt(tx, { country: address.country, postal_code: address.zip, city: address.city, state: address.state })
}

/** The post offices of the forces abroad: where their post is handed over says nothing of where it is read. */
const MILITARY = new Set(['AA', 'AE', 'AP'])
/** Territories that use addresses of the United States. */
const TERRITORIES = new Set(['PR', 'GU', 'VI', 'AS', 'MP', 'FM', 'MH', 'PW'])

/** The zone of a postal code, else that of a country or territory in which all clocks agree. */
async function zoneAt(tx: Tx, { state, ...where }: PlaceQuery & { state: string }): Promise<string | null> {
  const code = countryCode(where.country)
  if (code === 'US' && MILITARY.has(state)) return null
  const place = await findPlace(tx, where)
  const zone = place && (await timeZoneAt(place.lat, place.lng))
  return zone ?? zoneOfCountry(code === 'US' && TERRITORIES.has(state) ? state : code, tx.now)
}

const HALF_YEAR_S = 182 * 86_400

/** Null if its zones show different times now or in half a year. */
function zoneOfCountry(code: string | undefined, now: Date): string | null {
  const zones = (code === undefined ? [] : zonesIn(code)).filter(isTimeZone)
  const [first] = zones
  if (!first) return null
  const instants = [now, addSeconds(now, HALF_YEAR_S)]
  const clock = (zone: string) =>
    instants.map((instant) => Object.values({ ...zonedParts(instant, zone), zone: '' }).join(' ')).join()
  return zones.every((zone) => clock(zone) === clock(first)) ? first : null
}

/** The zones of a region in the runtime's tables; its type is not in the library of TypeScript yet. */
const zonesIn = (region: string): string[] =>
  (new Intl.Locale('und', { region }) as Intl.Locale & { getTimeZones?: () => string[] | undefined }).getTimeZones?.() ?? []

async function zoneOfUser(tx: Tx, { user_id }: ZonedOrder): Promise<string | null> {
  const zone = (await findUser(tx, user_id))?.fallback_time_zone?.id
  return zone && isTimeZone(zone) ? zone : null
}
