// The filters of the list of orders, as the API has them. Names of patients are searched apart, since they may not be in an address.
import type { Filter, FilterField } from '../../components/filters.ts'
import type { operations } from '../../api/schema.d.ts'

export type OrderQuery = NonNullable<operations['list_order_rows']['parameters']['query']>

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const DAY = /^\d{4}-\d{2}-\d{2}$/

const checkId = (value: string): string | undefined => (UUID.test(value) ? undefined : 'This is not a whole id')
const checkDay = (value: string): string | undefined =>
  DAY.test(value) && !Number.isNaN(Date.parse(value)) ? undefined : 'A day is written like 2026-11-28'

const STATES = ['received', 'collecting_sample', 'sample_with_lab', 'completed', 'cancelled', 'failed'] as const
const METHODS = ['testkit', 'walk_in_test', 'at_home_phlebotomy', 'on_site_collection'] as const
const INTERPRETATIONS = ['normal', 'abnormal', 'critical', 'unknown'] as const

export const ORDER_FIELDS: readonly FilterField[] = [
  { name: 'state', values: STATES },
  { name: 'method', values: METHODS },
  { name: 'status', example: 'awaiting_registration' },
  { name: 'interpretation', values: INTERPRETATIONS },
  { name: 'created_from', example: '2026-11-01', check: checkDay },
  { name: 'created_until', example: '2026-11-30', check: checkDay },
  { name: 'test', check: checkId },
  { name: 'user', check: checkId },
  { name: 'transaction', check: checkId },
]

/** The query of the API for filters: of several states, methods or statuses an order has one; the last day counts whole. */
export function toOrderQuery(filters: readonly Filter[], search: string): OrderQuery {
  const valuesOf = (name: string) => filters.filter((filter) => filter.name === name).map(({ value }) => value)
  const lastOf = (name: string) => valuesOf(name).at(-1)
  const query: Record<string, unknown> = {
    state: valuesOf('state'),
    order_type: valuesOf('method'),
    status: valuesOf('status'),
    interpretation: lastOf('interpretation'),
    start_date: lastOf('created_from'),
    end_date: lastOf('created_until'),
    lab_test_id: lastOf('test'),
    user_id: lastOf('user'),
    order_transaction_id: lastOf('transaction'),
    search_input: search.trim() || undefined,
  }
  const isSet = ([, value]: [string, unknown]) => (Array.isArray(value) ? value.length > 0 : value !== undefined)
  return Object.fromEntries(Object.entries(query).filter(isSet))
}
