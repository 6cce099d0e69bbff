// Instants as days and times of a place, for people. Pure. Zones are IANA names.

interface ZonedParts {
  /** `YYYY-MM-DD` */
  date: string
  /** `HH:MM`, 0 to 23 h. */
  time: string
  /** `MST`, `UTC`, `GMT+1`. */
  zone: string
}

/** A formatter takes a tenth of a millisecond to make. */
const formatters = new Map<string, Intl.DateTimeFormat>()
const FORMATTERS_MAX = 100

function formatterOf(zone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(zone)
  if (!formatter) {
    if (formatters.size >= FORMATTERS_MAX) formatters.clear()
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      timeZoneName: 'short',
    })
    formatters.set(zone, formatter)
  }
  return formatter
}

/** The day, the time and the name of the zone at an instant. */
export function zonedParts(instant: Date, zone: string): ZonedParts {
  const parts = formatterOf(zone).formatToParts(instant)
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)!.value
  return {
    date: `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`,
    time: `${part('hour')}:${part('minute')}`,
    zone: part('timeZoneName'),
  }
}

/** The calendar day of an instant in a zone, `YYYY-MM-DD`. */
export const dayIn = (instant: Date, zone: string): string => zonedParts(instant, zone).date

const MINUTE_MS = 60_000

/** An instant in ISO 8601 with the offset of a zone, in whole seconds: `2030-01-02T01:00:00-07:00`. */
export function instantIn(instant: Date, zone: string): string {
  const { date, time } = zonedParts(instant, zone)
  const seconds = instant.toISOString().slice(17, 19)
  const minutes = Math.round(
    (Date.parse(`${date}T${time}:${seconds}Z`) - Math.floor(instant.getTime() / 1000) * 1000) / MINUTE_MS,
  )
  const part = (value: number) => String(Math.trunc(value)).padStart(2, '0')
  const offset = `${minutes < 0 ? '-' : '+'}${part(Math.abs(minutes) / 60)}:${part(Math.abs(minutes) % 60)}`
  return `${date}T${time}:${seconds}${offset}`
}
