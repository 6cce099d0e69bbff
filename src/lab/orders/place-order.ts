// Placing orders: from the requested order to its first statuses. All orders are created here.
import type { LabTest } from '../catalog/schema.ts'
import { assertLink, labLinkFor } from '../links/links.ts'
import type { AccountStatus } from '../accounts/schema.ts'
import { chooseAccount, requiresPhysician, usableAccounts } from '../accounts/account-selection.ts'
import { utcDate, iso } from '../../platform/runtime/clock.ts'
import type { Tenant, Tx } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { assertFeature } from '../../platform/http/feature-flags.ts'
import { servicePhysician } from '../../people/physicians/physicians.ts'
import { enqueue } from '../../platform/queue/outbox.ts'
import { cachedUser, type UserIdentity } from '../../people/users/users.ts'
import type { PatientAddress, ShippingAddress } from '../../people/person/address.ts'
import type { Billing, CollectionMethod } from '../catalog/enums.ts'
import { features } from '../../tenancy/teams/features.ts'
import type { Patient } from '../../people/person/patient.ts'
import { activationTime, scheduleDispatch } from './send-to-lab.ts'
import { notifySteps } from './order-hooks.ts'
import type { LifecycleName } from './lifecycle.ts'
import { shouldQueueCheckpoints, createCheckpoints } from './list-checkpoints.ts'
import { eventIds, LockedOrder, type InternalData } from './locked-order.ts'
import type { Order, OrderTransaction, PhysicianInput } from './schema.ts'

/** The requested order: test, patient and payment. */
export interface Placement {
  /** Lifecycle of the order. Default: the one named after the collection method. A kit registered later has a different one. */
  lifecycle?: LifecycleName
  user_id: string
  patient_details?: Patient
  patient_address?: PatientAddress
  shipping_details?: ShippingAddress
  physician?: PhysicianInput | undefined
  passthrough?: string | undefined
  clinical_notes?: string | undefined
  priority?: boolean | undefined
  icd_codes?: string[] | undefined
  activate_by?: string | undefined
  lab_account_id?: string | undefined
  billing_type?: Billing | undefined
  health_insurance_id?: string | undefined
  /** The requisition number at the laboratory, if it already has one. */
  sample_id?: string
  /** Accepted statuses of the lab account. Default: active. */
  statuses?: readonly AccountStatus[]
  /** Stored with the order, not shown. */
  facts?: Record<string, unknown>
  /** Number of statuses to reserve event ids for, including the first one. Default: 2. */
  steps?: number
  /** Assign the kit's barcode now, if the lab's link determines it at once. */
  withBarcode?: boolean
  /**
   * Origin of the order. Default: `request`. `import`: placed elsewhere, so that nothing is sent to the laboratory. `result`: created for
   * an incoming result, so that no sample has to be taken either.
   */
  comesFrom?: 'request' | 'import' | 'result'
}

/** Changes a new order before it is written. */
export type InitialSteps = (open: LockedOrder) => void | Promise<void>

/** Number of statuses that most orders enter before they are written. */
const STEPS = 2

/** The initial details of an order's kit, appointment or draw. */
export function newDetails(tx: Tx, method: CollectionMethod): Order['details'] {
  const now = iso(tx.now)
  const made = { id: tx.uuid(), created_at: now, updated_at: now }
  if (method === 'testkit') return { type: method, data: { ...made, shipment: null } }
  if (method === 'on_site_collection') return { type: method, data: made }
  return { type: method, data: { ...made, appointment_id: null } }
}

/**
 * Places an order; `begin` may change it before it is written. Writes lab_order. Queues orders.dispatch if the lab's link has to be
 * informed.
 * Emits labtest.order.created, then what `begin` emits.
 * Errors: 404 the team has no such user; 403 on-site collection without that feature; 400 the laboratory has no link (`assertLink`),
 * `activate_by` is past, no lab account accepts the order (`chooseAccount`), the account requires an ordering physician and the request
 * names none, errors of `chooseTest`.
 */
export async function placeOrder(
  tx: Tx,
  placement: Placement,
  chooseTest: (tx: Tx) => Promise<LabTest>,
  begin: InitialSteps = () => {},
): Promise<{ id: string; document: string }> {
  const [user, lab_test, ids, accounts] = await Promise.all([
    cachedUser(tx, placement.user_id),
    chooseTest(tx),
    eventIds(tx, placement.steps ?? STEPS),
    usableAccounts(tx),
  ])
  if (!user) throw notFound('User does not exist on this team')
  assertFeasible(tx.tenant, placement, lab_test)
  const { id: lab_id, slug } = lab_test.lab!
  const billing_type = placement.billing_type ?? 'client_bill'
  const account = await chooseAccount(tx, accounts, {
    lab_id,
    lab_account_id: placement.lab_account_id,
    billing_type,
    address: placement.patient_address,
    statuses: placement.statuses ?? ['active'],
  })
  const physician_required = requiresPhysician(tx.tenant, account, slug)
  if (physician_required && placement.patient_details && !placement.physician)
    throw badRequest('Orders under this lab account must include the ordering physician')
  if (placement.activate_by !== undefined && placement.activate_by < utcDate(tx.now))
    throw badRequest('activate_by must not be in the past')
  const physician = placement.physician ?? (await servicePhysicianFor(tx, placement))
  const id = tx.uuid()
  const queuesCheckpoints = shouldQueueCheckpoints(ids)
  const open = new LockedOrder(tx, {
    order: newOrder(tx, id, { ...placement, physician }, lab_test, { lab_account_id: account.id, billing_type }),
    intake: { ...placement.facts, physician_required, scheduled: placement.activate_by !== undefined } satisfies InternalData,
    lifecycle: placement.lifecycle ?? lab_test.method,
    lowLevelStatus: '',
    client_user_id: user.client_user_id,
    ids,
  })
  const document = await insertOrder(tx, open, user, begin)
  if (queuesCheckpoints) enqueue(tx, createCheckpoints, {})
  return { id, document }
}

/**
 * Checks that the order can be carried out. Imported orders and orders created for results skip these checks.
 * Errors: 403 on-site collection without that feature (no other step would continue the order); 400 the laboratory has no link.
 */
function assertFeasible(tenant: Tenant, { comesFrom = 'request' }: Placement, { method, lab }: LabTest): void {
  if (method === 'on_site_collection' && comesFrom !== 'result') assertFeature(tenant, features.on_site_collection)
  if (comesFrom === 'request') assertLink(tenant, lab!)
}

/** The service network's ordering physician, if the customer names none. Needs the patient's address. */
async function servicePhysicianFor(tx: Tx, { patient_address }: Placement): Promise<PhysicianInput | undefined> {
  return patient_address && (await servicePhysician(tx, patient_address.state))
}

async function insertOrder(tx: Tx, open: LockedOrder, user: UserIdentity, begin: InitialSteps): Promise<string> {
  open.setInitialStatus()
  await begin(open)
  await notifySteps(tx, open)
  const document = open.insert(open.order.lab_test.lab!.id, user)
  scheduleDispatch(tx, open.order, activationTime(tx, open.order.activate_by))
  return document
}

/** An order that follows from another order. */
export interface FollowUpOrder {
  origin: 'redraw' | 'recreation'
  lab_test: LabTest
  /** The user, if different from that of the parent order. The new order then starts its own transaction. */
  user?: UserIdentity
  /** Changes the new order at once; `steps` is the number of statuses to reserve event ids for, including the first one. Default: 2. */
  begin?: InitialSteps
  steps?: number
}

/**
 * Places an order that follows from another one: same patient, payment and physician; same lab account if the laboratory is the same, else
 * the account that would be chosen now. It joins the transaction, which both orders then show; the caller writes the parent order
 * afterwards. Writes lab_order. Queues orders.dispatch. Emits labtest.order.created, then what `begin` emits.
 * Errors: 400 no lab account accepts the order.
 * Source: lab-testing.md 12.
 */
export async function placeFollowUpOrder(
  tx: Tx,
  parent: LockedOrder,
  following: FollowUpOrder,
): Promise<{ id: string; document: string }> {
  const { order: before } = parent
  const { lab_test, origin } = following
  const same = before.lab_test.lab?.id === lab_test.lab!.id
  const chosen =
    same && before.lab_account_id !== null
      ? undefined
      : await chooseAccount(tx, await usableAccounts(tx), {
          lab_id: lab_test.lab!.id,
          billing_type: before.billing_type,
          address: before.patient_address ?? undefined,
          statuses: ['active'],
        })
  const account = chosen ?? { id: before.lab_account_id! }
  const physician_required = chosen
    ? requiresPhysician(tx.tenant, chosen, lab_test.lab!.slug)
    : parent.internalData.physician_required
  const user = following.user ?? { user_id: before.user_id, client_user_id: parent.clientUserId }
  const id = tx.uuid()
  const order: Order = {
    ...newOrder(tx, id, { user_id: user.user_id }, lab_test, { lab_account_id: account.id, billing_type: before.billing_type }),
    patient_details: before.patient_details,
    patient_address: before.patient_address,
    clinical_notes: before.clinical_notes,
    physician: before.physician,
    health_insurance_id: before.health_insurance_id,
    health_insurace_id: before.health_insurace_id, // sic
    priority: before.priority,
    passthrough: before.passthrough,
    icd_codes: before.icd_codes,
    origin,
  }
  const own = { ...order.order_transaction.orders[0]!, origin, parent_id: before.id }
  if (user.user_id === before.user_id) order.order_transaction = before.order_transaction
  else order.order_transaction.orders = []
  order.order_transaction.orders.push(own)
  // The expected delivery date belongs to the parent's parcel; pictures of insurance cards stay with the parent order.
  const { arrives_on: _arrives, health_insurance: _insurance, ...intake } = parent.internalData
  const open = new LockedOrder(tx, {
    order,
    intake: { ...intake, physician_required, scheduled: false },
    lifecycle: lab_test.method,
    lowLevelStatus: '',
    client_user_id: user.client_user_id,
    ids: await eventIds(tx, following.steps ?? STEPS),
  })
  return { id, document: await insertOrder(tx, open, user, following.begin ?? (() => {})) }
}

function newOrder(
  tx: Tx,
  id: string,
  placement: Placement,
  lab_test: LabTest,
  account: { lab_account_id: string; billing_type: Billing },
): Order {
  const now = iso(tx.now)
  const { physician } = placement
  const barcode = placement.withBarcode ? labLinkFor(tx.tenant, lab_test.lab!.slug)?.barcode(id) : undefined
  return {
    id,
    team_id: tx.team,
    user_id: placement.user_id,
    patient_details: placement.patient_details ?? null,
    patient_address: placement.patient_address ?? null,
    shipping_details: placement.shipping_details ?? null,
    lab_test,
    details: newDetails(tx, lab_test.method),
    sample_id: placement.sample_id ?? barcode ?? null,
    notes: null,
    clinical_notes: placement.clinical_notes ?? null,
    created_at: now,
    updated_at: now,
    events: [],
    last_event: { id: 0, created_at: now, status: '', status_detail: null },
    status: 'received',
    physician: physician ? { first_name: physician.first_name, last_name: physician.last_name, npi: physician.npi } : null,
    health_insurance_id: placement.health_insurance_id ?? null,
    health_insurace_id: placement.health_insurance_id ?? null, // sic
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
    order_transaction: newTransaction(tx, id),
    lab_account_id: account.lab_account_id,
  }
}

function newTransaction(tx: Tx, order_id: string): OrderTransaction {
  const now = iso(tx.now)
  const entry = { id: order_id, created_at: now, updated_at: now, low_level_status: '', low_level_status_created_at: now }
  return { id: tx.uuid(), status: 'active', orders: [{ ...entry, origin: 'initial', parent_id: null }] }
}
