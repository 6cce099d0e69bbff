// What can be booked at service centers. Source: lab-testing.md 18.
import type { AppointmentLocation, AvailableSlots, TimeSlot } from '../appointments/schema.ts'
import { bookingKey } from '../appointments/booking-keys.ts'
import { milesBetween } from '../geocoding/distance.ts'
import { placeOf, type Point } from '../geocoding/postal-places.ts'
import { iso, plusSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, invalid, notFound } from '../../platform/http/errors.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { capabilitySet, type PscDirectory } from '../psc/directory.ts'
import { BOOKABLE_HERE } from '../psc/schema.ts'
import { findSite, type SiteRecord } from '../psc/sites.ts'
import { countOverlapping, takenPlaces, type Taken } from './capacity.ts'
import { slotsIn } from './schedule.ts'
import { schedulerOf } from './schedulers/choose-scheduler.ts'
import type { Plan } from './schedulers/scheduler.ts'
import { bookableLabs, type AvailabilityAsked, type BookableLab } from './schema.ts'
import { addressOf, isBookableSite, siteOf } from './bookable-sites.ts'

const DAYS = 14
const SITES_MAX = 3
/** How many sites near a ZIP code are looked at for some that take appointments. */
const CANDIDATES_MAX = 30
const KEY_S = 1800
const AHEAD_DAYS_MAX = 365

const NOT_BOOKABLE =
  'No slots found. Not all PSCs support scheduling appointments and some included in your query were filtered out because of this.'

export interface SchedulingMeans {
  directory: PscDirectory
  vault: Vault
}

/** A site that takes appointments, and how. */
interface Candidate {
  site: SiteRecord
  plan: Plan
  /** Not rounded; undefined where nothing was searched near a place. */
  miles?: number | undefined
}

/**
 * The free times at sites of a lab, those named or the nearest ones of a ZIP code, on fourteen days: one entry for each site and day.
 * 400: neither sites nor a ZIP code, too many sites, one that is not there or not open, a day that is over, no radius.
 * 404: none of them takes appointments here. 422: no lab.
 */
export async function availability(tx: Tx, means: SchedulingMeans, asked: AvailabilityAsked): Promise<AvailableSlots> {
  const { lab, site_codes = [], zip_code, radius = '25' } = asked
  if (lab === undefined) throw invalid([{ loc: ['query', 'lab'], msg: 'Field required', type: 'missing' }])
  if (site_codes.length === 0 && zip_code === undefined) throw badRequest('site_codes or zip_code must be provided')
  if (site_codes.length > SITES_MAX) throw badRequest('site_codes must be less than or equal to 3')
  if (zip_code !== undefined && !radius) throw badRequest('radius must be provided when using zip_code')
  const lab_id = await labIdOf(tx, means.directory, lab)
  const centre = zip_code === undefined ? undefined : await placeOf(tx, { country: 'US', postal_code: zip_code })
  const found = site_codes.length
    ? await named(tx, lab_id, [...new Set(site_codes)], centre)
    : await near(tx, means.directory, lab_id, centre, Number(radius))
  const from = asked.start_date
  if (from !== undefined) assertDay(tx, found, from)
  return { slots: await offered(tx, means.vault, lab, found, from), timezone: null }
}

async function labIdOf(tx: Tx, directory: PscDirectory, lab: BookableLab): Promise<number> {
  for (const { lab_id, slug } of (await directory.labs(tx)).values()) if (slug === lab) return lab_id
  throw badRequest('This lab is not supported.')
}

async function named(tx: Tx, lab_id: number, codes: string[], centre: Point | undefined): Promise<Candidate[]> {
  const sites: SiteRecord[] = []
  for (const code of codes) sites.push(await siteOf(tx, lab_id, code))
  const open = await planned(tx, lab_id, sites.filter(isBookableSite))
  if (open.length === 0) throw notFound(NOT_BOOKABLE)
  return open.map((one) => ({ ...one, miles: centre && milesBetween(centre, one.site) }))
}

async function near(
  tx: Tx,
  directory: PscDirectory,
  lab_id: number,
  centre: Point | undefined,
  radius_miles: number,
): Promise<Candidate[]> {
  const sites = centre && (await directory.sites(tx, lab_id))
  if (!sites?.within(centre!, radius_miles).length) throw notFound('No slots found for zip code')
  const nearest = sites.nearest(centre!, radius_miles, capabilitySet([BOOKABLE_HERE]), CANDIDATES_MAX)
  const records: SiteRecord[] = []
  for (const { index } of nearest) {
    const site = await findSite(tx, lab_id, sites.codes[index]!)
    if (site?.active) records.push(site)
  }
  const open = await planned(tx, lab_id, records)
  if (open.length === 0) throw notFound(NOT_BOOKABLE)
  return open.slice(0, SITES_MAX).map((one) => ({ ...one, miles: milesBetween(centre!, one.site) }))
}

async function planned(tx: Tx, lab_id: number, sites: SiteRecord[]): Promise<Candidate[]> {
  const plans = await schedulerOf(tx.tenant).plans(tx, lab_id, sites, tx.now)
  return sites.flatMap((site) => {
    const plan = plans.get(site.site_code)
    return plan ? [{ site, plan }] : []
  })
}

/** It may be yesterday still where the site is. */
function assertDay(tx: Tx, found: Candidate[], from: string): void {
  const days = found.map(({ plan: { calendar } }) => calendar.dayOf(tx.now))
  if (days.every((today) => from < today)) throw badRequest('start_date must be greater or equal than the current date')
  const { calendar } = found[0]!.plan
  if (from > calendar.plusDays(days[0]!, AHEAD_DAYS_MAX)) throw badRequest('start_date must be within a year')
}

async function offered(
  tx: Tx,
  vault: Vault,
  lab: BookableLab,
  found: Candidate[],
  from: string | undefined,
): Promise<AvailableSlots['slots']> {
  const codes = found.map(({ site }) => site.site_code)
  // A day too many on both sides: the days of sites begin at different instants.
  const begin = from === undefined ? tx.now : new Date(`${from}T00:00:00Z`)
  const span = { start: plusSeconds(begin, -2 * 86_400), end: plusSeconds(begin, (DAYS + 2) * 86_400) }
  const taken = Map.groupBy(await takenPlaces(tx, lab, codes, span), ({ site_code }) => site_code)
  return found.flatMap(({ site, plan, miles }) => {
    const first = from ?? plan.calendar.dayOf(tx.now)
    const location = locationOf(site, plan, miles)
    const here = taken.get(site.site_code) ?? []
    return Array.from({ length: DAYS }, (_, index) => {
      const date = plan.calendar.plusDays(first, index)
      return { location, date, slots: freeSlots(tx, vault, { lab, site_code: site.site_code, plan, taken: here }, date) }
    })
  })
}

const locationOf = (site: SiteRecord, plan: Plan, miles: number | undefined): AppointmentLocation => ({
  location: { lng: site.lng, lat: site.lat },
  distance: miles === undefined ? null : Math.round(miles),
  address: addressOf(site),
  code: site.site_code,
  name: site.name,
  iana_timezone: plan.zone,
})

function freeSlots(
  tx: Tx,
  vault: Vault,
  at: { lab: (typeof bookableLabs)[number]; site_code: string; plan: Plan; taken: Taken[] },
  day: string,
): TimeSlot[] {
  const { lab, site_code, plan, taken } = at
  const seconds = (date: Date) => date.getTime() / 1000
  return slotsIn(plan.openings(day), plan.slot_minutes, tx.now).flatMap((slot) => {
    if (plan.offered_from && slot.start < plan.offered_from) return []
    const free = plan.places - countOverlapping(taken, slot)
    if (free <= 0) return []
    const until = plusSeconds(tx.now, KEY_S)
    const expires = until < slot.start ? until : slot.start
    const offer = { provider: lab, lab, site: site_code, start_s: seconds(slot.start), end_s: seconds(slot.end) }
    return {
      booking_key: bookingKey(vault, tx.tenant, { ...offer, price: plan.price, expires_s: seconds(expires) }),
      start: iso(slot.start),
      end: iso(slot.end),
      expires_at: iso(expires),
      price: plan.price,
      is_priority: false,
      num_appointments_available: free,
    }
  })
}
