// Buckets of floating time: where a truncated instant begins, and periods before and after it. Floating time is local wall time as
// milliseconds of the same wall time in UTC. Pure. Buckets of several units are counted from 0001-01-01, which was a Monday.
import type { Period } from './query-language.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

/** A longer period reaches beyond all data, and beyond what PostgreSQL and JavaScript count. */
const YEARS_MAX = 2000

export const FIRST_DAY = '0001-01-01'
const FIRST_DAY_MS = Date.parse(`${FIRST_DAY}T00:00:00Z`)

const fixedMs = { minute: 60_000, hour: 3_600_000, day: DAY_MS, week: 7 * DAY_MS } as const
const isFixed = (unit: Period['unit']): unit is keyof typeof fixedMs => Object.hasOwn(fixedMs, unit)
/** A period of months or years in months. */
const monthsOf = ({ value, unit }: Period): number => (unit === 'year' ? 12 * value : value)

const monthStart = (months: number): number => {
  const at = new Date(0)
  at.setUTCFullYear(1 + Math.floor(months / 12), months % 12, 1)
  return at.getTime()
}

/** The beginning of the bucket that contains an instant. */
export function truncate(at_ms: number, period: Period): number {
  if (isFixed(period.unit)) {
    const size = fixedMs[period.unit] * period.value
    return FIRST_DAY_MS + Math.floor((at_ms - FIRST_DAY_MS) / size) * size
  }
  const at = new Date(at_ms)
  const months = (at.getUTCFullYear() - 1) * 12 + at.getUTCMonth()
  return monthStart(Math.floor(months / monthsOf(period)) * monthsOf(period))
}

/** The instant some periods later, or earlier for a negative number; the last day of a month where its day does not exist. */
export function addPeriods(at_ms: number, { value, unit }: Period, times: number): number {
  if (isFixed(unit)) return at_ms + Math.sign(times) * Math.min(Math.abs(times) * value * fixedMs[unit], YEARS_MAX * 366 * DAY_MS)
  const months = Math.sign(times) * Math.min(Math.abs(times) * monthsOf({ value, unit }), YEARS_MAX * 12)
  const at = new Date(at_ms)
  const day = at.getUTCDate()
  at.setUTCDate(1)
  at.setUTCMonth(at.getUTCMonth() + months)
  const last = new Date(at)
  last.setUTCMonth(last.getUTCMonth() + 1, 0)
  at.setUTCDate(Math.min(day, last.getUTCDate()))
  return at.getTime()
}

/** The units of PostgreSQL's intervals. */
export function intervalOf({ value, unit }: Period): { months: number; seconds: number } {
  return isFixed(unit)
    ? { months: 0, seconds: (fixedMs[unit] / 1000) * value }
    : { months: monthsOf({ value, unit }), seconds: 0 }
}

/** Floating time as results show it: `2026-01-31T09:30:00`, without an offset. */
export const floatingText = (at_ms: number): string => new Date(at_ms).toISOString().slice(0, 19)
export const floatingMs = (text: string): number => Date.parse(`${text}Z`)
