// Providers that serve an area, and windows that can be booked at an address. Source: lab-testing.md 16, 19.2, 19.3.
import { bookingKey } from '../appointments/booking-keys.ts'
import type { AvailableSlots, TimeSlot } from '../appointments/schema.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { visitLinksFor } from './links/links.ts'
import type { VisitLink } from './links/visit-link.ts'
import { plusDays, wallClocks } from './local-time.ts'
import type { UsAddressInput } from './schema.ts'
import { toUsAddress, NOT_SERVED, requireVisitLocation, type VisitLocation, locateZip } from './visit-location.ts'
import { byDay, daysFrom, type OpenWindow } from './time-windows.ts'
import type { ProviderName, ServiceType } from './staff-schema.ts'

/** How long the booking key of a window is valid, unless the window begins earlier. */
const KEY_S = 3600
/** How many days ahead windows are offered. */
const AHEAD_DAYS_MAX = 365

/**
 * Returns the windows of 14 days from a date, in the time zone of the address; from today by default.
 * Errors: 400 the date is past or more than a year ahead; 400 no provider serves the address, or it was not found.
 */
export async function visitAvailability(
  tx: Tx,
  vault: Vault,
  addressInput: UsAddressInput,
  start_date: string | undefined,
): Promise<AvailableSlots> {
  const address = toUsAddress(addressInput)
  const where = await requireVisitLocation(tx, address)
  const clocks = await wallClocks()
  const today = clocks.localDate(tx.now.getTime(), where.time_zone)
  const first = start_date ?? today
  if (first < today) throw badRequest('start_date must be greater or equal than the current date')
  if (first > plusDays(today, AHEAD_DAYS_MAX)) throw badRequest(`start_date must be within ${AHEAD_DAYS_MAX} days`)
  const { dates, range } = daysFrom(clocks, first, where.time_zone)
  const days = dates.map((date) => ({ location: null, date, slots: [] as TimeSlot[] }))
  const refusals: string[] = []
  for (const link of visitLinksFor(tx.tenant)) {
    const offers = await link.availability(tx, where, range)
    const refusal = offers ? link.unavailableReason(address) : NOT_SERVED
    if (refusal !== undefined) refusals.push(refusal)
    else
      for (const [n, { windows }] of byDay(clocks, dates, where.time_zone, offers!).entries())
        days[n]!.slots.push(...windows.map((window) => toSlot(tx, vault, link, where, window)))
  }
  if (refusals.length === visitLinksFor(tx.tenant).length)
    throw badRequest(refusals.find((refusal) => refusal !== NOT_SERVED) ?? NOT_SERVED)
  return { slots: days, timezone: where.time_zone }
}

function toSlot(tx: Tx, vault: Vault, { provider }: VisitLink, { zip }: VisitLocation, window: OpenWindow): TimeSlot {
  const { start_ms, end_ms, price_cents: price, is_priority, places } = window
  const [start_s, end_s] = [start_ms / 1000, end_ms / 1000]
  const expires_s = Math.min(tx.now.getTime() / 1000 + KEY_S, start_s)
  const offer = { provider, lab: null, site: zip, start_s, end_s, price, expires_s }
  const toIso = (seconds: number) => iso(new Date(seconds * 1000))
  return {
    booking_key: bookingKey(vault, tx.tenant, offer),
    start: toIso(start_s),
    end: toIso(end_s),
    expires_at: toIso(expires_s),
    price,
    is_priority,
    num_appointments_available: places,
  }
}

export interface Coverage {
  is_served: boolean
  providers: { name: ProviderName; service_types: ServiceType[] }[]
}

/** Returns the providers that serve the team's patients in a ZIP code, with their service types. */
export async function createCoverage(tx: Tx, zip_code: string): Promise<Coverage> {
  const where = await locateZip(tx, zip_code)
  const eligibleStaff = where
    ? await Promise.all(
        visitLinksFor(tx.tenant).map(async (link) => ({ name: link.provider, service_types: await link.services(tx, where) })),
      )
    : []
  const providers = eligibleStaff.filter(({ service_types }) => service_types.length)
  return { is_served: providers.length > 0, providers }
}
