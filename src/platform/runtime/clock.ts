// Time. Only the files of this folder read the system clock; all other code receives instants.

/** The system clock: leases, timeouts, rate limits. Never stored as a fact about a team. */
export const systemNow = (): Date => new Date()

/** An instant in the API format: UTC, whole seconds, explicit offset. Source: events.md E5. */
export const iso = (date: Date): string => `${date.toISOString().slice(0, 19)}+00:00`

/** As `iso`, from milliseconds. */
export const wireTime = (ms: number): string => iso(new Date(ms))

const writeCompact = (instant: Date): string => `${instant.toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}+0000`

/** The system time as messages between machines write it: `20300102081500+0000`, or as the machine at the other end wants it. */
export const compactSystemTime = (write: (instant: Date) => string = writeCompact): string => write(systemNow())

/** The UTC calendar day of an instant, `YYYY-MM-DD`. */
export const utcDate = (date: Date): string => date.toISOString().slice(0, 10)

/** Whole years from a date of birth to a date, both `YYYY-MM-DD`. */
export function ageOn(dob: string, today: string): number {
  const years = Number(today.slice(0, 4)) - Number(dob.slice(0, 4))
  return today.slice(5) < dob.slice(5) ? years - 1 : years
}

export const addSeconds = (date: Date, seconds: number): Date => new Date(date.getTime() + seconds * 1000)

/** The same instant without its fraction. Team time has no fractions, so that stored, shown and filtered values are equal. */
export const truncateToSeconds = (date: Date): Date => new Date(Math.floor(date.getTime() / 1000) * 1000)

/** The smallest UUID version 7 of an instant of the system clock. */
export function minUuidAt(date: Date): string {
  const hex = Math.max(0, date.getTime()).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7000-8000-000000000000`
}

/** The offset of a clock that shows `at` now, in whole seconds, rounded up. */
export const clockOffsetFor = (date: Date): number => Math.max(0, Math.ceil((date.getTime() - systemNow().getTime()) / 1000))

/** Whether an instant is past, by the system clock. */
export const isPast = (date: string | Date): boolean => new Date(date) <= systemNow()
