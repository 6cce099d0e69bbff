// The schedule of every site of a sandbox: in New York's time wherever it is; today from the next full hour on, on other days in the
// morning; one place at a time, of the team's own. Source: lab-testing.md 24.
import { badRequest } from '../platform/errors.ts'
import { SLOT_GONE } from '../appointments/booking-keys.ts'
import { calendarOf, type Calendar, type Opening, type Span } from './schedule.ts'
import type { Scheduler } from './scheduler.ts'

const ZONE = 'America/New_York'
const HOUR = 60
const LAST_CALL = 16 * HOUR
const TODAY: Span = [0, 17 * HOUR]
const MORNING: Span = [7 * HOUR, 12 * HOUR]

export const sandboxScheduler: Scheduler = {
  shared: false,
  full: () => badRequest(SLOT_GONE),
  async plans(_tx, _lab_id, sites, now) {
    const calendar = await calendarOf(ZONE)
    const openings = (day: string): Opening[] => {
      const [from, to] = day === calendar.dayOf(now) ? TODAY : MORNING
      return [[calendar.instantOf(day, from), calendar.instantOf(day, to)]]
    }
    const offered_from = nextHour(calendar, now)
    const plan = {
      zone: ZONE,
      calendar,
      slot_minutes: 20,
      places: 1,
      price: 0,
      confirms: 'at_once' as const,
      openings,
      offered_from,
    }
    return new Map(sites.map(({ site_code }) => [site_code, plan]))
  },
}

/** The next full hour; tomorrow, when it is late. */
function nextHour(calendar: Calendar, now: Date): Date {
  const today = calendar.dayOf(now)
  const minute = calendar.minuteOf(now)
  return minute < LAST_CALL
    ? calendar.instantOf(today, (Math.floor(minute / HOUR) + 1) * HOUR)
    : calendar.instantOf(calendar.plusDays(today, 1), 0)
}
