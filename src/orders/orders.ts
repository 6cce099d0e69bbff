// Orders: placing and reading them. Owns lab_order; never knows what a kit, an appointment or a result is: their owners write what
// an order shows of them through `changeOrder`.
import { findLabTest } from '../catalog/lab-tests.ts'
import type { LabTest } from '../catalog/schema.ts'
import { linkTo } from '../labs/links.ts'
import { chooseAccount, needsPhysician, usableAccounts } from '../labs/selection.ts'
import { iso, day } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import { badRequest, notFound } from '../platform/errors.ts'
import { JsonText } from '../platform/operation.ts'
import { enqueue } from '../platform/outbox.ts'
import { T } from '../platform/schema.ts'
import { sql } from '../platform/sql.ts'
import { knownUser } from '../users/users.ts'
import type { PatientAddress, ShippingAddress } from '../wire/address.ts'
import type { Billing } from '../wire/enums.ts'
import type { Patient } from '../wire/patient.ts'
import { dispatchAt } from './dispatch.ts'
import type { LifecycleName } from './lifecycle.ts'
import { changeOrder, eventIds, OpenOrder, type Intake } from './open-order.ts'
import { isMarkTurn, markOrders } from './marks.ts'
import type { Order, OrderReply, PhysicianInput } from './schema.ts'

export interface Placement {
  lifecycle: LifecycleName
  user_id: string
  lab_test_id: string
  patient_details?: Patient
  patient_address?: PatientAddress
  shipping_details?: ShippingAddress
  /** What the order shows of its kit, visit or draw. */
  details: Order['details']
  physician?: PhysicianInput | undefined
  passthrough?: string | undefined
  clinical_notes?: string | undefined
  priority?: boolean | undefined
  icd_codes?: string[] | undefined
  activate_by?: string | undefined
  lab_account_id?: string | undefined
  billing_type?: Billing | undefined
  /** Kept with the order, not shown. */
  facts?: Record<string, unknown>
  /** Give the kit its barcode now, where the lab's link decides it at once. */
  withBarcode: boolean
}

/**
 * Place an order; `begin` may take it further before it is written. Writes lab_order. Queues orders.dispatch where somebody has to be told.
 * Emits labtest.order.created, then what `begin` emits.
 * 404: the team has no such user or lab test. 400: the test is not active or of another method; `activate_by` is past; no lab account
 * takes the order (`chooseAccount`), or its account needs the physician who orders and the patient's order names none.
 */
export async function placeOrder(
  tx: Tx,
  placement: Placement,
  begin: (open: OpenOrder) => void = () => {},
  check: (test: LabTest) => void | Promise<void> = () => {},
): Promise<{ id: string; document: string }> {
  const [user, lab_test, ids, accounts] = await Promise.all([
    knownUser(tx, placement.user_id),
    tx.remember(`lab test ${placement.lab_test_id}`, () => findLabTest(tx, placement.lab_test_id)),
    eventIds(tx, 2),
    usableAccounts(tx),
  ])
  if (!user) throw notFound('User does not exist on this team')
  if (!lab_test) throw notFound('Test does not exist')
  assertOrderable(lab_test, placement.details.type)
  await check(lab_test)
  const { id: lab_id, slug } = lab_test.lab!
  const billing_type = placement.billing_type ?? 'client_bill'
  const account = await chooseAccount(tx, accounts, {
    lab_id,
    lab_account_id: placement.lab_account_id,
    billing_type,
    address: placement.patient_address,
    statuses: ['active'],
  })
  const physician_required = needsPhysician(account, slug)
  if (physician_required && placement.patient_details && !placement.physician)
    throw badRequest('Orders under this lab account must name the physician who orders')
  if (placement.activate_by !== undefined && placement.activate_by < day(tx.now))
    throw badRequest('activate_by must not be in the past')

  const id = tx.uuid()
  const setsMarks = isMarkTurn(ids)
  const open = new OpenOrder(tx, {
    order: newOrder(tx, id, placement, lab_test, { lab_account_id: account.id, billing_type }),
    intake: { ...placement.facts, physician_required, scheduled: placement.activate_by !== undefined } satisfies Intake,
    lifecycle: placement.lifecycle,
    lowStatus: '',
    client_user_id: user.client_user_id,
    ids,
  })
  open.begin()
  begin(open)
  const document = open.insert(lab_id, user)
  dispatchAt(tx, open.order, activation(tx, placement.activate_by))
  if (setsMarks) enqueue(tx, markOrders, {})
  return { id, document }
}

function assertOrderable(test: LabTest, method: string): void {
  if (test.status !== 'active') throw badRequest(`Lab test ${test.id} is not active`)
  if (test.method !== method) throw badRequest(`Lab test ${test.id} is collected by ${test.method}, not by ${method}`)
}

/** When a scheduled order is sent to the lab: at the start of its day, in UTC. An order of today is sent at once. */
export const activation = (tx: Tx, activate_by: string | null | undefined): Date =>
  activate_by && activate_by > day(tx.now) ? new Date(`${activate_by}T00:00:00Z`) : tx.now

function newOrder(
  tx: Tx,
  id: string,
  placement: Placement,
  lab_test: LabTest,
  account: { lab_account_id: string; billing_type: Billing },
): Order {
  const now = iso(tx.now)
  const { physician } = placement
  return {
    id,
    team_id: tx.team,
    user_id: placement.user_id,
    patient_details: placement.patient_details ?? null,
    patient_address: placement.patient_address ?? null,
    shipping_details: placement.shipping_details ?? null,
    lab_test,
    details: placement.details,
    sample_id: (placement.withBarcode && linkTo(tx.tenant, lab_test.lab!.slug)?.barcode(id)) || null,
    notes: null,
    clinical_notes: placement.clinical_notes ?? null,
    created_at: now,
    updated_at: now,
    events: [],
    last_event: { id: 0, created_at: now, status: '', status_detail: null },
    status: 'received',
    physician: physician ? { first_name: physician.first_name, last_name: physician.last_name, npi: physician.npi } : null,
    health_insurance_id: null,
    health_insurace_id: null, // sic
    requisition_form_url: null,
    priority: placement.priority ?? false,
    activate_by: placement.activate_by ?? null,
    passthrough: placement.passthrough ?? null,
    billing_type: account.billing_type,
    icd_codes: placement.icd_codes ?? null,
    has_abn: false,
    interpretation: null,
    has_missing_results: null,
    expected_result_by_date: null,
    worst_case_result_by_date: null,
    origin: 'initial',
    order_transaction: {
      id: tx.uuid(),
      status: 'active',
      orders: [
        {
          id,
          created_at: now,
          updated_at: now,
          low_level_status: '',
          low_level_status_created_at: now,
          origin: 'initial',
          parent_id: null,
        },
      ],
    },
    lab_account_id: account.lab_account_id,
  }
}

const DocumentRow = T.Object({ document: T.String() })

/** Read an order as JSON text. 404: the team has no such order. */
export async function readOrder(tx: Tx, id: string, missing = "This order doesn't exist."): Promise<string> {
  const row = await tx.lookUp(DocumentRow, sql`select document from lab_order where id = ${id} and team_id = ${tx.team}`)
  if (!row) throw notFound(missing)
  return row.document
}

/** Read an order. 404: the team has no such order. */
export const getOrder = async (tx: Tx, id: string, missing?: string): Promise<Order> =>
  JSON.parse(await readOrder(tx, id, missing)) as Order

/** The reply of every operation that answers with a changed order. */
export const orderReply = (document: string, message: string): JsonText<OrderReply> =>
  new JsonText(`{"order":${document},"status":"success","message":${JSON.stringify(message)}}`)

const Id = T.Object({ id: T.String() })

/** Whether the team has such an order. */
export const hasOrder = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx.maybe(Id, sql`select id from lab_order where team_id = ${tx.team} and id = ${id}`)) !== undefined

/** The order whose kit has this barcode, within the team. */
export async function findOrderBySample(tx: Tx, sample_id: string): Promise<string | undefined> {
  return (await tx.maybe(Id, sql`select id from lab_order where team_id = ${tx.team} and sample_id = ${sample_id}`))?.id
}

/**
 * Change or clear the date of a scheduled order. Writes lab_order. Queues orders.dispatch where somebody has to be told. No event: nothing happened to the order.
 * 400: the order was not created for a date, or has gone on, or the date is past. 404: no such order.
 * Source: lab-testing.md 6.3.
 */
export async function rescheduleOrder(tx: Tx, id: string, activate_by: string | null): Promise<JsonText<OrderReply>> {
  const document = await changeOrder(tx, id, (open) => {
    if (open.lowStatus !== 'ordered' && open.lowStatus !== 'awaiting_registration')
      throw badRequest(`An order that is ${open.lowStatus} cannot be scheduled any more`)
    if (!open.intake.scheduled) throw badRequest('An order created for immediate processing cannot be scheduled afterwards')
    if (activate_by !== null && activate_by < day(tx.now)) throw badRequest('activate_by must not be in the past')
    open.order.activate_by = activate_by
    dispatchAt(tx, open.order, activation(tx, activate_by))
  })
  return orderReply(document, 'order updated')
}

/** Constraints of this module's tables and what violating them answers. */
export const constraints = {
  lab_order__sample_id: () => badRequest('The sample id belongs to another order'),
}
