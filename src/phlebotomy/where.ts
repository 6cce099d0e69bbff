// Where a visit goes: the address as it is given and shown, the middle of its ZIP code, and the clock there.
import type { Queries } from '../platform/db.ts'
import { badRequest } from '../platform/errors.ts'
import { timeZoneAt } from '../places/distance.ts'
import { placeOf } from '../places/places.ts'
import type { Order } from '../orders/schema.ts'
import { UNITED_STATES } from '../wire/places.ts'
import type { UsAddress } from '../appointments/schema.ts'
import type { UsAddressInput } from './schema.ts'
import type { Whereabouts } from './staff.ts'

export const NOT_SERVED = 'No at-home phlebotomy provider serves this address.'

export interface Where extends Whereabouts {
  time_zone: string
}

/** Where a ZIP code is; undefined for one that nobody knows. A ZIP+4 counts as its ZIP. */
export async function whereIs(queries: Pick<Queries, 'many' | 'maybe'>, zip_code: string): Promise<Where | undefined> {
  const zip = zip_code.slice(0, 5)
  const place = await placeOf(queries, { country: 'US', postal_code: zip })
  const time_zone = place && (await timeZoneAt(place.lat, place.lng))
  return place && time_zone !== undefined ? { zip, lat: place.lat, lng: place.lng, time_zone } : undefined
}

/** As `whereIs`, for a patient who is to be visited. 400: nobody knows the ZIP code. */
export async function whereVisited(queries: Pick<Queries, 'many' | 'maybe'>, { zip_code }: UsAddress): Promise<Where> {
  const where = await whereIs(queries, zip_code)
  if (!where) throw badRequest(NOT_SERVED)
  return where
}

export const addressGiven = (given: UsAddressInput): UsAddress => ({
  first_line: given.first_line,
  second_line: given.second_line ?? given.unit ?? null,
  city: given.city,
  state: given.state,
  zip_code: given.zip_code,
  unit: given.unit ?? null,
  access_notes: given.access_notes ?? null,
})

/** The address of an order's patient. 400: there is none, or it is in another country. */
export function patientAddress({ patient_address: address }: Order): UsAddress {
  if (!address) throw badRequest('This order does not have a patient address.')
  if (address.country !== UNITED_STATES) throw badRequest(NOT_SERVED)
  return {
    first_line: address.first_line,
    second_line: address.second_line,
    city: address.city,
    state: address.state,
    zip_code: address.zip,
    unit: null,
    access_notes: address.access_notes,
  }
}

/** Whether somebody who stands in the street can find the door. */
export const isReachable = ({ first_line, second_line }: UsAddress): boolean => {
  const text = `${first_line} ${second_line ?? ''}`
  return /\d/.test(text) && /\p{L}/u.test(text) && !/\bp\.?\s*o\.?\s*box\b/i.test(text)
}
