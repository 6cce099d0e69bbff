// Listing orders: filters, sorting, pages. Source: lab-testing.md 6.4.
import { utcDate } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { unprocessable } from '../../platform/http/errors.ts'
import type { Fault } from '../../platform/schema/fault.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import { parseTimestamp } from '../../platform/schema/formats.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { countedRows } from '../../platform/db/list-counts.ts'
import { joinConditions, likeAnywhere, sql, type Sql } from '../../platform/db/sql.ts'
import { toLowLevelStatus } from './status-machine.ts'
import { notAmongDeleted } from '../../people/users/users.ts'
import type { OrderFilters, OrderPage, OrderQuery } from './schema.ts'

/** An order as lists show it, and its user for the access log. */
const ListedOrder = T.Object({ document: T.String(), user_id: T.String() })

const Counted = T.Object({ n: T.Integer() })

/** A page of orders, newest first unless the request sorts otherwise, without orders of deleted users. Errors: 422 an invalid date. */
export async function listOrders(tx: Tx, query: OrderQuery): Promise<PreserializedJson<OrderPage>> {
  const page = query.page ?? 1
  const size = query.size ?? 50
  const filters = createFilters(tx, query)
  const key = query.order_key ?? 'created_at'
  const direction = query.order_direction ?? 'desc'
  const { total, rows } = await (searchesByName(query) ? searchFirst : readPage)(tx, { filters, key, direction, page, size })
  for (const { user_id } of rows) tx.concerns(user_id)
  const orders = rows.map(({ document }) => document).join()
  const text = `{"orders":[${orders}],"total":${total},"page":${page},"size":${size}}`
  return new PreserializedJson(text, { searchForUsers: false })
}

/** The condition that the user of an order is not deleted. */
export const isVisible = (tx: Tx): Sql => notAmongDeleted(tx, sql`user_id`)

/** The filters, sorting and page of a list. */
interface ListQuery {
  filters: Sql[]
  key: string
  direction: 'asc' | 'desc'
  page: number
  size: number
}

/** The rows before the page are skipped by their ids, which an index has for the usual order: their documents are not read. */
async function readPage(tx: Tx, { filters, key, direction, page, size }: ListQuery) {
  const order = sorting[key]![direction]
  // One after the other: a request holds one connection at a time.
  const total = filters.length ? await countMatches(tx, filters) : await countOrders(tx)
  const rows = await tx.many(
    ListedOrder,
    sql`
    select document, user_id from lab_order
    where team_id = ${tx.team} and id = any (array(
      select id from lab_order where team_id = ${tx.team} and ${joinConditions(filters)} and ${isVisible(tx)}
      order by ${order} offset ${(page - 1) * size} limit ${size}))
    order by ${order}`,
  )
  return { total, rows }
}

async function countMatches(tx: Tx, filters: Sql[]): Promise<number> {
  const { n } = await tx.one(
    Counted,
    sql`select count(*) as n from lab_order where team_id = ${tx.team} and ${joinConditions(filters)} and ${isVisible(tx)}`,
  )
  return n
}

/**
 * Returns the number of the team's orders, without those of deleted users, which are few: they are erased after seven days. Their orders are
 * counted user by user: a join is planned as a scan of all orders when the statistics expect many orders of a user.
 */
export async function countOrders(tx: Tx): Promise<number> {
  const { n } = await tx.one(
    Counted,
    sql`
    select ${countedRows(tx, 'orders')} - coalesce((
      select sum(hidden.n) from "user" gone,
        lateral (select count(*) as n from lab_order o where o.user_id = gone.id and o.team_id = ${tx.team}) hidden
      where gone.team_id = ${tx.team} and gone.deleted_at is not null), 0)::bigint as n`,
  )
  return n
}

/** A trigram index needs three letters. */
const hasTrigram = (text: string | undefined): boolean => (text?.match(/[\p{L}\p{N}]{3}/u) ?? null) !== null

/** Whether the filters search for a part of a name for which the index of names can be used. */
export const searchesByName = ({ search_input: words, patient_name, shipping_recipient_name }: OrderFilters): boolean =>
  hasTrigram(patient_name) ||
  hasTrigram(shipping_recipient_name) ||
  (hasTrigram(words) && !UUID.test(words!) && !DATE.test(words!))

const Found = T.Object({ total: T.Integer(), document: Nullable(T.String()), user_id: Nullable(T.String()) })

/**
 * As `readPage`, for filters that match few rows: finds all matches first, then counts and sorts them. With a limit in the query, the
 * planner would scan the newest orders until it had found enough matches. Uses a view, because the table's policy prevents use of the index
 * of names (docs/decisions/row-security.md).
 */
async function searchFirst(tx: Tx, { filters, key, direction, page, size }: ListQuery) {
  const order = sorting[key]![direction]
  const rows = await tx.many(
    Found,
    sql`
    with found as materialized (
      select id, user_id, created_at, patient_name, low_level_status from lab_order_of_team
      where team_id = ${tx.team} and ${joinConditions(filters)} and ${isVisible(tx)})
    select t.total, page.user_id, (select o.document from lab_order o where o.id = page.id and o.team_id = ${tx.team}) as document
    from (select count(*) as total from found) t
    left join (select * from found order by ${order} offset ${(page - 1) * size} limit ${size}) page on true
    order by ${order}`,
  )
  return { total: rows[0]!.total, rows: rows.filter(({ document }) => document !== null) as Static<typeof ListedOrder>[] }
}

const sorting: Record<string, Record<'asc' | 'desc', Sql>> = {
  created_at: { asc: sql`created_at, id`, desc: sql`created_at desc, id desc` },
  patient_name: {
    asc: sql`lower(patient_name) nulls last, created_at, id`,
    desc: sql`lower(patient_name) desc nulls last, created_at desc, id desc`,
  },
  last_status: { asc: sql`low_level_status, created_at, id`, desc: sql`low_level_status desc, created_at desc, id desc` },
}

/** The conditions of a list of orders. Errors: 422 an invalid date. */
export function createFilters(tx: Tx, query: OrderFilters): Sql[] {
  const faults: Fault[] = []
  const today = utcDate(tx.now)
  const filters: (Sql | undefined)[] = [
    query.search_input ? searching(query.search_input) : undefined,
    parseDateBound(query, 'start_date', 'start', faults, (time) => sql`created_at >= ${time}`),
    parseDateBound(query, 'end_date', 'end', faults, (time) => sql`created_at <= ${time}`),
    parseDateBound(query, 'updated_start_date', 'start', faults, (time) => sql`updated_at >= ${time}`),
    // In the API, updated_end_date ends at the start of its day, not at its end.
    parseDateBound(query, 'updated_end_date', 'start', faults, (time) => sql`updated_at <= ${time}`),
    query.status?.length ? sql`low_level_status = any (${query.status.map(toLowLevelStatus)})` : undefined,
    query.order_type?.length ? sql`method = any (${query.order_type})` : undefined,
    query.is_critical === undefined
      ? undefined
      : query.is_critical
        ? sql`interpretation = 'critical'`
        : sql`interpretation is distinct from 'critical'`,
    query.interpretation ? sql`interpretation = ${query.interpretation}` : undefined,
    activation(query.order_activation_types, today),
    query.user_id ? sql`user_id = ${query.user_id}` : undefined,
    query.patient_name ? sql`patient_name ilike ${likeAnywhere(query.patient_name)}` : undefined,
    query.shipping_recipient_name ? sql`recipient_name ilike ${likeAnywhere(query.shipping_recipient_name)}` : undefined,
    query.order_ids?.length ? sql`id = any (${query.order_ids}::uuid[])` : undefined,
    query.order_transaction_id ? sql`transaction_id = ${query.order_transaction_id}` : undefined,
  ]
  if (faults.length) throw unprocessable(faults)
  return filters.filter((filter) => filter !== undefined)
}

type DateField = 'start_date' | 'end_date' | 'updated_start_date' | 'updated_end_date'

/** A date without a time means the start or the last second of its day. Stored times are whole seconds. */
function parseDateBound(
  query: OrderFilters,
  name: DateField,
  boundary: 'start' | 'end',
  faults: Fault[],
  condition: (time: Date) => Sql,
): Sql | undefined {
  const text = query[name]
  if (!text) return undefined
  const timestamp = parseTimestamp(text)
  if (!timestamp) {
    faults.push({ loc: ['query', name], msg: 'Input should be a valid datetime', type: 'datetime_parsing', input: text })
    return undefined
  }
  return condition(
    timestamp.dateOnly && boundary === 'end' ? new Date(timestamp.instant.getTime() + 86_399_000) : timestamp.instant,
  )
}

function activation(types: ('current' | 'scheduled')[] | undefined, today: string): Sql | undefined {
  if (!types?.length || (types.includes('current') && types.includes('scheduled'))) return undefined
  return types.includes('current') ? sql`(activate_by is null or activate_by <= ${today})` : sql`activate_by > ${today}`
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const DATE = /^\d{4}-\d{2}-\d{2}$/

function searching(text: string): Sql {
  if (UUID.test(text)) return sql`(id = ${text} or user_id = ${text})`
  if (DATE.test(text) && parseTimestamp(text)) return sql`patient_dob = ${text}`
  return sql`(patient_name ilike ${likeAnywhere(text)} or recipient_name ilike ${likeAnywhere(text)})`
}
