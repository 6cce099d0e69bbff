// The members of an order set: lab tests and single markers, looked up and checked for compatibility. Only reads.
// Source: lab-testing.md 3.5.
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { CollectionMethod, SampleType } from './enums.ts'
import { resolveMarkers, type MarkerNames, type ResolvedMarker } from './named-markers.ts'

/** Tests and markers as an order names them. */
export interface OrderSet {
  lab_test_ids?: string[] | undefined
  add_on?: MarkerNames | undefined
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
export type MemberTest = Static<typeof Test>

export interface OrderSetMembers {
  lab_id: number
  /** Each once: those of the tests, in their order, then the add-ons. */
  marker_ids: number[]
  tests: Static<typeof Test>[]
  /** Markers that none of the tests has. */
  add_ons: ResolvedMarker[]
}

/**
 * The members of an order set, all of one lab.
 * Errors: 404 unknown lab test; 400 an add-on with neither or both of its lists, an empty set, an inactive test, tests of several labs, a
 * marker that is unknown, not sold à la carte or of another lab, or another lab than `only`.
 */
export async function resolveMembers(
  tx: Tx,
  { lab_test_ids = [], add_on }: OrderSet,
  allowedLabId?: number,
): Promise<OrderSetMembers> {
  if (add_on) assertOneList(add_on)
  const ids = [...new Set(lab_test_ids)]
  if (!add_on && ids.length === 0) throw badRequest('order_set must contain at least one lab test or marker')
  const [tests, named] = await Promise.all([selectTests(tx, ids), add_on ? resolveMarkers(tx, add_on) : undefined])
  const lab_id = tests[0]?.lab_id
  if (tests.some((test) => test.lab_id !== lab_id)) throw badRequest('cannot order lab_tests from multiple labs')
  if (allowedLabId !== undefined && lab_id !== undefined && lab_id !== allowedLabId)
    throw badRequest('The lab account belongs to a different lab than the order')
  const singles = named?.ofOneLab(lab_id ?? allowedLabId) ?? []
  const fixed = singles.find(({ is_orderable, a_la_carte_enabled }) => !is_orderable || !a_la_carte_enabled)
  if (fixed) throw badRequest(`Marker ${fixed.id} cannot be ordered à la carte`)
  const ofTests = new Set(tests.flatMap((test) => test.marker_ids))
  const add_ons = singles.filter(({ id }) => !ofTests.has(id))
  return { lab_id: lab_id ?? singles[0]!.lab_id, marker_ids: [...ofTests, ...add_ons.map(({ id }) => id)], tests, add_ons }
}

function assertOneList({ marker_ids, provider_ids }: MarkerNames): void {
  if (!marker_ids?.length && !provider_ids?.length) throw badRequest('marker_ids or provider_ids must be set in add_on')
  if (marker_ids?.length && provider_ids?.length) throw badRequest('cannot set both marker_ids and provider_ids in add_on')
}

async function selectTests(tx: Tx, ids: string[]): Promise<Static<typeof Test>[]> {
  if (ids.length === 0) return []
  const tests = await tx.many(
    Test,
    sql`
    select t.id, t.status, t.method, t.lab_id, t.sample_type, t.fasting, t.price::float8 as price,
           array(select tm.marker_id from lab_test_marker tm where tm.team_id = ${tx.team} and tm.lab_test_id = t.id order by tm.position) as marker_ids
    from lab_test t where t.team_id = ${tx.team} and t.id = any (${ids}::uuid[]) order by array_position(${ids}::uuid[], t.id)`,
  )
  if (tests.length < ids.length) throw notFound('Test does not exist')
  const idle = tests.find(({ status }) => status !== 'active')
  if (idle) throw badRequest(`Lab test ${idle.id} is not active`)
  return tests
}
