// Orders as rows of a table, and as counts: what people look through. Pages are keysets, so that a million orders scroll.
import type { Tx } from '../../platform/db/transaction.ts'
import { joinConditions, join, raw, sql, type Sql } from '../../platform/db/sql.ts'
import { byCreation, Pages } from '../../platform/http/list-pages.ts'
import { addSeconds, utcDate } from '../../platform/runtime/clock.ts'
import { DAY_S } from '../../platform/runtime/durations.ts'
import { Nullable, T, withNulls, type Static } from '../../platform/schema/schema.ts'
import { lifecycleOf, lifecycles, lowLevelStatuses } from './lifecycle.ts'
import { countOrders, createFilters, isVisible, searchesByName } from './list-orders.ts'
import { COUNTED_ORDERS_MAX, OrderRow, type Order, type OrderRowQuery, type OrdersByDay } from './schema.ts'
import { topLevelStatuses, type TopLevelStatus } from './status-machine.ts'

const Row = T.Object({
  document: T.String(),
  lifecycle_name: T.String(),
  low_level_status: T.String(),
  status_at: T.String(),
  status_detail: Nullable(T.String()),
})

/**
 * A page of orders as rows, without orders of deleted users, and their number. With filters, counting stops at 10,000.
 * Errors: 400 a cursor of another list; 422 an invalid date.
 */
export async function listOrderRows(tx: Tx, query: OrderRowQuery) {
  const { limit: _, next_cursor: __, ...filters } = query
  const list = `order rows ${tx.team} ${JSON.stringify(Object.entries(filters).toSorted())}`
  const pages = new Pages(list, query, byCreation('o'), { order: query.order_direction ?? 'desc' })
  const conditions = [
    ...createFilters(tx, query),
    ...(query.state?.length ? [isInState(query.state)] : []),
    ...(query.lab_test_id === undefined ? [] : [sql`lab_test_id = ${query.lab_test_id}`]),
  ]
  // One after the other: a request holds one connection at a time.
  const total = conditions.length ? await countMatches(tx, query, conditions) : await countOrders(tx)
  const ids = matches(tx, query, conditions)
  const rows = await tx.many(
    Row,
    sql`
    select o.document, o.lifecycle_name, o.low_level_status, o.status_at, o.status_detail from lab_order o
    where o.team_id = ${tx.team} and ${ids} and ${pages.afterCursor} ${pages.order}`,
  )
  const found = rows.map(toOrderRow)
  const { page, next_cursor } = pages.cut(found, ({ created_at, id }) => [created_at, id])
  for (const { user_id } of page) tx.concerns(user_id)
  const isTotalExact = conditions.length === 0 || total < COUNTED_ORDERS_MAX
  return { data: page, total, is_total_exact: isTotalExact, next_cursor }
}

/**
 * The condition that an order `o` matches. Names are searched in a view first, because the table's policy prevents use of their index
 * (docs/decisions/row-security.md).
 */
function matches(tx: Tx, query: OrderRowQuery, conditions: Sql[]): Sql {
  if (!searchesByName(query)) return sql`${joinConditions(conditions)} and ${isVisible(tx)}`
  return sql`o.id = any (array(select id from (${findByName(tx, query)}) found)) and ${joinConditions(conditions)}`
}

/** The orders whose names match. */
const findByName = (tx: Tx, { search_input, patient_name, shipping_recipient_name }: OrderRowQuery): Sql => {
  const names = createFilters(tx, {
    ...(search_input !== undefined && { search_input }),
    ...(patient_name !== undefined && { patient_name }),
    ...(shipping_recipient_name !== undefined && { shipping_recipient_name }),
  })
  return sql`select id from lab_order_of_team where team_id = ${tx.team} and ${joinConditions(names)} and ${isVisible(tx)}`
}

const Counted = T.Object({ n: T.Integer() })

async function countMatches(tx: Tx, query: OrderRowQuery, conditions: Sql[]): Promise<number> {
  const { n } = await tx.one(
    Counted,
    sql`
    select count(*) as n from (
      select from lab_order o where o.team_id = ${tx.team} and ${matches(tx, query, conditions)} limit ${COUNTED_ORDERS_MAX}) counted`,
  )
  return n
}

/** The condition that an order has one of these top-level statuses: a low-level one may belong to different ones in different lifecycles. */
function isInState(states: readonly TopLevelStatus[]): Sql {
  const isOf = Object.entries(lifecycles).map(([name, { steps }]) => {
    const statuses = Object.entries(steps).flatMap(([status, [state]]) => (states.includes(state) ? [status] : []))
    return sql`lifecycle_name = ${name} and low_level_status = any (${statuses})`
  })
  const any = lowLevelStatuses.filter((status) => statesOf(status).some((state) => states.includes(state)))
  return sql`low_level_status = any (${any}) and (${join(isOf, ' or ')})`
}

const stateIn = (lifecycle: string, status: string): TopLevelStatus => lifecycleOf(lifecycle).steps[status]![0]

/** The top-level statuses of a low-level one in all lifecycles. */
const statesOf = (status: string): TopLevelStatus[] =>
  Object.values(lifecycles).flatMap(({ steps }) => (steps as Record<string, [TopLevelStatus]>)[status]?.[0] ?? [])

function toOrderRow({ document, lifecycle_name, low_level_status, status_at, status_detail }: Static<typeof Row>): OrderRow {
  const order = JSON.parse(document) as Order
  const { patient_details: patient, lab_test } = order
  return withNulls(OrderRow, {
    ...order,
    order_transaction_id: order.order_transaction.id,
    patient_name: patient ? `${patient.first_name} ${patient.last_name}` : null,
    patient_dob: patient?.dob,
    patient_gender: patient?.gender,
    lab_test_id: lab_test.id,
    lab_test_name: lab_test.name,
    lab_name: lab_test.lab?.name,
    method: lab_test.method,
    status: stateIn(lifecycle_name, low_level_status),
    low_level_status,
    low_level_status_created_at: status_at,
    status_detail,
  })
}

const DAYS = 30
/** Its top-level status depends on the lifecycle. The others need the index of statuses only. */
const ambiguousStatuses = lowLevelStatuses.filter((status) => new Set(statesOf(status)).size > 1)
const unambiguousStatuses = lowLevelStatuses.filter((status) => !ambiguousStatuses.includes(status))

const DayCount = T.Object({
  date: T.String(),
  lifecycle_name: Nullable(T.String()),
  low_level_status: T.String(),
  n: T.Integer(),
})

/** The orders of each of the last 30 days by their present top-level status, without those of deleted users. */
export async function countOrdersByDay(tx: Tx): Promise<Static<typeof OrdersByDay>> {
  const dates = Array.from({ length: DAYS }, (_, i) => utcDate(addSeconds(tx.now, (i + 1 - DAYS) * DAY_S)))
  const from = new Date(`${dates[0]}T00:00:00Z`)
  const count = (statuses: readonly string[], lifecycle: string) => sql`
    select (created_at at time zone 'UTC')::date::text as date, ${raw(lifecycle)} as lifecycle_name, low_level_status, count(*) as n
    from lab_order
    where team_id = ${tx.team} and low_level_status = any (${[...statuses]}) and created_at >= ${from}
    group by 1, 2, 3`
  // User by user, as for the total of lists.
  const hidden = sql`
    select o.date, o.lifecycle_name, o.low_level_status, -o.n from "user" gone,
      lateral (
        select (created_at at time zone 'UTC')::date::text as date, lifecycle_name, low_level_status, count(*) as n from lab_order
        where user_id = gone.id and team_id = ${tx.team} and created_at >= ${from} group by 1, 2, 3) o
    where gone.team_id = ${tx.team} and gone.deleted_at is not null`
  const rows = await tx.many(
    DayCount,
    sql`${count(unambiguousStatuses, 'null::text')} union all ${count(ambiguousStatuses, 'lifecycle_name')} union all ${hidden}`,
  )
  const days = new Map(dates.map((date) => [date, Object.fromEntries(topLevelStatuses.map((status) => [status, 0]))]))
  for (const { date, lifecycle_name, low_level_status, n } of rows) {
    const state = lifecycle_name === null ? statesOf(low_level_status)[0]! : stateIn(lifecycle_name, low_level_status)
    const day = days.get(date)
    if (day) day[state]! += n
  }
  return { data: [...days].map(([date, counts]) => ({ date, ...counts })) }
}
