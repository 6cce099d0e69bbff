// How a site works: when it is open, how long an appointment takes, how many come at a time. Pure.
import { T, type Static } from '../../platform/schema/schema.ts'

export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const

/** Minutes of a day, from and to; 1440 is its end. */
const Span = T.Tuple([T.Integer(), T.Integer()])
export type Span = Static<typeof Span>

export const Schedule = T.Object({
  /** Of each day of the week, from Monday on; in order, and none overlaps another. */
  hours: T.Array(T.Array(Span)),
  /** Days on which it is closed whatever day of the week they are. */
  closed: T.Array(T.String()),
  slot_minutes: T.Integer(),
  places: T.Integer(),
  price: T.Number(),
  /** Whether a booking is ours at once, or has to be confirmed by people. */
  confirms: T.Union([T.Literal('at_once'), T.Literal('by_hand')]),
})
export type Schedule = Static<typeof Schedule>

/** An opening as instants. */
export type Opening = [from: Date, to: Date]

/** The calendar of a time zone. It stands on a package that is loaded when somebody asks for appointments. */
export interface Calendar {
  /** The day there at an instant. */
  dayOf(at: Date): string
  /** So many days later. */
  plusDays(day: string, days: number): string
  /** The instant of a minute of a day; one that the clocks skip is as much later. */
  instantOf(day: string, minute: number): Date
  /** 0 is Monday. */
  weekdayOf(day: string): number
  /** Minutes since the day began, as the clocks show them. */
  minuteOf(at: Date): number
}

export async function calendarOf(zone: string): Promise<Calendar> {
  const { Temporal } = await import('temporal-polyfill')
  const localTime = (at: Date) => Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(zone)
  return {
    dayOf: (at) => localTime(at).toPlainDate().toString(),
    plusDays: (day, days) => Temporal.PlainDate.from(day).add({ days }).toString(),
    instantOf(day, minute) {
      const date = Temporal.PlainDate.from(day).add({ days: Math.floor(minute / 1440) })
      const plainTime = { hour: Math.floor((minute % 1440) / 60), minute: minute % 60 }
      return new Date(date.toZonedDateTime({ timeZone: zone, plainTime }).epochMilliseconds)
    },
    weekdayOf: (day) => Temporal.PlainDate.from(day).dayOfWeek - 1,
    minuteOf(at) {
      const { hour, minute } = localTime(at)
      return hour * 60 + minute
    },
  }
}

/** When a site is open on a day. */
export const openingsOf = (schedule: Schedule, calendar: Calendar, day: string): Opening[] =>
  schedule.closed.includes(day)
    ? []
    : schedule.hours[calendar.weekdayOf(day)]!.map(([from, to]) => [calendar.instantOf(day, from), calendar.instantOf(day, to)])

export interface Slot {
  start: Date
  end: Date
}

/**
 * The appointments that fit into openings, from `after` on. They are counted by the time that passes and not by what the clocks show:
 * an hour that the clocks skip has none, and one that comes twice has twice as many.
 */
export function slotsIn(openings: Opening[], slot_minutes: number, after: Date): Slot[] {
  const slots: Slot[] = []
  const long = slot_minutes * 60_000
  for (const [from, to] of openings)
    for (let start = from.getTime(); start + long <= to.getTime(); start += long)
      if (start > after.getTime()) slots.push({ start: new Date(start), end: new Date(start + long) })
  return slots
}
