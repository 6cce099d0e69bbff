// The span of floating time that a query reads. Source: users-wearables.md 15.1. Unsourced: the day of the anchor is included.
import { sql, type Sql } from '../../platform/db/sql.ts'
import { DateOnly, Fields, OpenEnum, T, type Static } from '../../platform/schema/schema.ts'
import { addPeriods, floatingText } from './buckets.ts'
import { PeriodShape, type Period } from './query-language.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

export const Timeframe = Fields(
  { type: OpenEnum(['relative']), anchor: DateOnly, past: T.Unsafe<Period>(PeriodShape) },
  {
    title: 'RelativeTimeframe',
    description: 'The time from `past` before the end of the day `anchor` to that end, in local time.',
  },
)
export type Timeframe = Static<typeof Timeframe>

/** From `from_ms`, included, to `to_ms`, excluded: local wall time. */
export interface Span {
  from_ms: number
  to_ms: number
}

/** Samples are not older, and days of people before it hold no data. */
export const EARLIEST_MS = Date.UTC(1899, 11, 30)
/** PostgreSQL reads years of four digits. */
export const LATEST_MS = Date.UTC(9999, 11, 31)

export function spanOf({ anchor, past }: Timeframe): Span {
  const end = Date.parse(`${anchor}T00:00:00Z`) + DAY_MS
  const clamp = (ms: number) => Math.min(LATEST_MS, Math.max(EARLIEST_MS, ms))
  return { from_ms: clamp(addPeriods(end, past, -1)), to_ms: clamp(end) }
}

/** The user whose rows a query reads. */
export interface Owner {
  team: string
  user_id: string
}

/** Days between the local day of a row and the day of its index; no zone is farther from UTC than 14 hours. */
const MARGIN_DAYS = 2

/** The rows of `summary s` on the days that a span touches, with a margin. */
export const daysAround = ({ from_ms, to_ms }: Span, before_days = 0): Sql =>
  sql`s.calendar_date between ${floatingText(from_ms - (MARGIN_DAYS + before_days) * DAY_MS).slice(0, 10)}::date
      and ${floatingText(Math.min(to_ms + MARGIN_DAYS * DAY_MS, LATEST_MS)).slice(0, 10)}::date`
