// Instants and durations in words.

const UNITS = [
  ['y', 31_536_000],
  ['mo', 2_592_000],
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const

/** A duration by its largest unit, for example `3 d`; below a minute `now`. */
export function formatDuration(duration_ms: number): string {
  const seconds = Math.abs(duration_ms) / 1000
  for (const [unit, unit_s] of UNITS) if (seconds >= unit_s) return `${Math.floor(seconds / unit_s)} ${unit}`
  return 'now'
}

/** An instant relative to another, for example `3 min ago` or `in 2 d`. */
export function formatRelative(instant_ms: number, now_ms: number): string {
  const duration = formatDuration(instant_ms - now_ms)
  if (duration === 'now') return duration
  return instant_ms > now_ms ? `in ${duration}` : `${duration} ago`
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })

/** An instant in the viewer's zone, with seconds and the name of the zone. */
export const formatExact = (instant: Date): string => exact.format(instant)

/** An instant in the zone of a place, with the name of the zone. */
export const formatInZone = (instant: Date, time_zone: string): string =>
  new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long', timeZone: time_zone }).format(instant)

const minute = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })

/** An instant in the viewer's zone, to the minute and without the year. */
export const formatMinute = (instant: Date): string => minute.format(instant)

/** An instant as the value of an input of date and time, in the viewer's zone. */
export const localInput = (instant: Date): string =>
  new Date(instant.getTime() - instant.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
