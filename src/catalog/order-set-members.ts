// What an order set names: lab tests and single markers, looked up and held to what may go together. Only reads.
// Source: lab-testing.md 3.5.
import type { Tx } from '../platform/db.ts'
import { badRequest, notFound } from '../platform/errors.ts'
import { T, type Static } from '../platform/schema.ts'
import { sql } from '../platform/sql.ts'
import { CollectionMethod, SampleType } from '../wire/enums.ts'

/** Tests and markers as an order names them. */
export interface OrderSet {
  lab_test_ids?: string[] | undefined
  add_on?: AddOn | undefined
}
interface AddOn {
  marker_ids?: number[] | undefined
  provider_ids?: string[] | undefined
}

const Test = T.Object({
  id: T.String(),
  status: T.String(),
  method: CollectionMethod,
  lab_id: T.Integer(),
  sample_type: SampleType,
  fasting: T.Boolean(),
  price: T.Number(),
  marker_ids: T.Array(T.Integer()),
})

const Single = T.Object({
  id: T.Integer(),
  lab_id: T.Integer(),
  provider_id: T.String(),
  sold_singly: T.Boolean(),
  price: T.Number(),
  specimens: T.Array(T.String()),
})
type Single = Static<typeof Single>

export interface Members {
  lab_id: number
  /** Each once: those of the tests, in their order, then the add-ons. */
  marker_ids: number[]
  tests: Static<typeof Test>[]
  /** Markers that none of the tests has. */
  add_ons: Single[]
}

/**
 * The members of an order set, all of one lab.
 * 404: a lab test that the team does not have. 400: an add-on with none or both of its lists; nothing named; a test that is not active;
 * tests of several labs; a marker that is not there, not sold singly or of another lab; another lab than `only`.
 */
export async function membersOf(tx: Tx, { lab_test_ids = [], add_on }: OrderSet, only?: number): Promise<Members> {
  if (add_on) assertOneList(add_on)
  const ids = [...new Set(lab_test_ids)]
  if (!add_on && ids.length === 0) throw badRequest('order_set must name at least one lab test or marker')
  const [tests, offered] = await Promise.all([testsOf(tx, ids), add_on ? offeredAs(tx, add_on) : []])
  const lab_id = tests[0]?.lab_id
  if (tests.some((test) => test.lab_id !== lab_id)) throw badRequest('cannot order lab_tests from multiple labs')
  if (only !== undefined && lab_id !== undefined && lab_id !== only)
    throw badRequest('The lab account is of another lab than the order')
  const singles = add_on ? chosen(add_on, offered, lab_id ?? only) : []
  const ofTests = new Set(tests.flatMap((test) => test.marker_ids))
  const add_ons = singles.filter(({ id }) => !ofTests.has(id))
  return { lab_id: lab_id ?? singles[0]!.lab_id, marker_ids: [...ofTests, ...add_ons.map(({ id }) => id)], tests, add_ons }
}

function assertOneList({ marker_ids, provider_ids }: AddOn): void {
  if (!marker_ids?.length && !provider_ids?.length) throw badRequest('marker_ids or provider_ids must be set in add_on')
  if (marker_ids?.length && provider_ids?.length) throw badRequest('cannot set both marker_ids and provider_ids in add_on')
}

async function testsOf(tx: Tx, ids: string[]): Promise<Static<typeof Test>[]> {
  if (ids.length === 0) return []
  const tests = await tx.many(
    Test,
    sql`
    select t.id, t.status, t.method, t.lab_id, t.sample_type, t.fasting, t.price::float8 as price,
           array(select tm.marker_id from lab_test_marker tm where tm.lab_test_id = t.id order by tm.position) as marker_ids
    from lab_test t where t.team_id = ${tx.team} and t.id = any (${ids}::uuid[]) order by array_position(${ids}::uuid[], t.id)`,
  )
  if (tests.length < ids.length) throw notFound('Test does not exist')
  const idle = tests.find(({ status }) => status !== 'active')
  if (idle) throw badRequest(`Lab test ${idle.id} is not active`)
  return tests
}

/** Markers that have one of the ids or codes, of any lab. A price that is none counts nothing. */
const offeredAs = (tx: Tx, { marker_ids = [], provider_ids = [] }: AddOn): Promise<Single[]> =>
  tx.many(
    Single,
    sql`
    select m.id, m.lab_id, m.provider_id, m.a_la_carte_enabled and m.is_orderable as sold_singly,
           case when m.price ~ '^[0-9]{1,9}([.][0-9]{1,2})?$' then m.price::float8 else 0 end as price,
           array(select distinct a.definition->>'specimen' from marker_analyte ma join analyte a on a.id = ma.analyte_id
                 where ma.marker_id = m.id and a.definition->>'specimen' is not null) as specimens
    from marker m where m.id = any (${marker_ids}::integer[]) or m.provider_id = any (${provider_ids}::text[]) order by m.id`,
  )

/** The markers of an add-on, each once and all of one lab; of `lab_id` when given. */
function chosen(add_on: AddOn, offered: Single[], lab_id: number | undefined): Single[] {
  const names = [...new Set<string | number>(add_on.marker_ids?.length ? add_on.marker_ids : add_on.provider_ids)]
  const isNamed = (name: string | number) => (single: Single) =>
    (typeof name === 'number' ? single.id : single.provider_id) === name
  for (const name of names) if (!offered.some(isNamed(name))) throw badRequest(`Marker ${name} does not exist`)
  const labs = lab_id === undefined ? labsOfAll(names.map((name) => offered.filter(isNamed(name)))) : [lab_id]
  if (labs.length > 1)
    throw badRequest('The provider_ids in add_on are those of several labs; name the markers by marker_ids, or a lab_account_id')
  return names.map((name) => {
    const single = offered.filter(isNamed(name)).find((marker) => marker.lab_id === labs[0])
    if (!single) throw badRequest(`Marker ${name} is of another lab than the rest of the order`)
    if (!single.sold_singly) throw badRequest(`Marker ${name} cannot be ordered à la carte`)
    return single
  })
}

/** The labs that offer all of them; where none does, a lab that offers the first, for which another will be missing. */
function labsOfAll(candidates: Single[][]): number[] {
  const [first = [], ...others] = candidates.map((singles) => singles.map(({ lab_id }) => lab_id))
  const common = first.filter((lab) => others.every((labs) => labs.includes(lab)))
  return common.length ? common : first.slice(0, 1)
}
