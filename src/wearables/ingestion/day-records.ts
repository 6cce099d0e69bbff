// What is known of each day of a resource: whether a source was asked for it, has answered, whether data came in and was stored, and whether
// that failed. One row for a user, provider, resource and month, with a bit for each day. Owns the table day_record.
import type { Tx } from '../../platform/db/transaction.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import type { Resource } from '../resources/resources.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

export const EARLIEST_DAY = Date.UTC(1900, 0) / DAY_MS
/** Days of a range that are recorded, the last ones: ten years. A longer one would write a row for each month since 1900. */
const RANGE_DAYS_MAX = 3653

/** Under this name, in addition to resources: days on which the client of a provider has been in contact. */
export const CONTACT = 'connection'

/**
 * asked: a source was asked for the day, or has announced it. answered: the source has sent everything that it has of the day, so that a day
 * without data is empty. received: data of the day came in. stored: it was stored. failed: it could not be had; see the error.
 */
export type DayOutcome = 'asked' | 'answered' | 'received' | 'stored' | 'failed'

interface DayError {
  /** A word for programs, such as `provider_rate_limit_exceeded`. */
  type: string
  /** For people; without data of patients. At most 300 characters are kept. */
  message: string
}

/** Days since 1970. */
export type DayNumber = number
export const dayOf = (at_ms: number): DayNumber => Math.floor(at_ms / DAY_MS)
/** The local day of a sample; in UTC where its offset is not known. */
export const localDayOf = ({ at_ms, zone_s }: { at_ms: number; zone_s: number | null }): DayNumber =>
  Math.floor((at_ms + (zone_s ?? 0) * 1000) / DAY_MS)

export interface Days {
  user_id: string
  provider: string
  resource: Resource | typeof CONTACT
  outcome: DayOutcome
  /**
   * Days in any order, or a range of which both ends are included. Days before 1900 and after tomorrow are left out, and of a range all
   * days but the last ten years.
   */
  days: Iterable<DayNumber> | { first: DayNumber; last: DayNumber }
  /** Why it failed. */
  error?: DayError
}

/** The days between two instants, in UTC; the second one is not included, unless they are one. */
export const daysBetween = (from_ms: number, to_ms: number): { first: DayNumber; last: DayNumber } => ({
  first: dayOf(from_ms),
  last: dayOf(to_ms > from_ms ? to_ms - 1 : to_ms),
})

const dayOutcomes = ['asked', 'answered', 'received', 'stored', 'failed'] as const
type Masks = Record<(typeof dayOutcomes)[number], number>

/** The bits of one row that a transaction sets. */
interface Change extends Masks {
  user_id: string
  provider: string
  resource: string
  month: string
  error: DayError | undefined
}

const set: Record<DayOutcome, Partial<Record<keyof Masks, true>>> = {
  asked: { asked: true },
  answered: { asked: true, answered: true },
  received: { received: true },
  stored: { received: true, stored: true },
  failed: { asked: true, failed: true },
}

/**
 * Records what is known of days. Writes day_record when the transaction ends, so that it takes no round trip of its own; rows that say it
 * already are not written. An answer and data end an earlier failure of their days.
 */
export function recordDays(tx: Tx, { user_id, provider, resource, outcome, days, error }: Days): void {
  const tomorrow = dayOf(tx.now.getTime()) + 1
  const months = new Map<string, number>()
  let [month, mask] = ['', 0]
  // A post may name each day ten thousand times.
  for (const day of 'first' in days ? listDays(days.first, days.last, tomorrow) : new Set(days)) {
    if (!(day >= EARLIEST_DAY && day <= tomorrow)) continue
    const date = new Date(day * DAY_MS)
    const ofDay = date.toISOString().slice(0, 8)
    if (ofDay !== month) {
      if (mask) months.set(month, mask)
      month = ofDay
      mask = months.get(month) ?? 0
    }
    mask |= 1 << (date.getUTCDate() - 1)
  }
  if (mask) months.set(month, mask)
  for (const [name, bits] of months) {
    const change: Change = { user_id, provider, resource, month: `${name}01`, ...noMasks(), error }
    for (const column of dayOutcomes) if (set[outcome][column]) change[column] = bits
    tx.deferBatched(change, writeDays)
  }
}

const noMasks = (): Masks => ({ asked: 0, answered: 0, received: 0, stored: 0, failed: 0 })

function* listDays(first: DayNumber, last: DayNumber, max: DayNumber): Generator<DayNumber> {
  const end = Math.min(last, max)
  for (let day = Math.max(first, EARLIEST_DAY, end - RANGE_DAYS_MAX + 1); day <= end; day++) yield day
}

/** Both changes, one after the other, as one. */
const joinChanges = (first: Change, second: Change): Change => ({
  ...second,
  asked: first.asked | second.asked,
  answered: first.answered | second.answered,
  received: first.received | second.received,
  stored: first.stored | second.stored,
  failed: (first.failed & ~(second.answered | second.received)) | second.failed,
  error: second.error ?? first.error,
})

const storableText = (value: string | undefined, max: number): string | null =>
  value === undefined ? null : value.slice(0, max).toWellFormed().replaceAll('\0', '')

/** Rows in the order of their keys: transactions that lock several of them do not wait for each other in a circle. */
function writeDays(tx: Tx, changes: Change[]): Sql {
  const rows = new Map<string, Change>()
  for (const change of changes) {
    const key = JSON.stringify([change.user_id, change.provider, change.resource, change.month])
    const before = rows.get(key)
    rows.set(key, before ? joinChanges(before, change) : change)
  }
  const sorted = [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change)
  const days = sorted.map(({ error, ...change }) => ({
    ...change,
    error_type: storableText(error?.type, 60),
    error_message: storableText(error?.message, 300),
  }))
  return sql`
    insert into day_record as d (
      team_id, user_id, provider, resource, month, asked, answered, received, stored, failed, error_type, error_message, errored_at)
    select ${tx.team}::uuid, g.user_id, g.provider, g.resource, g.month, g.asked, g.answered, g.received, g.stored, g.failed,
           g.error_type, g.error_message, case when g.error_type is not null then ${tx.now}::timestamptz end
    from jsonb_to_recordset(${JSON.stringify(days)}::jsonb) as g (
      user_id uuid, provider text, resource text, month date, asked integer, answered integer, received integer, stored integer,
      failed integer, error_type text, error_message text)
    where not exists (
      select from day_record h
      where h.team_id = ${tx.team} and h.user_id = g.user_id and h.provider = g.provider and h.resource = g.resource and h.month = g.month
        and g.asked & ~h.asked = 0 and g.answered & ~h.answered = 0 and g.received & ~h.received = 0 and g.stored & ~h.stored = 0
        and g.failed = 0 and h.failed & (g.answered | g.received) = 0)
    on conflict (team_id, user_id, provider, resource, month) do update
    set asked = d.asked | excluded.asked, answered = d.answered | excluded.answered, received = d.received | excluded.received,
        stored = d.stored | excluded.stored,
        failed = d.failed & ~(excluded.answered | excluded.received) | excluded.failed,
        error_type = coalesce(excluded.error_type, d.error_type),
        error_message = case when excluded.error_type is null then d.error_message else excluded.error_message end,
        errored_at = coalesce(excluded.errored_at, d.errored_at)`
}

const bits = { asked: T.Integer(), answered: T.Integer(), received: T.Integer(), stored: T.Integer(), failed: T.Integer() }
const Row = T.Object({
  provider: T.String(),
  resource: T.String(),
  month: T.String(),
  ...bits,
  error_type: Nullable(T.String()),
  error_message: Nullable(T.String()),
  errored_at: Nullable(T.String()),
})
/** What is known of the days of a month: bit 0 is its first day. */
export type DayRecord = Static<typeof Row>

interface RecordQuery {
  start_date: string
  end_date: string
  provider: string | undefined
  resource: string | undefined
}

/** What is known of a user's resources, from the month of the first day to that of the second one. */
export const dayRecords = (
  tx: Tx,
  user_id: string,
  { start_date, end_date, provider, resource }: RecordQuery,
): Promise<DayRecord[]> =>
  tx.many(
    Row,
    sql`
    select provider, resource, month::text as month, asked, answered, received, stored, failed, error_type, error_message, errored_at
    from day_record
    where team_id = ${tx.team} and user_id = ${user_id} and month between date_trunc('month', ${start_date}::date) and ${end_date}::date
      and provider = coalesce(${provider ?? null}, provider)
      and (resource = coalesce(${resource ?? null}, resource) or resource = ${CONTACT})
    order by provider, resource, month`,
  )
