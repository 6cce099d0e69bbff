// What was left out of data that came in, because it cannot be: visible by day, and counted.
import { hookPoint } from '../../platform/db/hooks.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { Resource } from '../resources/resources.ts'
import { dayOf, EARLIEST_DAY, recordDays, type DayNumber } from './day-records.ts'

/** Samples, records or fields of records of a resource were rejected. */
export const recordsRejected = hookPoint<[provider: string, resource: string, count: number]>('ingestion.records_rejected')

/** What was rejected of one resource. */
export interface Rejected {
  user_id: string
  provider: string
  resource: Resource
  count: number
  /** Local days; those that cannot be do not count, and without any it is the present one. */
  days: DayNumber[]
  /** The first fault, without data of patients. */
  message: string
}

/** The type of the error that days show. */
export const REJECTED = 'invalid_data'
/** Days of one rejection that are recorded, the last ones. */
const DAYS_MAX = 92

/**
 * Records that a part of the data of some days was rejected. It must be called after what was stored of these days is recorded. Writes
 * day_record.
 */
export async function recordRejected(tx: Tx, { count, days, message, ...key }: Rejected): Promise<void> {
  if (!count) return
  const today = dayOf(tx.now.getTime())
  const possible = [...new Set(days)].filter((day) => day >= EARLIEST_DAY && day <= today + 1).toSorted((a, b) => b - a)
  const recorded = possible.length ? possible.slice(0, DAYS_MAX) : [today]
  recordDays(tx, { ...key, outcome: 'failed', days: recorded, error: { type: REJECTED, message } })
  await tx.notify(recordsRejected, key.provider, key.resource, count)
}
