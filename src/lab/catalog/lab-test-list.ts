// Lists of a team's lab tests: filters, sorting, pages, prices. Only reads.
import type { Tx } from '../../platform/db/transaction.ts'
import { cursor, numberPart, readCursor, uuidPart } from '../../platform/http/list-pages.ts'
import { T } from '../../platform/schema/schema.ts'
import { likeAnywhere, joinConditions, sql, type Sql } from '../../platform/db/sql.ts'
import { selectLabTests } from './lab-tests.ts'
import { priceLabTests } from './pricing.ts'
import { LabTest, type LabTestPage, type LabTestPageQuery, type LabTestQuery } from './schema.ts'

/** Maximum number of tests in the list without pages. */
const LAB_TESTS_MAX = 1000

/** The sort keys of a list. A cursor stores the position as an integer: seconds since 1970, or cents. */
const orders = {
  price: { column: sql`t.price`, place: sql`(t.price * 100)::bigint`, value: (place: number) => sql`${place}::numeric / 100` },
  created_at: { column: sql`t.created_at`, place: sql`extract(epoch from t.created_at)::bigint`, value: toTimestamp },
  updated_at: { column: sql`t.updated_at`, place: sql`extract(epoch from t.updated_at)::bigint`, value: toTimestamp },
}
function toTimestamp(place: number): Sql {
  return sql`to_timestamp(${place})`
}

const order = ({ order_key = 'created_at', order_direction = 'asc' }: LabTestQuery): Sql =>
  order_direction === 'asc' ? sql`${orders[order_key].column}, t.id` : sql`${orders[order_key].column} desc, t.id desc`

function conditions(tx: Tx, filter: LabTestQuery, labs: number[] | undefined): Sql[] {
  const found: Sql[] = [sql`t.team_id = ${tx.team}`]
  if (labs) found.push(sql`t.lab_id = any (${labs}::integer[])`)
  if (filter.generation_method !== 'all') found.push(sql`t.auto_generated = ${filter.generation_method === 'auto'}`)
  if (filter.lab_slug !== undefined) found.push(sql`l.slug = ${filter.lab_slug.toLowerCase()}`)
  if (filter.collection_method !== undefined) found.push(sql`t.method = ${filter.collection_method}`)
  if (filter.status !== undefined) found.push(sql`t.status = ${filter.status}`)
  if (filter.name) found.push(sql`t.name ilike ${likeAnywhere(filter.name)}`)
  if (filter.marker_ids?.length) found.push(containsAll(tx, sql`tm.marker_id`, sql`integer[]`, filter.marker_ids))
  if (filter.provider_ids?.length) found.push(containsAll(tx, sql`m.provider_id`, sql`text[]`, filter.provider_ids))
  return found
}

/** A test belongs to one lab, so a test code identifies at most one of its markers. */
function containsAll({ team }: Tx, column: Sql, type: Sql, values: (string | number)[]): Sql {
  const uniqueValues = [...new Set(values)]
  return sql`(
    select count(distinct ${column}) from lab_test_marker tm join marker m on m.id = tm.marker_id
    where tm.team_id = ${team} and tm.lab_test_id = t.id and ${column} = any (${uniqueValues}::${type})) = ${uniqueValues.length}`
}

/** The team's lab tests, at most 1000; of some labs if given. */
export const listLabTests = (tx: Tx, query: LabTestQuery, labs?: number[]): Promise<LabTest[]> =>
  tx.many(
    LabTest,
    sql`
    ${selectLabTests(tx.team, 'with markers')} where ${joinConditions(conditions(tx, query, labs))} order by ${order(query)} limit ${LAB_TESTS_MAX}`,
  )

const Row = T.Object({ ...LabTest.properties, place: T.Integer() })

/** A page of the team's lab tests, of some labs if given. Errors: 400 a cursor of another list, sort order or filter. */
export async function listLabTestPage(tx: Tx, query: LabTestPageQuery, labs?: number[]): Promise<LabTestPage> {
  const { lab_test_limit = 50, next_cursor, include_pricing, lab_account_id, ...filter } = query
  const list = JSON.stringify(['lab_test', tx.team, filter, lab_account_id])
  const found = conditions(tx, filter, labs)
  if (next_cursor) found.push(keysetCondition(filter, readCursor(list, next_cursor, [numberPart(12), uuidPart])))
  const rows = await tx.many(
    Row,
    sql`
    ${selectLabTests(tx.team, 'with markers', sql`, ${orders[filter.order_key ?? 'created_at'].place} as place`)}
    where ${joinConditions(found)} order by ${order(filter)} limit ${lab_test_limit + 1}`,
  )
  const data = rows.slice(0, lab_test_limit).map((row): LabTest => {
    const { place: _, ...test } = row
    return test
  })
  const last = rows.length > lab_test_limit ? rows[lab_test_limit - 1] : undefined
  return {
    data,
    next_cursor: last ? cursor(list, [String(last.place), last.id]) : null,
    pricing: include_pricing ? await priceLabTests(tx, data) : null,
  }
}

function keysetCondition(
  { order_key = 'created_at', order_direction = 'asc' }: LabTestQuery,
  [place, id]: readonly [string, string],
): Sql {
  const { column, value } = orders[order_key]
  return order_direction === 'asc'
    ? sql`(${column}, t.id) > (${value(Number(place))}, ${id}::uuid)`
    : sql`(${column}, t.id) < (${value(Number(place))}, ${id}::uuid)`
}
