// The windows in which staff can visit, computed from working hours, days off and booked visits. Pure: reads no table and no clock.
import { plusDays, type LocalDay, type Span, type WallClocks } from './local-time.ts'
import { MINUTE_MS } from '../../platform/runtime/durations.ts'

export type { Span }

/** Number of days in every availability. Source: lab-testing.md 1, 19.2. */
const AVAILABILITY_DAYS = 14

/** Part of a day, in minutes of local time; `to` is at most 1440. */
export interface Hours {
  from_min: number
  to_min: number
}

/** The fields of a phlebotomist or team that determine its windows. */
export interface Schedule {
  time_zone: string
  /** By weekday, Monday first; the hours of a day are in order and do not overlap. */
  hours: readonly (readonly Hours[])[]
  days_off: ReadonlySet<string>
  /** Length of the window in which the patient expects the visit. */
  window_min: number
  visit_min: number
  /** Travel time from each visit to the next. */
  travel_min: number
  /** Number of concurrent visits. */
  capacity: number
  /** Minimum time between booking and visit. */
  notice_min: number
  price_cents: number
  priority?: { price_cents: number; hours: readonly Hours[] } | undefined
}

export interface Window extends Span {
  price_cents: number
  is_priority: boolean
}

/** A booked visit, and how long it blocks staff, including travel to the next. */
export interface BookedVisit extends Span {
  blocked_minutes: number
}

export interface OpenWindow extends Window {
  places: number
}

/**
 * Returns windows that start within `range`, soonest first. Within each span of working hours they follow one another without a gap. Each
 * lasts `window_min`, also when the clock changes; a shorter remainder is not used.
 */
export function createWindows(clocks: WallClocks, schedule: Schedule, range: Span): Window[] {
  const length_ms = schedule.window_min * MINUTE_MS
  const windows: Window[] = []
  for (const day of clocks.days(range, schedule.time_zone)) {
    if (schedule.days_off.has(day.date)) continue
    const urgent = schedule.priority?.hours.map((hours) => toSpan(day, hours)) ?? []
    for (const hours of schedule.hours[day.weekday]!) {
      const { start_ms, end_ms } = toSpan(day, hours)
      for (let start = start_ms; start + length_ms <= end_ms; start += length_ms) {
        if (start < range.start_ms || start >= range.end_ms) continue
        const is_priority = urgent.some((span) => start >= span.start_ms && start < span.end_ms)
        const price_cents = is_priority ? schedule.priority!.price_cents : schedule.price_cents
        windows.push({ start_ms: start, end_ms: start + length_ms, price_cents, is_priority })
      }
    }
  }
  return windows
}

const toSpan = (day: LocalDay, { from_min, to_min }: Hours): Span => ({
  start_ms: day.toInstant(from_min, 'start'),
  end_ms: day.toInstant(to_min, 'end'),
})

/** How long a visit blocks staff. */
export const blockedMinutes = ({ visit_min, travel_min }: Pick<Schedule, 'visit_min' | 'travel_min'>): number =>
  visit_min + travel_min

/**
 * Returns the number of visits that still fit into a window. Each person makes as many visits as fit one after the other, including travel.
 * A booked visit counts in every window that it overlaps, and as several visits if it takes longer than visits do now.
 */
export function remainingCapacity(schedule: Schedule, window: Span, bookedVisits: readonly BookedVisit[]): number {
  const blocked_minutes = blockedMinutes(schedule)
  let remaining = schedule.capacity * Math.floor(schedule.window_min / blocked_minutes)
  for (const visit of bookedVisits)
    if (visit.start_ms < window.end_ms && visit.end_ms > window.start_ms)
      remaining -= Math.ceil(visit.blocked_minutes / blocked_minutes)
  return Math.max(0, remaining)
}

/** Returns windows with remaining capacity, soonest first. */
export function openWindows(
  clocks: WallClocks,
  schedule: Schedule,
  range: Span,
  bookedVisits: readonly BookedVisit[],
): OpenWindow[] {
  const open: OpenWindow[] = []
  for (const window of createWindows(clocks, schedule, range)) {
    const remaining = remainingCapacity(schedule, window, bookedVisits)
    if (remaining > 0) open.push({ ...window, places: remaining })
  }
  return open
}

export interface Day {
  date: string
  windows: OpenWindow[]
}

/** Returns 14 dates from a date on, in the patient's time zone, and the range of instants that they cover. */
export function daysFrom(clocks: WallClocks, start_date: string, zone: string): { dates: string[]; range: Span } {
  const dates = Array.from({ length: AVAILABILITY_DAYS }, (_, index) => plusDays(start_date, index))
  const start_ms = clocks.day(start_date, zone).toInstant(0, 'start')
  const end_ms = clocks.day(plusDays(start_date, AVAILABILITY_DAYS), zone).toInstant(0, 'start')
  return { dates, range: { start_ms, end_ms } }
}

/**
 * Merges the windows of several staff by day: windows with the same start, end, price and type become one, with the sum of the capacities.
 * Every date has an entry, empty if nothing is open.
 */
export function byDay(clocks: WallClocks, dates: string[], zone: string, offers: readonly (readonly OpenWindow[])[]): Day[] {
  const merged = new Map<number, OpenWindow[]>()
  for (const windows of offers)
    for (const window of windows) {
      const beside = merged.get(window.start_ms)
      const same = beside?.find((candidate) => isSame(candidate, window))
      if (same) same.places += window.places
      else if (beside) beside.push({ ...window })
      else merged.set(window.start_ms, [{ ...window }])
    }
  const days = dates.map((date): Day => ({ date, windows: [] }))
  const ends = dates.map((date) => clocks.day(plusDays(date, 1), zone).toInstant(0, 'start'))
  const sorted = [...merged.values()]
    .flat()
    .sort((a, b) => a.start_ms - b.start_ms || a.end_ms - b.end_ms || a.price_cents - b.price_cents)
  let index = 0
  for (const window of sorted) {
    while (index < days.length && window.start_ms >= ends[index]!) index++
    days[index]?.windows.push(window)
  }
  return days
}

const isSame = (a: Window, b: Window): boolean =>
  a.end_ms === b.end_ms && a.price_cents === b.price_cents && a.is_priority === b.is_priority
