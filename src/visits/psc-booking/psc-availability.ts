// Sites where appointments can be booked, and their free slots. Source: lab-testing.md 18.
import { UsAddress, type AppointmentLocation, type AvailableSlots, type TimeSlot } from '../appointments/schema.ts'
import type { Lab } from '../../lab/catalog/schema.ts'
import { isOffered } from '../../lab/accounts/offered-labs.ts'
import { bookingKey } from '../appointments/booking-keys.ts'
import { milesBetween } from '../geocoding/distance.ts'
import { findPlace, type Point } from '../geocoding/postal-places.ts'
import { iso, addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx, Queries } from '../../platform/db/transaction.ts'
import { badRequest, invalidField, missingField, notFound } from '../../platform/http/errors.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { withNulls } from '../../platform/schema/schema.ts'
import { capabilitySet, type PscDirectory, isBookable } from '../psc/directory.ts'
import { BOOKABLE_VIA_API } from '../psc/schema.ts'
import { findSite, type SiteRecord } from '../psc/sites.ts'
import { countOverlapping, loadBookedSlots, type BookedSlots } from './capacity.ts'
import { slotsIn } from './schedule.ts'
import { hasBookableSite } from './schedules.ts'
import { selectScheduler } from './schedulers/choose-scheduler.ts'
import type { SitePlan } from './schedulers/scheduler.ts'
import { bookableLabs, type AvailabilityRequest } from './schema.ts'

const DAYS = 14
const SITES_MAX = 3
/** Number of sites near a ZIP code that are examined to find bookable ones. */
const CANDIDATES_MAX = 30
const KEY_S = 1800
const AHEAD_DAYS_MAX = 365

const NOT_BOOKABLE =
  'No slots found. Not all PSCs support scheduling appointments and some included in your query were filtered out because of this.'

export interface SchedulingDependencies {
  directory: PscDirectory
  vault: Vault
}

/** A bookable site and its plan. */
interface Candidate {
  site: SiteRecord
  plan: SitePlan
  /** Not rounded; undefined if the request named the sites. */
  miles?: number | undefined
}

/**
 * Returns the free slots at sites of a lab, for named sites or the nearest ones of a ZIP code, on fourteen days: one entry for each site
 * and day.
 * Errors: 400 neither sites nor a ZIP code, too many sites, a site that is unknown or inactive, a day that is over, no radius; 404 no site
 * is bookable here; 422 no lab, or an unknown one.
 */
export async function availability(tx: Tx, means: SchedulingDependencies, request: AvailabilityRequest): Promise<AvailableSlots> {
  const { lab, site_codes = [], zip_code, radius = '25' } = request
  if (lab === undefined) throw missingField(['query', 'lab'])
  if (site_codes.length === 0 && zip_code === undefined) throw badRequest('site_codes or zip_code must be provided')
  if (site_codes.length > SITES_MAX) throw badRequest('site_codes must be less than or equal to 3')
  if (zip_code !== undefined && !radius) throw badRequest('radius must be provided when using zip_code')
  const lab_id = await getLabId(tx, means.directory, lab)
  const center = zip_code === undefined ? undefined : await findPlace(tx, { country: 'US', postal_code: zip_code })
  const found = site_codes.length
    ? await sitesByCode(tx, lab_id, [...new Set(site_codes)], center)
    : await sitesNear(tx, means.directory, lab_id, center, Number(radius))
  const from = request.start_date
  if (from !== undefined) assertDay(tx, found, from)
  return { slots: await offeredSlots(tx, means.vault, lab, found, from), timezone: null }
}

/** Errors: 400 the team is not offered the lab, or it has no site to book; 422 unknown lab. */
async function getLabId(tx: Tx, directory: PscDirectory, lab: string): Promise<number> {
  const head = [...(await directory.labs(tx)).values()].find(({ slug }) => slug === lab)
  if (!head) throw invalidField(['query', 'lab'], 'lab not found')
  await assertTakesAppointments(tx, { id: head.lab_id, slug: lab })
  return head.lab_id
}

/** Errors: 400 the team is not offered the lab, or it has no site where appointments can be booked here. */
export async function assertTakesAppointments(tx: Tx, { id, slug }: Pick<Lab, 'id' | 'slug'>): Promise<void> {
  const takes = bookableLabs.includes(slug) || (await hasBookableSite(tx, id))
  if (!takes || !(await isOffered(tx, id))) throw badRequest('This lab is not supported.')
}

async function sitesByCode(tx: Tx, lab_id: number, codes: string[], center: Point | undefined): Promise<Candidate[]> {
  const sites: SiteRecord[] = []
  for (const code of codes) sites.push(await findBookableSite(tx, lab_id, code))
  const open = await withPlans(tx, lab_id, sites.filter(isBookableSite))
  if (open.length === 0) throw notFound(NOT_BOOKABLE)
  return open.map((candidate) => ({ ...candidate, miles: center && milesBetween(center, candidate.site) }))
}

async function sitesNear(
  tx: Tx,
  directory: PscDirectory,
  lab_id: number,
  center: Point | undefined,
  radius_miles: number,
): Promise<Candidate[]> {
  const sites = center && (await directory.sites(tx, lab_id))
  if (!sites?.inRadius(center!, radius_miles).length) throw notFound('No slots found for zip code')
  const nearest = sites.nearest(center!, radius_miles, capabilitySet([BOOKABLE_VIA_API]), CANDIDATES_MAX)
  const records: SiteRecord[] = []
  for (const { index } of nearest) {
    const site = await findSite(tx, lab_id, sites.codes[index]!)
    if (site?.active) records.push(site)
  }
  const open = await withPlans(tx, lab_id, records)
  if (open.length === 0) throw notFound(NOT_BOOKABLE)
  return open.slice(0, SITES_MAX).map((candidate) => ({ ...candidate, miles: milesBetween(center!, candidate.site) }))
}

async function withPlans(tx: Tx, lab_id: number, sites: SiteRecord[]): Promise<Candidate[]> {
  const plans = await selectScheduler(tx.tenant).loadPlans(tx, lab_id, sites, tx.now)
  return sites.flatMap((site) => {
    const plan = plans.get(site.site_code)
    return plan ? [{ site, plan }] : []
  })
}

/** At the site it may still be yesterday. */
function assertDay(tx: Tx, candidates: Candidate[], firstDay: string): void {
  const days = candidates.map(({ plan: { calendar } }) => calendar.dayOf(tx.now))
  if (days.every((today) => firstDay < today)) throw badRequest('start_date must be greater or equal than the current date')
  const { calendar } = candidates[0]!.plan
  if (firstDay > calendar.plusDays(days[0]!, AHEAD_DAYS_MAX)) throw badRequest('start_date must be within a year')
}

async function offeredSlots(
  tx: Tx,
  vault: Vault,
  lab: string,
  candidates: Candidate[],
  firstDay: string | undefined,
): Promise<AvailableSlots['slots']> {
  const codes = candidates.map(({ site }) => site.site_code)
  // One day more on both sides: the days of sites begin at different instants.
  const begin = firstDay === undefined ? tx.now : new Date(`${firstDay}T00:00:00Z`)
  const span = { start: addSeconds(begin, -2 * 86_400), end: addSeconds(begin, (DAYS + 2) * 86_400) }
  const booked = Map.groupBy(await loadBookedSlots(tx, lab, codes, span), ({ site_code }) => site_code)
  return candidates.flatMap(({ site, plan, miles }) => {
    const first = firstDay ?? plan.calendar.dayOf(tx.now)
    const location = toLocation(site, plan, miles)
    const here = booked.get(site.site_code) ?? []
    return Array.from({ length: DAYS }, (_, index) => {
      const date = plan.calendar.plusDays(first, index)
      return { location, date, slots: freeSlots(tx, vault, { lab, site_code: site.site_code, plan, bookedSlots: here }, date) }
    })
  })
}

const toLocation = (site: SiteRecord, plan: SitePlan, miles: number | undefined): AppointmentLocation => ({
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
  site: { lab: string; site_code: string; plan: SitePlan; bookedSlots: BookedSlots[] },
  day: string,
): TimeSlot[] {
  const { lab, site_code, plan, bookedSlots: booked } = site
  const toEpochSeconds = (date: Date) => date.getTime() / 1000
  return slotsIn(plan.openings(day), plan.slot_minutes, tx.now).flatMap((slot) => {
    if (plan.offered_from && slot.start < plan.offered_from) return []
    const free = plan.places - countOverlapping(booked, slot)
    if (free <= 0) return []
    const until = addSeconds(tx.now, KEY_S)
    const expires = until < slot.start ? until : slot.start
    const offer = { provider: lab, lab, site: site_code, start_s: toEpochSeconds(slot.start), end_s: toEpochSeconds(slot.end) }
    return {
      booking_key: bookingKey(vault, tx.tenant, { ...offer, price: plan.price, expires_s: toEpochSeconds(expires) }),
      start: iso(slot.start),
      end: iso(slot.end),
      expires_at: iso(expires),
      price: plan.price,
      is_priority: false,
      num_appointments_available: free,
    }
  })
}

/** Returns an active site of a lab. Errors: 400 unknown or inactive site. */
export async function findBookableSite(tx: Pick<Queries, 'maybe'>, lab_id: number, code: string): Promise<SiteRecord> {
  const site = await findSite(tx, lab_id, code)
  if (!site) throw badRequest(`Location with site code ${code} not found`)
  if (!site.active) throw badRequest(`Location with site code ${code} is no longer active`)
  return site
}

export const isBookableSite = ({ capabilities }: SiteRecord): boolean => isBookable(capabilitySet(capabilities))

export const addressOf = (site: SiteRecord): UsAddress => withNulls(UsAddress, site)
