// Parses the opening hours that a directory shows of a site, if possible: laboratories use different formats. Pure.
import type { SiteRecord } from '../psc/sites.ts'
import { weekdays, type Span } from './schedule.ts'

const TIMES = /^([01]\d|2[0-4]):([0-5]\d)\s*-\s*([01]\d|2[0-4]):([0-5]\d)$/
const DAY_MINUTES = 1440
const TEXT_MAX = 200

/**
 * Returns when a site is open on a day of the week, 0 for Monday, in minutes of the day. An empty list: the site is closed, because the day
 * is null or absent although other days are present. Undefined: unknown, because there are no hours or they have another format.
 */
export function openHours(hours: SiteRecord['hours'], weekday: number): Span[] | undefined {
  if (hours === null || !weekdays.some((name) => name in hours)) return undefined
  const value = hours[weekdays[weekday]!]
  if (value === null || value === undefined) return []
  if (typeof value !== 'string' || value.length > TEXT_MAX) return undefined
  const spans = value
    .trim()
    .split(/[\s,]+(?=\d\d:\d\d\s*-)/)
    .map(spanOf)
  return spans.every((span) => span !== undefined) ? spans : undefined
}

function spanOf(text: string): Span | undefined {
  const times = TIMES.exec(text)?.slice(1).map(Number)
  if (!times) return undefined
  const [from, to] = [times[0]! * 60 + times[1]!, times[2]! * 60 + times[3]!]
  return from < to && to <= DAY_MINUTES ? [from, to] : undefined
}
