// The location of a visit: the address as given and shown, the center of its ZIP code, and its time zone.
import type { Queries } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { withNulls } from '../../platform/schema/schema.ts'
import { timeZoneAt } from '../geocoding/distance.ts'
import { findPlace } from '../geocoding/postal-places.ts'
import type { Order } from '../../lab/orders/schema.ts'
import { UNITED_STATES } from '../../people/person/countries.ts'
import { UsAddress } from '../appointments/schema.ts'
import type { UsAddressInput } from './schema.ts'
import type { PatientLocation } from './staff.ts'

export const NOT_SERVED = 'No at-home phlebotomy provider serves this address.'

export interface VisitLocation extends PatientLocation {
  time_zone: string
}

/** Returns the location of a ZIP code; undefined if unknown. A ZIP+4 counts as its ZIP. */
export async function locateZip(queries: Pick<Queries, 'many' | 'maybe'>, zip_code: string): Promise<VisitLocation | undefined> {
  const zip = zip_code.slice(0, 5)
  const place = await findPlace(queries, { country: 'US', postal_code: zip })
  const time_zone = place && (await timeZoneAt(place.lat, place.lng))
  return place && time_zone !== undefined ? { zip, lat: place.lat, lng: place.lng, time_zone } : undefined
}

/** Like `locateZip`, for a patient's address. Errors: 400 unknown ZIP code. */
export async function requireVisitLocation(
  queries: Pick<Queries, 'many' | 'maybe'>,
  { zip_code }: UsAddress,
): Promise<VisitLocation> {
  const where = await locateZip(queries, zip_code)
  if (!where) throw badRequest(NOT_SERVED)
  return where
}

export const toUsAddress = (input: UsAddressInput): UsAddress =>
  withNulls(UsAddress, { ...input, second_line: input.second_line ?? input.unit })

/** Returns the address of an order's patient. Errors: 400 there is none, or it is in another country. */
export function patientAddress({ patient_address: address }: Order): UsAddress {
  if (!address) throw badRequest('This order does not have a patient address.')
  if (address.country !== UNITED_STATES) throw badRequest(NOT_SERVED)
  return withNulls(UsAddress, { ...address, zip_code: address.zip })
}

export const NO_DOOR = 'The address must have a street and a house number.'

/** Whether the address has the number of a house, not only that of a street or of an apartment. */
export const hasStreetAddress = ({ first_line, second_line }: UsAddress): boolean => {
  if (/\bp\.?\s*o\.?\s*box\b/i.test(`${first_line} ${second_line ?? ''}`)) return false
  const words = first_line.split(/[\s,]+/).filter(Boolean)
  if (!words.some((word) => /\p{L}/u.test(word))) return false
  // The letter of a house number may be a separate word: `Sample Way 12 B`.
  const [before = '', last = ''] = words.slice(0, /^[a-z]$/i.test(words.at(-1)!) ? -1 : undefined).slice(-2)
  if (words.length > 1 && (isHouse(words[0]!) || (isHouse(last) && !NUMBERED.test(before)))) return true
  // Some requests give the house number as the second line.
  return isHouse(second_line?.trim() ?? '')
}

/** Matches `12`, `12A`, `12-14`, `#12`, and grid addresses such as `N6W23001`; not `5th`. */
const isHouse = (word: string): boolean =>
  /^#?\d[\da-z/-]*$|^[nsew]\d+[nsew]\d+$/i.test(word) && !/^\d*(1st|2nd|3rd|\dth)$/i.test(word)

/** Words before the number of an apartment or of a road. */
const NUMBERED =
  /^(apt|apartment|unit|suite|ste|floor|fl|room|rm|bldg|building|lot|box|highway|hwy|route|rte|rt|road|interstate|us|sr|cr|no)\.?$/i
