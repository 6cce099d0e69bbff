// Formats of strings: identifiers, email addresses, time zones, dates and instants as clients write them.
import { isUsualDate, usualTimestamp } from './usual-timestamps.ts'

/** The reason why a string does not match a format, in the vocabulary of management-auth.md 20.3. */
export class FormatError {
  readonly type: string
  readonly msg: string
  readonly ctx: Record<string, unknown>
  constructor(type: string, msg: string, ctx: Record<string, unknown>) {
    this.type = type
    this.msg = msg
    this.ctx = ctx
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const EMAIL = /^[^\s@<>()[\]\\,;:"]+@[^\s@.<>()[\]\\,;:"]+(\.[^\s@.<>()[\]\\,;:"]+)+$/
/** The areas of names of the IANA database. */
const AREAS = 'Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Brazil|Canada|Chile|Etc|Europe|Indian|Mexico|Pacific|US'
/** Its names without an area. A runtime has more of these, which it takes for zones of its own: `IST` for India, `AST` for Alaska. */
const OTHER_ZONES =
  'CET|CST6CDT|Cuba|EET|EST|EST5EDT|Egypt|Eire|GB|GB-Eire|GMT|GMT0|GMT[+]0|GMT-0|Greenwich|HST|Hongkong|Iceland|Iran|Israel|Jamaica|' +
  'Japan|Kwajalein|Libya|MET|MST|MST7MDT|NZ|NZ-CHAT|Navajo|PRC|PST8PDT|Poland|Portugal|ROC|ROK|Singapore|Turkey|UCT|UTC|Universal|' +
  'W-SU|WET|Zulu'
const ZONE = new RegExp(`^(?:(?:${AREAS})(?:/[A-Za-z0-9_+-]{1,40}){1,2}|${OTHER_ZONES})$`, 'i')
const TIMESTAMP =
  /^(\d{4})[-/](\d{2})[-/](\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?$/i

/** Format → the normalized string, or the reason why there is none. */
export const formats: Record<string, (value: string) => string | FormatError> = {
  uuid: (value) =>
    UUID.test(value)
      ? value.toLowerCase()
      : new FormatError('uuid_parsing', 'Input should be a valid UUID', { error: 'not the canonical form of a UUID' }),
  email: (value) =>
    EMAIL.test(value)
      ? value
      : new FormatError('value_error', 'value is not a valid email address', { reason: 'an address needs one @ and a domain' }),
  'iana-time-zone': (value) =>
    isTimeZone(value) ? value : new FormatError('value_error', 'Value error, not an IANA time zone', { error: {} }),
  date: (value) => {
    if (isUsualDate(value)) return value
    const timestamp = parseTimestamp(value)
    if (!timestamp)
      return new FormatError('date_from_datetime_parsing', 'Input should be a valid date or datetime', {
        error: 'not an ISO 8601 date',
      })
    const clock = value.slice(10)
    if (clock && !/^[T ]00:00(:00([.,]0+)?)?(?![\d:.,])/i.test(clock))
      return new FormatError(
        'date_from_datetime_inexact',
        'Datetimes provided to dates should have zero time - e.g. be exact dates',
        {},
      )
    return value.slice(0, 10).replaceAll('/', '-')
  },
  'date-of-birth': (value) =>
    !isUsualDate(value) && parseTimestamp(value) ? formats.date!(value.slice(0, 10)) : formats.date!(value),
  'date-time': (value) =>
    usualTimestamp(value) ??
    parseTimestamp(value)?.instant.toISOString() ??
    new FormatError('datetime_parsing', 'Input should be a valid datetime', { error: 'not an ISO 8601 date-time' }),
}

/** Names of zones that were asked for. The runtime takes a quarter of a millisecond to look one up, three times for each post of samples. */
const knownZones = new Set<string>()
/** The IANA database has about 600 names; clients can write each in many letter cases. */
const KNOWN_ZONES_MAX = 1000

/**
 * Whether the text is the name of a zone of the IANA database, or of one of its links, that the runtime knows: `Europe/Paris`, `UTC`,
 * `Japan`, `US/Pacific`, `Etc/GMT+5`, in any letter case. Not an offset, nor an abbreviation such as `PST`.
 */
export function isTimeZone(name: string): boolean {
  if (knownZones.has(name)) return true
  if (!ZONE.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    if (knownZones.size < KNOWN_ZONES_MAX) knownZones.add(name)
    return true
  } catch {
    return false
  }
}

/**
 * An ISO 8601 date or date-time as clients write it: no offset means UTC, `/` for `-`, a space for `T`, up to nine digits of fraction. Only
 * years with four digits, in UTC too.
 */
export function parseTimestamp(text: string): { instant: Date; dateOnly: boolean } | undefined {
  const m = TIMESTAMP.exec(text)
  if (!m) return undefined
  const [, year, month, date, hour, minute, second, fraction, zone] = m
  const ms = fraction ? Number(fraction.slice(0, 3).padEnd(3, '0')) : 0
  const parts = [
    Number(year),
    Number(month) - 1,
    Number(date),
    Number(hour ?? 0),
    Number(minute ?? 0),
    Number(second ?? 0),
    ms,
  ] as const
  const local = new Date(Date.UTC(...parts))
  if (
    Number(year) < 1 ||
    local.getUTCMonth() !== parts[1] ||
    local.getUTCDate() !== parts[2] ||
    parts[3] > 23 ||
    parts[4] > 59 ||
    parts[5] > 59
  )
    return undefined
  if (Number(year) < 100) local.setUTCFullYear(Number(year))
  const instant = new Date(local.getTime() - offsetMinutes(zone) * 60_000)
  return instant.getUTCFullYear() >= 1 && instant.getUTCFullYear() <= 9999 ? { instant, dateOnly: hour === undefined } : undefined
}

function offsetMinutes(zone: string | undefined): number {
  if (!zone || zone === 'Z' || zone === 'z') return 0
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', '') || 0)
  return zone[0] === '-' ? -minutes : minutes
}
