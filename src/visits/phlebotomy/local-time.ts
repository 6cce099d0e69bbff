// Local times in time zones, for working hours. Pure; the table of zones is loaded at the first use.
import { MINUTE_MS } from '../../platform/runtime/durations.ts'

const DAY_MINUTES = 1440

/** A span of time, in ms. */
export interface Span {
  start_ms: number
  end_ms: number
}

/** Selects the instant of a local time that occurs twice or is skipped when the clock changes. */
type DayBoundary = 'start' | 'end'

/** A calendar day in a time zone. */
export interface LocalDay {
  date: string
  /** 0 is Monday. */
  weekday: number
  /**
   * Returns the instant, in ms, of a minute of the day, 0 to 1440. A time that occurs twice is its first occurrence. For a skipped time, a
   * `start` moves later by the length of the gap and an `end` earlier by it, so that nothing lasts longer than the clock shows.
   */
  toInstant(minute: number, boundary: DayBoundary): number
}

export interface WallClocks {
  day(date: string, zone: string): LocalDay
  /** Returns the days that overlap a range, in order. */
  days(range: Span, zone: string): LocalDay[]
  /** Returns the calendar day of an instant. */
  localDate(at_ms: number, zone: string): string
}

/** Returns the calendar day a number of days later. */
export const plusDays = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MINUTES * MINUTE_MS).toISOString().slice(0, 10)

const weekdayOf = (date: string): number => (new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7

/** Cached days: a day's hours are the same for all staff of a zone. */
const cachedDays = new Map<string, LocalDay>()
const KNOWN_MAX = 5000

/** Returns local clocks for one query; they cache the ranges that the query repeats. */
export async function wallClocks(): Promise<WallClocks> {
  const { Temporal } = await import('temporal-polyfill')

  const find = (date: string, minute: number, zone: string, boundary: DayBoundary): number => {
    const day = Temporal.PlainDate.from(minute < DAY_MINUTES ? date : plusDays(date, 1))
    const left = minute % DAY_MINUTES
    return day
      .toPlainDateTime({ hour: Math.floor(left / 60), minute: left % 60 })
      .toZonedDateTime(zone, { disambiguation: boundary === 'start' ? 'compatible' : 'earlier' }).epochMilliseconds
  }

  function newDay(date: string, zone: string): LocalDay {
    const found = { start: new Map<number, number>(), end: new Map<number, number>() }
    const toInstant = (minute: number, boundary: DayBoundary): number => {
      const before = found[boundary].get(minute)
      if (before !== undefined) return before
      const at_ms = find(date, minute, zone, boundary)
      found[boundary].set(minute, at_ms)
      return at_ms
    }
    return { date, weekday: weekdayOf(date), toInstant }
  }

  function day(date: string, zone: string): LocalDay {
    const key = `${zone} ${date}`
    const before = cachedDays.get(key)
    if (before) return before
    if (cachedDays.size >= KNOWN_MAX) cachedDays.clear()
    const wallDay = newDay(date, zone)
    cachedDays.set(key, wallDay)
    return wallDay
  }

  const localDate = (at_ms: number, zone: string): string =>
    Temporal.Instant.fromEpochMilliseconds(at_ms).toZonedDateTimeISO(zone).toPlainDate().toString()

  const ranges = new Map<string, LocalDay[]>()
  function days({ start_ms, end_ms }: Span, zone: string): LocalDay[] {
    const key = `${zone} ${start_ms} ${end_ms}`
    let list = ranges.get(key)
    if (list) return list
    list = []
    const last = localDate(end_ms, zone)
    for (let date = localDate(start_ms, zone); date <= last; date = plusDays(date, 1)) list.push(day(date, zone))
    ranges.set(key, list)
    return list
  }

  return { day, days, localDate }
}
