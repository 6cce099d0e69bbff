// The schedule of every site of a sandbox: today from the next full hour on, on other days in the morning, while the site is open and in
// its time zone. Capacity one, for each team. Source: lab-testing.md 24. That sites keep their own hours and time zone is a choice of this
// project; SANDBOX_PARITY disables it.
import { badRequest } from '../../../platform/http/errors.ts'
import { SLOT_UNAVAILABLE } from '../../appointments/booking-keys.ts'
import { timeZoneAt } from '../../geocoding/distance.ts'
import type { SiteRecord } from '../../psc/sites.ts'
import { openHours } from '../open-hours.ts'
import { calendarOf, type Calendar, type Opening, type Span } from '../schedule.ts'
import type { SitePlan, Scheduler } from './scheduler.ts'

const HOUR = 60
const SLOT = 20
const LAST_BOOKING_MINUTE = 16 * HOUR
const SAME_DAY_HOURS: Span = [0, 17 * HOUR]
const MORNING: Span = [7 * HOUR, 12 * HOUR]

/** The time zone of every site, as in the OpenAPI document of the reference. */
const PARITY_ZONE = 'America/New_York'

/** @param hasParity whether sites use that zone and ignore their opening hours */
const schedulerWith = (hasParity: boolean): Scheduler => ({
  hasSharedCapacity: false,
  slotTakenError: () => badRequest(SLOT_UNAVAILABLE),
  async loadPlans(_tx, _lab_id, sites, now) {
    const plans = new Map<string, SitePlan>()
    for (const site of sites) plans.set(site.site_code, await createPlan(site, now, hasParity))
    return plans
  },
})

export const sandboxScheduler = schedulerWith(false)
/** Where SANDBOX_PARITY is on. */
export const parityScheduler = schedulerWith(true)

async function createPlan(site: SiteRecord, now: Date, hasParity: boolean): Promise<SitePlan> {
  const zone = (hasParity ? undefined : await timeZoneAt(site.lat, site.lng)) ?? PARITY_ZONE
  const calendar = await calendarOf(zone)
  const openings = (day: string): Opening[] => {
    const offered = day === calendar.dayOf(now) ? SAME_DAY_HOURS : MORNING
    const open = hasParity ? undefined : openHours(site.hours, calendar.weekdayOf(day))
    return clipSpan(offered, open).map(([from, to]) => [calendar.instantAt(day, from), calendar.instantAt(day, to)])
  }
  return {
    zone,
    calendar,
    slot_minutes: SLOT,
    places: 1,
    price: 0,
    confirms: 'at_once',
    openings,
    offered_from: nextHour(calendar, now),
  }
}

/** The parts of a span within the opening hours, from a multiple of twenty minutes on; the whole span if the hours are unknown. */
const clipSpan = ([from, to]: Span, open: Span[] | undefined): Span[] =>
  open === undefined
    ? [[from, to]]
    : open
        .map(([opens, closes]): Span => [Math.max(from, Math.ceil(opens / SLOT) * SLOT), Math.min(to, closes)])
        .filter(([start, end]) => start < end)

/** The next full hour; tomorrow if it is late. */
function nextHour(calendar: Calendar, now: Date): Date {
  const today = calendar.dayOf(now)
  const minute = calendar.minuteOf(now)
  return minute < LAST_BOOKING_MINUTE
    ? calendar.instantAt(today, (Math.floor(minute / HOUR) + 1) * HOUR)
    : calendar.instantAt(calendar.plusDays(today, 1), 0)
}
