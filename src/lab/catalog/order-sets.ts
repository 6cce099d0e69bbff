// Order sets: resolves several tests, single markers or another collection method to one lab test. Writes lab_test and lab_test_marker for
// auto-generated tests; never changes an existing test. Source: lab-testing.md 3.5.
import { createHash } from 'node:crypto'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { CollectionMethod, SampleType } from './enums.ts'
import { findLabTest, labTestSlug, selectLabTests } from './lab-tests.ts'
import { assertMethodOffered } from './labs.ts'
import { totalPrice, getSampleType } from './named-markers.ts'
import { resolveMembers, type OrderSetMembers, type OrderSet, type MemberTest } from './order-set-members.ts'
import { LabTest } from './schema.ts'

/**
 * The lab test of an order set, as orders store it (without its markers). A set of one active test by its own method resolves to that test,
 * without a statement while it is cached. For any other set an `auto_generated` active test of the team is found or created: sets of the
 * same markers of a lab by the same method share one, as long as price, fasting and sample are the same. Writes lab_test and
 * lab_test_marker if one is created; several transactions may do so at the same time.
 * Errors: 404 unknown lab test; 400 an add-on without method, or with neither or both of its lists, an empty set, an inactive test, several
 * labs or methods, a marker that is unknown, not sold à la carte or of another lab, a method that the lab does not offer, another lab than
 * `only`.
 * @param allowedLabId the lab of the named lab account, if any
 */
export async function resolveOrderSet(
  tx: Tx,
  set: OrderSet,
  collection_method: CollectionMethod | undefined,
  allowedLabId?: number,
): Promise<LabTest> {
  if (set.add_on && collection_method === undefined) throw badRequest('collection_method must be set if add_on is set')
  const saved = await existingTest(tx, set, allowedLabId)
  if (saved && (collection_method ?? saved.method) === saved.method) return saved
  const members = await resolveMembers(tx, set, allowedLabId)
  const method = collection_method ?? onlyMethod(members)
  await assertMethodOffered(tx, members.lab_id, method)
  return findOrCreate(tx, await getComposition(tx, members, method))
}

/** The test of a set that is a single test. */
async function existingTest(
  tx: Tx,
  { lab_test_ids = [], add_on }: OrderSet,
  allowedLabId: number | undefined,
): Promise<LabTest | undefined> {
  const [id, ...others] = new Set(lab_test_ids)
  if (id === undefined || others.length || add_on) return undefined
  const test = await tx.readCached(`lab test ${id}`, () => findLabTest(tx, id))
  if (!test) throw notFound('Test does not exist')
  if (test.status !== 'active') throw badRequest(`Lab test ${id} is not active`)
  if (allowedLabId !== undefined && test.lab!.id !== allowedLabId)
    throw badRequest('The lab account belongs to a different lab than the order')
  return test
}

function onlyMethod({ tests }: OrderSetMembers): CollectionMethod {
  const [method, ...others] = new Set(tests.map((test) => test.method))
  if (method === undefined || others.length) throw badRequest('cannot order lab tests with multiple collection methods')
  return method
}

const Found = T.Object({ id: T.String() })

/** The composition of a set. */
const getComposition = async (tx: Tx, members: OrderSetMembers, method: CollectionMethod): Promise<Composition> => {
  const { lab_id, marker_ids, tests, add_ons } = members
  return {
    lab_id,
    marker_ids,
    method,
    price: totalPrice([...tests, ...add_ons]),
    fasting: tests.some(({ fasting }) => fasting),
    sample_type: tests[0]?.sample_type ?? (await getSampleType(tx, lab_id, add_ons)),
  }
}

async function findOrCreate(tx: Tx, test: Composition): Promise<LabTest> {
  const composition_key = keyOf(test)
  const find = () =>
    tx.maybe(
      LabTest,
      sql`${selectLabTests(tx.team, 'without markers')} where t.team_id = ${tx.team} and t.composition_key = ${composition_key}`,
    )
  const found = await find()
  if (found) return found
  await createTest(tx, test, composition_key)
  // If a concurrent transaction created the test first, it has committed by now.
  return (await find())!
}

/**
 * The lab test of these markers of one lab, for orders that follow from other orders. Its price is zero, because the parent order paid.
 * Found or created as by `resolveOrderSet`. Writes lab_test, lab_test_marker. Errors: 400 the lab does not offer the collection method.
 */
export async function testOfMarkers(
  tx: Tx,
  test: Omit<Composition, 'price' | 'sample_type'> & { sample_type?: SampleType },
): Promise<LabTest> {
  await assertMethodOffered(tx, test.lab_id, test.method)
  const sample_type = test.sample_type ?? (await getSampleType(tx, test.lab_id, []))
  return findOrCreate(tx, { ...test, sample_type, price: 0 })
}

type Composition = Omit<MemberTest, 'id' | 'status'>

/** All properties of a test that an order shows; the order of markers is not one of them. */
const keyOf = ({ lab_id, marker_ids, method, price, fasting, sample_type }: Composition): string =>
  createHash('sha256')
    .update(JSON.stringify([lab_id, marker_ids.toSorted((a, b) => a - b), method, price, fasting, sample_type]))
    .digest('base64url')
    .slice(0, 32)

const NAMES_MAX = 3

/** `TSH + Ferritin`, or the first few names of many. */
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
                            has_collection_instructions, composition_key, created_at, updated_at)
      values (${tx.uuid()}, ${tx.team}, ${slug}, ${name}, 'Put together for an order.', ${test.lab_id}, ${test.method},
              ${test.sample_type}, ${test.price}, ${test.fasting}, 'active', true, false, ${composition_key}, ${tx.now}, ${tx.now})
      on conflict (team_id, composition_key) where composition_key is not null do nothing
      returning id),
    linked as (
      insert into lab_test_marker (team_id, lab_test_id, marker_id, position)
      select ${tx.team}, made.id, m.marker_id, m.position
      from made cross join unnest(${test.marker_ids}::integer[]) with ordinality as m (marker_id, position))
    select id from made`,
  )
}
