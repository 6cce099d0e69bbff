// Time zones of samples and summaries: offsets and local days.
import { LRUCache } from 'lru-cache'
import { isTimeZone } from '../../platform/schema/formats.ts'

/** Offsets of zones change at whole quarters of an hour only. */
export const QUARTER_MS = 900_000
const offsets = new LRUCache<string, number>({ max: 20_000 })
const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: 500 })

/** Seconds east of UTC at an instant. */
export function zoneOffset(zone: string, at_ms: number): number {
  const quarter = Math.floor(at_ms / QUARTER_MS)
  const key = `${zone} ${quarter}`
  const known = offsets.get(key)
  if (known !== undefined) return known
  let format = formats.get(zone)
  if (!format) formats.set(zone, (format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })))
  const name = format.formatToParts(quarter * QUARTER_MS).find(({ type }) => type === 'timeZoneName')!.value
  const [, sign, hours, minutes, seconds] = /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(name)!
  const size = sign ? Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds ?? 0) : 0
  const offset = sign === '-' ? -size : size
  offsets.set(key, offset)
  return offset
}

/** The local day of an instant; in UTC where the zone is not known. */
export const localDate = (zone: string | null, at_ms: number): string =>
  new Date(at_ms + (zone === null ? 0 : zoneOffset(zone, at_ms) * 1000)).toISOString().slice(0, 10)

/** The zone as a client names it; null for one that this server does not know. */
export const validZone = (zone: string): string | null => (isTimeZone(zone) ? zone : null)
