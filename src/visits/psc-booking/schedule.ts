// The schedule of a site: opening hours, slot length and capacity. Pure.
import { T, type Static } from '../../platform/schema/schema.ts'

export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const

/** Minutes of a day, from and to; 1440 is its end. */
const Span = T.Tuple([T.Integer(), T.Integer()])
export type Span = Static<typeof Span>

export const Schedule = T.Object({
  /** One list for each day of the week, Monday first; spans are in order and do not overlap. */
  hours: T.Array(T.Array(Span)),
  /** Dates on which the site is closed on any weekday. */
  closed: T.Array(T.String()),
  slot_minutes: T.Integer(),
  places: T.Integer(),
  price: T.Number(),
  /** Whether a booking is confirmed automatically or manually. */
  confirms: T.Union([T.Literal('at_once'), T.Literal('by_hand')]),
})
export type Schedule = Static<typeof Schedule>

/** Opening hours as instants. */
export type Opening = [from: Date, to: Date]

/** The calendar of a time zone. It uses a package that is loaded at the first request for appointments. */
export interface Calendar {
  /** The local date of an instant. */
  dayOf(instant: Date): string
  /** Returns the date a number of days later. */
  plusDays(day: string, days: number): string
  /** Returns the instant of a minute of a day; a skipped time moves later by the length of the gap. */
  instantAt(day: string, minute: number): Date
  /** 0 is Monday. */
  weekdayOf(day: string): number
  /** Minutes since the day began, in local time. */
  minuteOf(instant: Date): number
}

export async function calendarOf(zone: string): Promise<Calendar> {
  const { Temporal } = await import('temporal-polyfill')
  const localTime = (instant: Date) => Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(zone)
  return {
    dayOf: (instant) => localTime(instant).toPlainDate().toString(),
    plusDays: (day, days) => Temporal.PlainDate.from(day).add({ days }).toString(),
    instantAt(day, minute) {
      const date = Temporal.PlainDate.from(day).add({ days: Math.floor(minute / 1440) })
      const plainTime = { hour: Math.floor((minute % 1440) / 60), minute: minute % 60 }
      return new Date(date.toZonedDateTime({ timeZone: zone, plainTime }).epochMilliseconds)
    },
    weekdayOf: (day) => Temporal.PlainDate.from(day).dayOfWeek - 1,
    minuteOf(instant) {
      const { hour, minute } = localTime(instant)
      return hour * 60 + minute
    },
  }
}

/** Returns when a site is open on a day. */
export const openingsOn = (schedule: Schedule, calendar: Calendar, day: string): Opening[] =>
  schedule.closed.includes(day)
    ? []
    : schedule.hours[calendar.weekdayOf(day)]!.map(([from, to]) => [calendar.instantAt(day, from), calendar.instantAt(day, to)])

export interface Slot {
  start: Date
  end: Date
}

/**
 * Returns the slots that fit into openings, from `after` on. Slots count elapsed time, not local time: a skipped hour has none, and a
 * repeated hour has twice as many.
 */
export function slotsIn(openings: Opening[], slot_minutes: number, earliest: Date): Slot[] {
  const slots: Slot[] = []
  const long = slot_minutes * 60_000
  for (const [from, to] of openings)
    for (let start = from.getTime(); start + long <= to.getTime(); start += long)
      if (start > earliest.getTime()) slots.push({ start: new Date(start), end: new Date(start + long) })
  return slots
}
