// Lab tests that a team creates and changes, and their approval. Writes lab_test and lab_test_marker. Source: lab-testing.md 3.4.
import type { PlainTx, Tx } from '../../platform/db/transaction.ts'
import { assertBelowLimit, badRequest, notFound } from '../../platform/http/errors.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { LabTestStatus } from './enums.ts'
import { getLabTest, labTestSlug, selectLabTests } from './lab-tests.ts'
import { assertMethodOffered, cachedLab, labBySlug, type LabAccess } from './labs.ts'
import { resolveMarkers, totalPrice, getSampleType } from './named-markers.ts'
import { LabTest, type CreateLabTest, type UpdateLabTest } from './schema.ts'

/** Maximum number of lab tests that a team creates; those created for order sets do not count. */
export const TEAM_TESTS_MAX = 5000

const NOT_FOUND_TEXT = 'Lab test not found'

/**
 * Creates a lab test from markers, priced at their sum. It can be ordered at once in a sandbox, in production after approval.
 * Writes lab_test, lab_test_marker.
 * Errors: 400 neither or both lists of markers; an unknown lab or marker; a reflex marker; markers of several labs, or of another lab than
 * named; a lab that the team is not offered; a method that the lab does not offer; 5000 tests already.
 * @param allowedLabId the lab of the lab account, if the request names one
 */
export async function createLabTest(tx: Tx, access: LabAccess, body: CreateLabTest, allowedLabId?: number): Promise<LabTest> {
  const { name, method, description, fasting = false, marker_ids, provider_ids } = body
  if (!marker_ids?.length === !provider_ids?.length) throw badRequest('Either marker_ids or provider_ids must be set')
  const [named, lab_id] = await Promise.all([resolveMarkers(tx, body), resolveLab(tx, body.lab_slug, allowedLabId)])
  const markers = named.ofOneLab(lab_id)
  const reflex = markers.find(({ is_orderable }) => !is_orderable)
  if (reflex) throw badRequest(`Marker ${reflex.id} cannot be ordered`)
  const lab = markers[0]!.lab_id
  await access.assertOffered(tx, await cachedLab(tx, lab))
  await assertMethodOffered(tx, lab, method)
  const sample_type = await getSampleType(tx, lab, markers)
  await assertTestLimit(tx)
  const approved = tx.tenant.cell.startsWith('sandbox')
  const id = tx.uuid()
  await tx.run(sql`
    with made as (
      insert into lab_test (id, team_id, slug, name, description, lab_id, method, sample_type, price, fasting, status, is_approved,
                            created_at, updated_at)
      values (${id}, ${tx.team}, ${labTestSlug(tx.team, name)}, ${name}, ${description}, ${lab}, ${method}, ${sample_type},
              ${totalPrice(markers)}, ${fasting}, ${approved ? 'active' : 'pending_approval'}, ${approved}, ${tx.now}, ${tx.now})
      returning id)
    insert into lab_test_marker (team_id, lab_test_id, marker_id, position)
    select ${tx.team}, made.id, m.marker_id, m.position
    from made cross join unnest(${markers.map((marker) => marker.id)}::integer[]) with ordinality as m (marker_id, position)`)
  return getLabTest(tx, id)
}

/** The lab that a request names by slug or by account. */
async function resolveLab(tx: Tx, slug: string | undefined, allowedLabId: number | undefined): Promise<number | undefined> {
  if (slug === undefined) return allowedLabId
  const lab = await labBySlug(tx, slug.toLowerCase())
  if (!lab) throw badRequest('Lab not found')
  if (allowedLabId !== undefined && lab.id !== allowedLabId)
    throw badRequest('The lab account belongs to a different lab than lab_slug')
  return lab.id
}

/** Counts under a lock, so that two concurrent creations cannot both pass the limit. */
async function assertTestLimit(tx: Tx): Promise<void> {
  await tx.locking.run(sql`select id from team where id = ${tx.team} for update`)
  const present = sql`select count(*) as n from lab_test where team_id = ${tx.team} and not auto_generated`
  await assertBelowLimit(tx, present, TEAM_TESTS_MAX, 'A team', 'lab tests')
}

const State = T.Object({ status: LabTestStatus, is_approved: T.Boolean(), auto_generated: T.Boolean() })

/**
 * Renames, deactivates or reactivates a lab test. Existing orders continue. Writes lab_test.
 * Errors: 404 unknown test; 400 a test created for an order, or activating a test without approval.
 */
export async function updateLabTest(tx: Tx, id: string, { name, active }: UpdateLabTest): Promise<LabTest> {
  const test = await tx.locking.maybe(
    State,
    sql`select status, is_approved, auto_generated from lab_test where id = ${id} and team_id = ${tx.team} for no key update`,
  )
  if (!test) throw notFound(NOT_FOUND_TEXT)
  if (test.auto_generated) throw badRequest('A lab test that was created for an order cannot be changed')
  if (active && !test.is_approved) throw badRequest('A lab test that is pending approval cannot be activated')
  const status = active === undefined ? test.status : active ? 'active' : 'inactive'
  if (name !== undefined || status !== test.status) {
    await tx.run(sql`
      update lab_test set name = coalesce(${name ?? null}, name), status = ${status}, updated_at = ${tx.now}
      where id = ${id} and team_id = ${tx.team}`)
    tx.invalidate(tx.team, `lab test ${id}`)
  }
  return getLabTest(tx, id)
}

const Owned = T.Object({ team_id: T.String() })

/**
 * Approves a lab test for ordering. A deactivated test can be reactivated after its approval. Approving again changes nothing. Writes
 * lab_test.
 * Errors: 404 unknown test, or, if an organization is given, a test of another organization.
 * @returns the team and the test as it is now
 */
export async function approveLabTest(tx: PlainTx, id: string, org_id?: string): Promise<{ team_id: string; test: LabTest }> {
  const owner = await tx.maybe(
    Owned,
    sql`
    select t.team_id from lab_test t join team on t.team_id = team.id and team.deleted_at is null
    where t.id = ${id} and (${org_id ?? null}::uuid is null or team.org_id = ${org_id ?? null}::uuid)`,
  )
  if (!owner) throw notFound(NOT_FOUND_TEXT)
  const { team_id } = owner
  await tx.run(sql`
    update lab_test set is_approved = true, status = case when status = 'pending_approval' then 'active' else status end, updated_at = ${tx.now}
    where id = ${id} and team_id = ${team_id} and not is_approved`)
  tx.invalidate(team_id, `lab test ${id}`)
  return {
    team_id,
    test: await tx.one(LabTest, sql`${selectLabTests(team_id, 'with markers')} where t.id = ${id} and t.team_id = ${team_id}`),
  }
}

const PendingLabTest = T.Object({ id: T.String(), team_id: T.String(), name: T.String(), lab: T.String(), method: T.String() })

/** The oldest tests of a cell that await approval. */
export const listPendingApproval = (tx: PlainTx): Promise<Static<typeof PendingLabTest>[]> =>
  tx.many(
    PendingLabTest,
    sql`
    select t.id, t.team_id, t.name, l.slug as lab, t.method from lab_test t join lab l on l.id = t.lab_id
    join team on t.team_id = team.id and team.deleted_at is null
    where t.status = 'pending_approval' order by t.created_at, t.id limit 1000`,
  )
