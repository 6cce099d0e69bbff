// Wall clocks of time zones, as far as working hours need them. Pure; the table of zones is loaded at the first use.

export const MINUTE_MS = 60_000
const DAY_MINUTES = 1440

/** Which of two instants is meant where a clock is set back, and what is meant of a time that it skips. */
export type Edge = 'start' | 'end'

/** Wall clocks, whose answers are kept: a day's hours are the same for everybody in a zone. */
export interface WallClocks {
  /**
   * The instant, in ms, of a minute of a calendar day, 0 to 1440. A time that occurs twice is its first occurrence. Of a time that is
   * skipped, the `start` of something comes as much later, and its `end` as much earlier: nothing lasts longer than the clock says.
   */
  instant(date: string, minute: number, zone: string, edge: Edge): number
  /** The calendar day of an instant. */
  dateOf(at_ms: number, zone: string): string
}

/** The calendar day so many days after another. */
export const plusDays = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MINUTES * MINUTE_MS).toISOString().slice(0, 10)

/** Monday is 0. */
export const weekdayOf = (date: string): number => (new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7

const KEPT_MAX = 50_000
const kept = new Map<string, number>()

/** @see WallClocks */
export async function wallClocks(): Promise<WallClocks> {
  const { Temporal } = await import('temporal-polyfill')
  const find = (date: string, minute: number, zone: string, edge: Edge): number => {
    const day = Temporal.PlainDate.from(minute < DAY_MINUTES ? date : plusDays(date, 1))
    const left = minute % DAY_MINUTES
    return day
      .toPlainDateTime({ hour: Math.floor(left / 60), minute: left % 60 })
      .toZonedDateTime(zone, { disambiguation: edge === 'start' ? 'compatible' : 'earlier' }).epochMilliseconds
  }
  return {
    instant(date, minute, zone, edge) {
      const key = `${zone} ${date} ${minute} ${edge}`
      const known = kept.get(key)
      if (known !== undefined) return known
      const found = find(date, minute, zone, edge)
      if (kept.size >= KEPT_MAX) kept.clear()
      kept.set(key, found)
      return found
    },
    dateOf: (at_ms, zone) => Temporal.Instant.fromEpochMilliseconds(at_ms).toZonedDateTimeISO(zone).toPlainDate().toString(),
  }
}
