// Order sets: the one lab test that an order of several tests, of single markers or by another collection method comes down to. Writes
// lab_test and lab_test_marker, for tests that are made on the way; never changes a test that is there. Source: lab-testing.md 3.5.
import { createHash } from 'node:crypto'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { CollectionMethod, SampleType } from './enums.ts'
import { findLabTest, labTestSlug, selectLabTests } from './lab-tests.ts'
import { assertMethodOffered } from './labs.ts'
import { totalPrice, sampleTypeOf } from './named-markers.ts'
import { resolveMembers, type OrderSetMembers, type OrderSet } from './order-set-members.ts'
import { LabTest } from './schema.ts'

/**
 * The lab test that a set is ordered as, in the form that orders carry (without its markers). One active test by its own method is that
 * test, and costs no statement while it is remembered. For anything else an `auto_generated` active test of the team is found again or made:
 * sets of the same markers of a lab by the same method share one, as long as price, fasting and sample are the same. Writes lab_test and
 * lab_test_marker where one is made; several transactions may do so at once.
 * 404: a lab test that the team does not have. 400: an add-on without method, or with none or both of its lists; nothing named; a test
 * that is not active; several labs or methods; a marker that is not there, not sold singly or of another lab; a method that the lab does
 * not offer; another lab than `only`.
 * @param only the lab of the lab account that is ordered under, where one is named
 */
export async function resolveOrderSet(
  tx: Tx,
  set: OrderSet,
  collection_method: CollectionMethod | undefined,
  only?: number,
): Promise<LabTest> {
  if (set.add_on && collection_method === undefined) throw badRequest('collection_method must be set if add_on is set')
  const saved = await existingTest(tx, set, only)
  if (saved && (collection_method ?? saved.method) === saved.method) return saved
  const members = await resolveMembers(tx, set, only)
  const method = collection_method ?? onlyMethod(members)
  await assertMethodOffered(tx, members.lab_id, method)
  return findOrCreate(tx, await compositionOf(tx, members, method))
}

/** The test of a set that is one test and nothing else. */
async function existingTest(
  tx: Tx,
  { lab_test_ids = [], add_on }: OrderSet,
  only: number | undefined,
): Promise<LabTest | undefined> {
  const [id, ...others] = new Set(lab_test_ids)
  if (id === undefined || others.length || add_on) return undefined
  const test = await tx.cached(`lab test ${id}`, () => findLabTest(tx, id))
  if (!test) throw notFound('Test does not exist')
  if (test.status !== 'active') throw badRequest(`Lab test ${id} is not active`)
  if (only !== undefined && test.lab!.id !== only) throw badRequest('The lab account belongs to a different lab than the order')
  return test
}

function onlyMethod({ tests }: OrderSetMembers): CollectionMethod {
  const [method, ...others] = new Set(tests.map((test) => test.method))
  if (method === undefined || others.length) throw badRequest('cannot order lab tests with multiple collection methods')
  return method
}

const Found = T.Object({ id: T.String() })

/** What a set comes down to. */
const compositionOf = async (tx: Tx, members: OrderSetMembers, method: CollectionMethod): Promise<Composition> => {
  const { lab_id, marker_ids, tests, add_ons } = members
  return {
    lab_id,
    marker_ids,
    method,
    price: totalPrice([...tests, ...add_ons]),
    fasting: tests.some(({ fasting }) => fasting),
    sample_type: tests[0]?.sample_type ?? (await sampleTypeOf(tx, lab_id, add_ons)),
  }
}

async function findOrCreate(tx: Tx, test: Composition): Promise<LabTest> {
  const composition_key = keyOf(test)
  const find = () =>
    tx.maybe(LabTest, sql`${selectLabTests('without markers')} where t.team_id = ${tx.team} and t.made_of = ${composition_key}`)
  const found = await find()
  if (found) return found
  await createTest(tx, test, composition_key)
  // Where another transaction was faster it is the other's, which has been committed by now.
  return (await find())!
}

/**
 * The lab test of these markers of one lab, whoever may order them: for orders that come of other orders. It costs nothing more than those
 * did. Found again or made as by `resolveOrderSet`. Writes lab_test, lab_test_marker. 400: the lab does not collect so.
 */
export async function testOfMarkers(
  tx: Tx,
  test: Omit<Composition, 'price' | 'sample_type'> & { sample_type?: SampleType },
): Promise<LabTest> {
  await assertMethodOffered(tx, test.lab_id, test.method)
  const sample_type = test.sample_type ?? (await sampleTypeOf(tx, test.lab_id, []))
  return findOrCreate(tx, { ...test, sample_type, price: 0 })
}

interface Composition {
  lab_id: number
  marker_ids: number[]
  method: CollectionMethod
  price: number
  fasting: boolean
  sample_type: SampleType
}

/** Whatever makes a difference to who sees the order; the order of markers makes none. */
const keyOf = ({ lab_id, marker_ids, method, price, fasting, sample_type }: Composition): string =>
  createHash('sha256')
    .update(JSON.stringify([lab_id, marker_ids.toSorted((a, b) => a - b), method, price, fasting, sample_type]))
    .digest('base64url')
    .slice(0, 32)

const NAMES_MAX = 3

/** `TSH + Ferritin`, and of many the first few. */
function nameOf(names: string[]): string {
  const first = names.slice(0, NAMES_MAX).join(' + ')
  return names.length > NAMES_MAX ? `${first} and ${names.length - NAMES_MAX} more` : first
}

const Name = T.Object({ name: T.String() })

async function createTest(tx: Tx, test: Composition, composition_key: string): Promise<void> {
  const markers = await tx.many(Name, sql`select name from marker where id = any (${test.marker_ids}::integer[]) order by id`)
  const name = nameOf(markers.map((marker) => marker.name))
  const slug = `${labTestSlug(tx.team, name)}-${composition_key
    .replace(/[^a-z0-9]/gi, '')
    .slice(0, 8)
    .toLowerCase()}`
  await tx.many(
    Found,
    sql`
    with made as (
      insert into lab_test (id, team_id, slug, name, description, lab_id, method, sample_type, price, fasting, status, auto_generated,
                            has_collection_instructions, made_of, created_at, updated_at)
      values (${tx.uuid()}, ${tx.team}, ${slug}, ${name}, 'Put together for an order.', ${test.lab_id}, ${test.method},
              ${test.sample_type}, ${test.price}, ${test.fasting}, 'active', true, false, ${composition_key}, ${tx.now}, ${tx.now})
      on conflict (team_id, made_of) where made_of is not null do nothing
      returning id),
    linked as (
      insert into lab_test_marker (lab_test_id, marker_id, position)
      select made.id, m.marker_id, m.position
      from made cross join unnest(${test.marker_ids}::integer[]) with ordinality as m (marker_id, position))
    select id from made`,
  )
}
