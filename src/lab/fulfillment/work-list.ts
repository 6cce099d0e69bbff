// The work queue: orders that await a staff action, over the teams that a key may access. Reads orders and writes nothing.
import { expectedResults } from '../catalog/lab-tests.ts'
import { findKitLink } from '../accounts/kit-links.ts'
import { isManualLab } from '../links/links.ts'
import { teamAccessCondition, authorizedTeam } from '../../tenancy/teams/team-access.ts'
import type { Order } from '../orders/schema.ts'
import { utcDate } from '../../platform/runtime/clock.ts'
import type { CellName } from '../../settings/cells.ts'
import type { PlainTx, Queries, Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import type { ManagementPrincipal } from '../../platform/http/operation.ts'
import { byCreation, Pages } from '../../platform/http/list-pages.ts'
import { Nullable, T, Timestamp, type Static } from '../../platform/schema/schema.ts'
import { joinConditions, sql, type Sql } from '../../platform/db/sql.ts'
import { expectations } from '../results/expected-results.ts'
import { notDeleted, userNotDeleted } from '../../people/users/users.ts'
import { labSlugs } from '../../people/users/sources.ts'
import { WorkType, type WorkDetails, type WorkItem, type WorkQuery } from './schema.ts'
import { notManual } from './work-step.ts'

/** Statuses in which an order may await a staff action. The query finds orders by these. */
const STATUSES_BY_WORK_TYPE = [
  'ordered',
  'awaiting_registration',
  'registered',
  'requisition_created',
  'requisition_bypassed',
  'transit_customer',
  'out_for_delivery',
  'with_customer',
  'transit_lab',
  'problem_in_transit_customer',
  'problem_in_transit_lab',
  'appointment_pending',
  'appointment_scheduled',
  'appointment_cancelled',
  'draw_completed',
  'delivered_to_lab',
  'lab_processing_blocked',
  'partial_results',
]

/**
 * The next step of an order `o`, on a date of its team; null if it awaits none, for example an order scheduled for a later day.
 * A registered kit may be at home or not shipped yet.
 */
const workTypeOf = (today: Sql) => sql`
  case
    when o.low_level_status in ('problem_in_transit_customer', 'problem_in_transit_lab', 'lab_processing_blocked') then 'problem'
    when o.low_level_status in ('ordered', 'awaiting_registration')
      and o.status_detail = 'fulfillment_error' then 'problem'
    when o.low_level_status = 'ordered' then
      case when o.activate_by is null or o.activate_by <= ${today} then 'accept' end
    when o.low_level_status = 'awaiting_registration' then case when o.sample_id is null then 'assign_kit' else 'ship' end
    when o.low_level_status in ('delivered_to_lab', 'draw_completed', 'partial_results') then 'report'
    when o.low_level_status = 'registered' and not o.kit_sent then 'ship'
    when o.low_level_status in ('registered', 'transit_customer', 'out_for_delivery', 'with_customer', 'transit_lab') then 'await_sample'
    when o.method = 'testkit' and o.low_level_status in ('requisition_created', 'requisition_bypassed') then 'ship'
    when o.method = 'walk_in_test' and o.internal_data::json ->> 'collected_at' is not null then 'report'
    when o.low_level_status in ('requisition_created', 'requisition_bypassed', 'appointment_pending', 'appointment_scheduled',
                          'appointment_cancelled') then 'draw'
  end`

/**
 * The next step of a kit's order `o` over the link `k`. Without a link, that of `workTypeOf`. The laboratory does the other steps, and those of
 * the parcel if it sends the kits.
 */
const workTypeOverLink = (today: Sql) => sql`
  case
    when k.account_id is null then ${workTypeOf(today)}
    when o.low_level_status in ('problem_in_transit_customer', 'problem_in_transit_lab') then 'problem'
    when o.low_level_status = 'awaiting_registration' and o.sample_id is null then 'assign_kit'
    when not k.sends_kits then null
    when o.low_level_status = 'ordered' then
      case
        when o.status_detail = 'fulfillment_error' then 'problem'
        when o.sample_id is null and (o.activate_by is null or o.activate_by <= ${today}) then 'assign_kit'
      end
    when o.low_level_status = 'awaiting_registration' then 'ship'
    when o.low_level_status in ('requisition_created', 'registered') and not o.kit_sent then 'ship'
    when o.low_level_status in ('registered', 'transit_customer', 'out_for_delivery', 'with_customer', 'transit_lab') then 'await_sample'
  end`

/** The link of a kit's order `o` at a laboratory `l` without manual fulfillment. */
const kitLink = (manualSlugs: string[]) => sql`
  left join lab_link k on k.account_id = o.lab_account_id and o.method = 'testkit' and l.slug <> all (${manualSlugs})`

/** Whether staff work on an order `o` at its laboratory `l` with the link `k`. */
const hasStaff = (manualSlugs: string[]) => sql`(k.account_id is not null or l.slug = any (${manualSlugs}))`

const manualLabSlugs = (cell: CellName): string[] => labSlugs.filter((slug) => isManualLab({ cell }, slug))

const Row = T.Object({
  document: T.String(),
  work_type: Nullable(WorkType),
  low_level_status: T.String(),
  status_at: Timestamp,
})
type Row = Static<typeof Row>
const workColumns = (workType: Sql) => sql`o.document, ${workType} as work_type, o.low_level_status, o.status_at`

/**
 * Orders in the work queue, oldest first. Errors: 400 a cursor of another list; 403 or 404 the filter names an inaccessible team. A team of
 * another region has no orders here.
 */
export async function listWork(
  tx: PlainTx,
  control: Queries,
  manager: ManagementPrincipal,
  cell: CellName,
  query: WorkQuery,
): Promise<{ data: WorkItem[]; next_cursor: string | null }> {
  const { team_id, lab, method, since, work_type } = query
  if (team_id !== undefined) await authorizedTeam(control, manager, team_id)
  const list = `work ${manager.org} ${cell} ${JSON.stringify([team_id, lab, method, since, work_type?.toSorted()])}`
  const teams = teamAccessCondition(manager, team_id === undefined ? undefined : [team_id])
  const pages = new Pages(list, query, byCreation('o'), { order: 'asc' })
  // Each sandbox team has its own clock.
  const workType = workTypeOverLink(sql`(${tx.now}::timestamptz + make_interval(secs => t.clock_offset_s))::date`)
  const conditions = [sql`(${workType}) is not null`, pages.afterCursor]
  if (method !== undefined) conditions.push(sql`o.method = ${method}`)
  if (since !== undefined) conditions.push(sql`o.status_at >= ${since}`)
  if (work_type?.length) conditions.push(sql`(${workType}) = any (${work_type})`)
  const labs = manualLabSlugs(cell)
  if (lab !== undefined) conditions.push(sql`l.slug = ${lab}`)
  const rows = await tx.many(
    Row,
    sql`
    select ${workColumns(workType)}
    from lab_order o
    join team t on t.id = o.team_id
    join lab l on l.id = o.lab_id ${kitLink(labs)}
    where o.team_id = any (array(select t.id from team t where ${teams})) and ${hasStaff(labs)} and o.low_level_status = any (${STATUSES_BY_WORK_TYPE}) and ${joinConditions(conditions)}
      and ${userNotDeleted(sql`o.user_id`, sql`o.team_id`)}
    ${pages.order}`,
  )
  const found = rows.map((row) => ({ row, order: JSON.parse(row.document) as Order }))
  const { page: shown, next_cursor } = pages.cut(found, ({ order }) => [order.created_at, order.id])
  for (const { order } of shown) tx.concerns(order.user_id, undefined, order.team_id)
  const page = shown.map(({ row, order }) => toWorkItem(row, order))
  return { data: page.map((item) => ({ ...item, work_type: item.work_type! })), next_cursor }
}

const Counted = T.Object({ n: T.Integer() })

/** The number of orders of a team that wait for a step of staff, without those whose sample is on its way; up to a number. */
export async function countStaffWork(tx: Tx, max: number): Promise<number> {
  const workType = workTypeOverLink(sql`${utcDate(tx.now)}::date`)
  const labs = manualLabSlugs(tx.tenant.cell as CellName)
  const { n } = await tx.one(
    Counted,
    sql`
    select count(*) as n from (
      select from lab_order o
      join lab l on l.id = o.lab_id ${kitLink(labs)}
      where o.team_id = ${tx.team} and ${hasStaff(labs)} and o.low_level_status = any (${STATUSES_BY_WORK_TYPE}) and (${workType}) <> 'await_sample'
        and ${notDeleted(tx, sql`o.user_id`)}
      limit ${max}) counted`,
  )
  return n
}

const toWorkItem = ({ work_type, low_level_status, status_at }: Row, order: Order) => ({
  order_id: order.id,
  team_id: order.team_id,
  work_type,
  status: low_level_status,
  status_detail: order.last_event.status_detail,
  status_at,
  created_at: order.created_at,
  method: order.lab_test.method,
  lab: order.lab_test.lab!.slug,
  lab_test: { id: order.lab_test.id, name: order.lab_test.name },
  sample_id: order.sample_id,
  priority: order.priority,
})

/** Reads an order with the patient data that its next step needs. Errors: 404 unknown order; 400 an order without manual fulfillment. */
export async function readWork(tx: Tx, order_id: string): Promise<WorkDetails> {
  const workType = workTypeOverLink(sql`${utcDate(tx.now)}::date`)
  const row = await tx.maybe(
    Row,
    sql`
    select ${workColumns(workType)} from lab_order o join lab l on l.id = o.lab_id ${kitLink(manualLabSlugs(tx.tenant.cell as CellName))}
    where o.id = ${order_id} and o.team_id = ${tx.team} and ${notDeleted(tx, sql`o.user_id`)}`,
  )
  if (!row) throw notFound("This order doesn't exist.")
  const order = JSON.parse(row.document) as Order
  tx.concerns(order.user_id)
  const item = toWorkItem(row, order)
  if (!isManualLab(tx.tenant, item.lab) && !(await findKitLink(tx, order))) throw notManual()
  const expected = expectations(await expectedResults(tx, order.lab_test.id))
  return {
    ...item,
    notes: order.notes,
    clinical_notes: order.clinical_notes,
    patient_details: patientDetails(order, item.work_type),
    address: addressDetails(order, item.work_type),
    expected_results: expected.map(({ slug, name, loinc, required, definition }) => ({
      analyte: slug,
      name,
      loinc,
      type: definition?.type ?? null,
      unit: definition?.unit ?? null,
      required: required,
    })),
  }
}

const VISIBLE_TO_STAFF = new Set<WorkType | null>(['accept', 'draw', 'await_sample', 'report', 'problem'])

function patientDetails({ patient_details: patient }: Order, work_type: WorkType | null): WorkDetails['patient_details'] {
  if (!patient || !VISIBLE_TO_STAFF.has(work_type)) return null
  const { first_name, last_name, dob, gender, phone_number } = patient
  return { first_name, last_name, dob, gender, phone_number: work_type === 'draw' ? phone_number : null }
}

/** The destination of a kit, or the address of an at-home draw. */
function addressDetails(
  { patient_details: patient, patient_address, shipping_details, lab_test }: Order,
  work_type: WorkType | null,
): WorkDetails['address'] {
  const going =
    work_type === 'assign_kit' || work_type === 'ship' || (work_type === 'draw' && lab_test.method === 'at_home_phlebotomy')
  const address = going ? (shipping_details ?? patient_address) : null
  if (!address) return null
  const { first_name, last_name } = patient ?? {}
  const receiver_name = address.receiver_name || [first_name, last_name].filter(Boolean).join(' ')
  return { access_notes: null, ...address, receiver_name }
}
