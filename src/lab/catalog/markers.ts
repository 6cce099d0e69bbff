// Markers: the units that a lab offers, and the results of each. Reads the tables that load.ts fills; never writes.
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'
import { joinConditions, likeAnywhere, sql, type Sql } from '../../platform/db/sql.ts'
import { priceMarkers } from './pricing.ts'
import { Marker, MarkerComplete, type MarkerPage, type MarkerPageQuery, type MarkersQuery, type PageQuery } from './schema.ts'

/** The columns of a marker as the API shows it, of a table named `m`. */
export const markerColumns = sql`
  m.id, m.name, m.slug, m.description, m.lab_id, m.provider_id, m.type, m.unit, m.price, m.aoe, m.a_la_carte_enabled,
  m.common_tat_days, m.worst_case_tat_days, m.is_orderable`

/** The results of a panel have no test code that the lab accepts in an order. */
const expectedResultColumn = sql`
  (select coalesce(json_agg(json_build_object(
     'id', a.id, 'name', a.name, 'slug', a.slug, 'lab_id', m.lab_id,
     'provider_id', case when m.type = 'biomarker' then m.provider_id end,
     'required', ma.required,
     'loinc', case when a.loinc is not null then json_build_object(
       'id', a.id, 'name', coalesce(a.loinc_name, a.name), 'slug', a.slug, 'code', a.loinc, 'unit', a.definition->>'unit') end
   ) order by ma.position), '[]'::json)
   from marker_analyte ma join analyte a on a.id = ma.analyte_id where ma.marker_id = m.id) as expected_results`

const Total = T.Object({ total: T.Integer() })

const labCondition = (labs: number[] | undefined): Sql[] => (labs ? [sql`m.lab_id = any (${labs}::integer[])`] : [])

/** Orderable markers by id; of some labs if given. `lab_slug` takes precedence over `lab_id`; `name` searches names, test codes and analyte names. */
export async function listMarkers(tx: Tx, filter: MarkersQuery, labs?: number[]): Promise<MarkerPage> {
  const conditions: Sql[] = [sql`m.is_orderable`, ...labCondition(labs)]
  if (filter.lab_slug !== undefined)
    conditions.push(sql`m.lab_id = (select id from lab where slug = ${filter.lab_slug.toLowerCase()})`)
  else if (filter.lab_id?.length) conditions.push(sql`m.lab_id = any (${filter.lab_id}::integer[])`)
  if (filter.name)
    conditions.push(sql`(m.name ilike ${likeAnywhere(filter.name)} or m.provider_id ilike ${likeAnywhere(filter.name)} or exists (
      select from marker_analyte part join analyte a on a.id = part.analyte_id
      where part.marker_id = m.id and (a.name ilike ${likeAnywhere(filter.name)} or a.loinc_name ilike ${likeAnywhere(filter.name)})))`)
  if (filter.a_la_carte_enabled !== undefined) conditions.push(sql`m.a_la_carte_enabled = ${filter.a_la_carte_enabled}`)
  const page = await selectPage(tx, sql`marker m where ${joinConditions(conditions)}`, sql`m.id`, filter)
  return { ...page, pricing: filter.include_pricing ? await priceMarkers(tx, page.markers) : null }
}

const Found = T.Object({ id: T.String() })

/**
 * A lab test's markers in its order, then its reflex markers by id: the lab's markers that cannot be ordered and
 * whose analytes are all optional analytes of the test's markers (docs/decisions/catalog.md).
 * Errors: 404 unknown lab test.
 * @param labs the labs whose markers are listed; default: all
 */
export async function listLabTestMarkers(
  tx: Tx,
  lab_test_id: string,
  query: MarkerPageQuery,
  labs?: number[],
): Promise<MarkerPage> {
  const test = sql`select id, lab_id from lab_test where id = ${lab_test_id} and team_id = ${tx.team}`
  const members = sql`(
    with test as (${test}),
    own as (
      select tm.marker_id, tm.position from lab_test_marker tm join test on test.id = tm.lab_test_id where tm.team_id = ${tx.team}),
    maybe_measured as (
      select ma.analyte_id from own join marker_analyte ma on ma.marker_id = own.marker_id and not ma.required)
    select marker_id, position from own
    union all
    select r.id, null from test join marker r on r.lab_id = test.lab_id and not r.is_orderable
    where r.id not in (select marker_id from own)
      and exists (select from marker_analyte ra where ra.marker_id = r.id)
      and not exists (
        select from marker_analyte ra where ra.marker_id = r.id and ra.analyte_id not in (select analyte_id from maybe_measured))
  ) member`
  const [found, page] = await Promise.all([
    tx.maybe(Found, sql`select id from (${test}) t`),
    selectPage(
      tx,
      sql`${members} join marker m on m.id = member.marker_id and ${joinConditions(labCondition(labs))}`,
      sql`member.position nulls last, m.id`,
      query,
    ),
  ])
  if (!found) throw notFound('Lab test not found')
  return { ...page, pricing: null }
}

/** Markers by their ids, in the given order. */
export async function listMarkersByIds(tx: Tx, ids: number[], query: PageQuery): Promise<MarkerPage> {
  const from = sql`unnest(${ids}::integer[]) with ordinality as given (id, position) join marker m on m.id = given.id`
  return { ...(await selectPage(tx, from, sql`given.position`, query)), pricing: null }
}

/** One page of the markers `m` of a from clause. */
async function selectPage(tx: Tx, source: Sql, order: Sql, { page = 1, size = 50 }: PageQuery) {
  const [markers, { total }] = await Promise.all([
    tx.many(
      MarkerComplete,
      sql`
      select ${markerColumns}, ${expectedResultColumn} from ${source} order by ${order} limit ${size} offset ${(page - 1) * size}`,
    ),
    tx.one(Total, sql`select count(*) as total from ${source}`),
  ])
  return { markers, total, page, size, pages: Math.ceil(total / size) }
}

/** Reads a lab's marker by the lab's test code, including reflex markers. Errors: 404 unknown marker, or one of none of `labs`. */
export async function getMarker(tx: Tx, lab_id: number, provider_id: string, labs?: number[]): Promise<Marker> {
  const marker = await tx.maybe(
    Marker,
    sql`
    select ${markerColumns} from marker m where m.lab_id = ${lab_id} and m.provider_id = ${provider_id} and ${joinConditions(labCondition(labs))}`,
  )
  if (!marker) throw notFound('Marker not found')
  return marker
}
