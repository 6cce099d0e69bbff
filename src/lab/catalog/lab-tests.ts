// Lab tests: the orderable units of a team, each a set of one lab's markers with a name and a price. Owns lab_test and lab_test_marker.
import { readFileSync } from 'node:fs'
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { empty, sql, type Sql } from '../../platform/db/sql.ts'
import type { CollectionMethod, LabSlug, SampleType } from './enums.ts'
import { AnalyteDefinition, ExpectedMarker } from './analytes.ts'
import { labColumns } from './labs.ts'
import { markerColumns } from './markers.ts'
import { LabTest } from './schema.ts'

/** The markers of `tm`, looked up one by one: `offset 0` prevents the planner from scanning the whole table for a few markers. */
const joinMarkers = (columns: Sql): Sql => sql`
  lab_test_marker tm cross join lateral (select ${columns} from marker m where m.id = tm.marker_id offset 0)`

const withMarkers = (team: string): Sql => sql`
  (select coalesce(json_agg(wire order by tm.position), '[]'::json) from ${joinMarkers(markerColumns)} wire
   where tm.team_id = ${team} and tm.lab_test_id = t.id)`
const withoutMarkers = sql`null::json`

/** A select of a team's lab tests `t` as the API shows them, without conditions but for their markers. `extraColumns` are further columns. */
export const selectLabTests = (team: string, markers: 'with markers' | 'without markers', extraColumns: Sql = empty): Sql => sql`
  select t.id, t.slug, t.name, t.description, t.sample_type, t.method, t.price::float8 as price, t.status = 'active' as is_active,
         t.status, t.fasting, (select to_json(wire) from (select ${labColumns}) wire) as lab,
         ${markers === 'with markers' ? withMarkers(team) : withoutMarkers} as markers, false as is_delegated, t.auto_generated,
         t.has_collection_instructions, tat.common_tat_days, tat.worst_case_tat_days ${extraColumns}
  from lab_test t
  join lab l on l.id = t.lab_id
  cross join lateral (
    select case when bool_and(m.common_tat_days is not null) then max(m.common_tat_days) end as common_tat_days,
           case when bool_and(m.worst_case_tat_days is not null) then max(m.worst_case_tat_days) end as worst_case_tat_days
    from ${joinMarkers(sql`m.common_tat_days, m.worst_case_tat_days`)} m
    where tm.team_id = ${team} and tm.lab_test_id = t.id) tat`

/** Reads a lab test with its markers. Errors: 404 unknown test, or a test of another lab than `only`. */
export async function getLabTest(tx: Tx, id: string, allowedLabId?: number): Promise<LabTest> {
  const ofLab = allowedLabId === undefined ? sql`true` : sql`t.lab_id = ${allowedLabId}`
  const test = await tx.maybe(
    LabTest,
    sql`${selectLabTests(tx.team, 'with markers')} where t.id = ${id} and t.team_id = ${tx.team} and ${ofLab}`,
  )
  if (!test) throw notFound('Lab test not found')
  return test
}

/** Reads a lab test with its lab and with null for its markers, as orders store it; undefined for an unknown test. */
export const findLabTest = (tx: Tx, id: string): Promise<LabTest | undefined> =>
  tx.maybe(LabTest, sql`${selectLabTests(tx.team, 'without markers')} where t.id = ${id} and t.team_id = ${tx.team}`)

const { expected: _, ...markerProperties } = ExpectedMarker.properties
/** A marker with one of its expected results, or without any. */
const ExpectedRow = T.Object({
  ...markerProperties,
  result_name: Nullable(T.String()),
  result_slug: Nullable(T.String()),
  loinc: Nullable(T.String()),
  loinc_name: Nullable(T.String()),
  required: Nullable(T.Boolean()),
  definition: Nullable(AnalyteDefinition),
})

/**
 * The markers of a lab test in its order, each with its expected results; empty for a test of another team. Rows and not JSON: building
 * the JSON of 270 results took the database 3 ms of 4.6.
 */
export async function expectedResults(tx: Tx, lab_test_id: string): Promise<ExpectedMarker[]> {
  const rows = await tx.many(
    ExpectedRow,
    sql`
    select m.id as marker_id, m.name, m.slug, m.provider_id, m.type, m.lab_id,
      a.name as result_name, a.slug as result_slug, a.loinc, a.loinc_name, ma.required, a.definition
    from lab_test t
    join lab_test_marker tm on tm.team_id = t.team_id and tm.lab_test_id = t.id
    join marker m on m.id = tm.marker_id
    left join (marker_analyte ma join analyte a on a.id = ma.analyte_id) on ma.marker_id = m.id
    where t.id = ${lab_test_id} and t.team_id = ${tx.team}
    order by tm.position, ma.position`,
  )
  const markers = new Map<number, ExpectedMarker>()
  for (const row of rows) {
    const {
      marker_id,
      name,
      slug,
      provider_id,
      type,
      lab_id,
      result_name,
      result_slug,
      loinc,
      loinc_name,
      required,
      definition,
    } = row
    const marker = markers.get(marker_id) ?? { marker_id, name, slug, provider_id, type, lab_id, expected: [] }
    markers.set(marker_id, marker)
    if (definition)
      marker.expected.push({ name: result_name!, slug: result_slug!, loinc, loinc_name, required: required!, definition })
  }
  return [...markers.values()]
}

/** `3f0c9a1e-lipid-panel`. Source: lab-testing.md 3.4. */
export function labTestSlug(team: string, name: string): string {
  const words =
    name
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  return [team.slice(0, 8), ...words].join('-')
}

/** A lab test of `data/lab-tests.json`. */
export interface SampleTest {
  key: string
  name: string
  description: string
  lab: LabSlug
  method: CollectionMethod
  sample_type: SampleType
  fasting: boolean
  price: number
  provider_ids: string[]
  standard: boolean
  has_collection_instructions: boolean
}

const sampleTests = (): SampleTest[] =>
  JSON.parse(readFileSync(new URL('data/lab-tests.json', import.meta.url), 'utf8')) as SampleTest[]

/** Creates the team's four standard lab tests, one for each collection method; existing ones are kept. Writes lab_test, lab_test_marker. */
export const seedStandardTests = (tx: Tx): Promise<void> =>
  seed(
    tx,
    sampleTests().filter((test) => test.standard),
  )

/** Creates the other lab tests of the demo; existing ones are kept. Writes lab_test, lab_test_marker. */
export const seedSampleTests = (tx: Tx): Promise<void> =>
  seed(
    tx,
    sampleTests().filter((test) => !test.standard),
  )

const Seeded = T.Object({ missing: T.Integer() })

/** Locks the team's row, so that two processes that start at the same time do not both seed. */
async function seed(tx: Tx, tests: SampleTest[]): Promise<void> {
  const rows = tests.map((test) => ({ ...test, id: tx.uuid(), slug: labTestSlug(tx.team, test.name) }))
  await tx.locking.run(sql`select id from team where id = ${tx.team} for update`)
  const { missing } = await tx.one(
    Seeded,
    sql`
    with given as (
      select r.*, l.id as lab_id
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
        id uuid, slug text, name text, description text, lab text, method text, sample_type text, price numeric, fasting boolean,
        has_collection_instructions boolean, provider_ids text[])
      left join lab l on l.slug = r.lab),
    made as (
      insert into lab_test (id, team_id, slug, name, description, lab_id, method, sample_type, price, fasting, status,
                            has_collection_instructions, created_at, updated_at)
      select g.id, ${tx.team}, g.slug, g.name, g.description, g.lab_id, g.method, g.sample_type, g.price, g.fasting, 'active',
             g.has_collection_instructions, ${tx.now}, ${tx.now}
      from given g
      where not exists (select from lab_test t where t.team_id = ${tx.team} and t.slug = g.slug)
      returning id, lab_id),
    wanted as (
      select made.id, p.position, m.id as marker_id
      from made join given g on g.id = made.id
      cross join lateral unnest(g.provider_ids) with ordinality as p (provider_id, position)
      left join marker m on m.lab_id = made.lab_id and m.provider_id = p.provider_id),
    linked as (
      insert into lab_test_marker (team_id, lab_test_id, marker_id, position)
      select ${tx.team}, id, marker_id, position from wanted where marker_id is not null)
    select count(*) as missing from wanted where marker_id is null`,
  )
  if (missing) throw new Error(`${missing} markers of the sample tests are not in the catalog`)
}
