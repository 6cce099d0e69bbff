// Why a day is empty: what is known of each day of a user's resources.
import { getUser } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { iso, utcDate } from '../../platform/runtime/clock.ts'
import { CONTACT, dayRecords, type DayRecord } from '../../wearables/ingestion/day-records.ts'
import { lastRejectedPosts } from '../../wearables/ingestion/rejected-posts.ts'
import { listWatermarks } from '../pulls/ledger.ts'
import type { DayQuery, DayStatus, UserDays } from './schema.ts'
import { availableResources } from '../connections/availability.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

const DAYS_MAX = 92
/** Days that are shown if the query names none. */
const DAYS = 31
/** Nothing is known of earlier days. */
const EARLIEST_MS = Date.UTC(1900, 0)

/** The range of a query. Errors: 422 the end is before the start, more than 92 days, or before 1900. */
function datesInRange(tx: Tx, { start_date, end_date }: DayQuery): string[] {
  const to = end_date ?? utcDate(tx.now)
  const to_ms = Date.parse(to)
  const from_ms = start_date === undefined ? Math.max(to_ms - (DAYS - 1) * DAY_MS, EARLIEST_MS) : Date.parse(start_date)
  for (const [name, ms] of [
    ['start_date', from_ms],
    ['end_date', to_ms],
  ] as const)
    if (ms < EARLIEST_MS) throw invalidField(['query', name], 'must not be before 1900')
  if (from_ms > to_ms) throw invalidField(['query', 'end_date'], 'must not be before start_date')
  const count = (to_ms - from_ms) / DAY_MS + 1
  if (count > DAYS_MAX) throw invalidField(['query', 'end_date'], `must be at most ${DAYS_MAX - 1} days after start_date`)
  return Array.from({ length: count }, (_, i) => utcDate(new Date(from_ms + i * DAY_MS)))
}

type Bits = Pick<DayRecord, 'asked' | 'answered' | 'received' | 'stored' | 'failed'>
const nothing: Bits = { asked: 0, answered: 0, received: 0, stored: 0, failed: 0 }

/** What has come of a day says more than what was tried. */
function dayStatus({ asked, answered, received, stored, failed }: Bits, bit: number): DayStatus {
  if (stored & bit) return 'stored'
  if (received & bit) return 'received'
  if (failed & bit) return 'failed'
  if (answered & bit) return 'empty'
  return asked & bit ? 'asked' : 'not_asked'
}

const bitOf = (date: string): number => 1 << (Number(date.slice(8)) - 1)

function toDays(dates: string[], records: DayRecord[]): UserDays['data'][number]['resources'][number]['days'] {
  const months = new Map(records.map((record) => [record.month.slice(0, 7), record]))
  return dates.map((date) => {
    const month = months.get(date.slice(0, 7)) ?? nothing
    const bit = bitOf(date)
    return { date, status: dayStatus(month, bit), asked: (month.asked & bit) !== 0, failed: (month.failed & bit) !== 0 }
  })
}

function lastErrorOf(records: DayRecord[]) {
  const [last] = records
    .filter(({ errored_at }) => errored_at !== null)
    .toSorted((a, b) => Date.parse(b.errored_at!) - Date.parse(a.errored_at!))
  if (!last) return null
  const { error_type, error_message, errored_at } = last
  return { error_type: error_type!, error_message: error_message ?? '', errored_at: iso(new Date(errored_at!)) }
}

/**
 * Shows, for each provider and resource of a user, what is known of each day of a range, and on which days the client of the provider was
 * in contact; of a cloud, when it last notified and was polled. Resources that the user allows and of which nothing is known are shown as not asked for.
 * Errors: 404 unknown user; 422 the range ends before it starts, has more than 92 days, or begins before 1900.
 */
export async function introspectDays(tx: Tx, query: DayQuery): Promise<UserDays> {
  const { user_id, provider, resource } = query
  const dates = datesInRange(tx, query)
  const [start_date, end_date] = [dates[0]!, dates.at(-1)!]
  await getUser(tx, user_id)
  const providers = new Map<string, Map<string, DayRecord[]>>()
  const add = (providerName: string, name: string): DayRecord[] => {
    const resources = providers.get(providerName) ?? new Map<string, DayRecord[]>()
    providers.set(providerName, resources)
    const records = resources.get(name) ?? []
    resources.set(name, records)
    return records
  }
  for (const allowed of await availableResources(tx, [user_id], provider))
    for (const name of allowed.resources) if (resource === undefined || resource === name) add(allowed.provider, name)
  for (const record of await dayRecords(tx, user_id, { start_date, end_date, provider, resource }))
    add(record.provider, record.resource).push(record)
  const watermarks = new Map((await listWatermarks(tx, user_id)).map((mark) => [mark.provider, mark]))
  const rejected = new Map(
    (await lastRejectedPosts(tx, [user_id])).map(({ provider, resource, posts }) => [`${provider} ${resource}`, posts]),
  )
  const data = [...providers].map(([name, resources]) => {
    const { notified_at = null, polled_at = null } = watermarks.get(name) ?? {}
    const contact = toDays(dates, resources.get(CONTACT) ?? [])
    resources.delete(CONTACT)
    return {
      provider: name,
      notified_at,
      polled_at,
      contact_days: contact.filter(({ status }) => status !== 'not_asked').map(({ date }) => date),
      resources: [...resources].map(([resource, records]) => ({
        resource,
        days: toDays(dates, records),
        last_error: lastErrorOf(records),
        rejected_posts: rejected.get(`${name} ${resource}`) ?? 0,
      })),
    }
  })
  return { user_id, start_date, end_date, data }
}
