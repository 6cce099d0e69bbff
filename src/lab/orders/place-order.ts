// Placing orders: builds a new order in memory from what it refers to, and writes it. All orders are created here. Between the two steps the
// caller may change the new order.
import { identifiedLab } from '../catalog/lab-identity.ts'
import type { LabTest } from '../catalog/schema.ts'
import { labLinkFor } from '../links/links.ts'
import { chooseAccount, requiresPhysician, usableAccounts } from '../accounts/account-selection.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { UserIdentity } from '../../people/users/users.ts'
import type { CollectionMethod } from '../catalog/enums.ts'
import { activationTime, scheduleDispatch } from './send-to-lab.ts'
import { notifySteps } from './order-hooks.ts'
import { eventIds, LockedOrder, type InternalData } from './locked-order.ts'
import { EVENT_COUNT, type OrderRequest, type ResolvedOrder } from './resolve-order.ts'
import { Order, type OrderTransaction } from './schema.ts'
import { withNulls } from '../../platform/schema/schema.ts'

/** A new order that is written at the end of the transaction. */
export interface PlacedOrder {
  id: string
  /** The order as JSON text. */
  document: string
}

/**
 * Builds an order in its first status, in memory: the caller may change it, and writes it with `insertOrder`. `insertOrder` emits its
 * labtest.order.created.
 */
export function buildOrder(tx: Tx, request: OrderRequest, resolvedOrder: ResolvedOrder): LockedOrder {
  const { lab_test, physician_required, user, event_ids } = resolvedOrder
  const newOrder = new LockedOrder(tx, {
    order: initialOrder(tx, request, resolvedOrder),
    internalData: {
      ...request.internal_data,
      physician_required,
      scheduled: request.activate_by !== undefined,
    } satisfies InternalData,
    lifecycle: request.lifecycle ?? lab_test.method,
    lowLevelStatus: '',
    client_user_id: user.client_user_id,
    ids: event_ids,
  })
  newOrder.setInitialStatus()
  return newOrder
}

/**
 * Writes a new order and starts what follows from it: the hooks of its statuses run, the order and its events are written at the end of the
 * transaction, and its dispatch is queued. Writes lab_order, list_count. Queues orders.dispatch if the lab's link has to be informed. Emits labtest.order.created, then the events of its further statuses.
 * @param demographics the version of the user's demographics that the statement verifies
 */
export async function insertOrder(
  tx: Tx,
  newOrder: LockedOrder,
  { user }: { user: UserIdentity },
  demographics?: string,
): Promise<PlacedOrder> {
  await notifySteps(tx, newOrder)
  const { order } = newOrder
  const document = newOrder.insert(order.lab_test.lab!.id, user, demographics)
  await scheduleDispatch(tx, order, activationTime(tx, order.activate_by))
  return { id: order.id, document }
}

/** An order that follows from another order. */
export interface FollowUpRequest {
  origin: 'redraw' | 'recreation'
  lab_test: LabTest
  /** The user, if different from that of the parent order. The new order then starts its own transaction. */
  user?: UserIdentity
  /** Number of statuses to reserve event ids for, including the first one. Default: 2. */
  event_count?: number
}

/** A new follow-up order, and what `insertOrder` needs of it. */
export interface FollowUpOrder {
  newOrder: LockedOrder
  user: UserIdentity
}

/**
 * Builds and writes an order that follows from another one, as `buildFollowUpOrder` and `insertOrder`. The caller writes the parent order
 * afterwards.
 */
export async function placeFollowUpOrder(tx: Tx, parent: LockedOrder, request: FollowUpRequest): Promise<PlacedOrder> {
  const following = await buildFollowUpOrder(tx, parent, request)
  return insertOrder(tx, following.newOrder, following)
}

/**
 * Builds an order that follows from another one: same patient, payment and physician; same lab account if the laboratory is the same, else
 * the account that would be chosen now. It joins the transaction, which both orders then show. The caller may change the new order, writes
 * it with `insertOrder`, and writes the parent order afterwards.
 * Errors: 400 the laboratory has no identity (`identifiedLab`), or no lab account accepts the order.
 * Source: lab-testing.md 12.
 */
export async function buildFollowUpOrder(
  tx: Tx,
  parentOrder: LockedOrder,
  { origin, lab_test: requestedTest, user: otherUser, event_count = EVENT_COUNT }: FollowUpRequest,
): Promise<FollowUpOrder> {
  const { order: parent } = parentOrder
  const lab_test = { ...requestedTest, lab: await identifiedLab(tx, requestedTest.lab!) }
  const { billing_type } = parent
  const user = otherUser ?? { user_id: parent.user_id, client_user_id: parentOrder.clientUserId }
  const { lab_account_id, physician_required } = await resolveFollowUpAccount(tx, parentOrder, lab_test)
  const event_ids = await eventIds(tx, event_count)
  const order: Order = {
    ...initialOrder(tx, { user_id: user.user_id }, { lab_test, lab_account_id, billing_type, physician: undefined }),
    patient_details: parent.patient_details,
    patient_address: parent.patient_address,
    clinical_notes: parent.clinical_notes,
    physician: parent.physician,
    health_insurance_id: parent.health_insurance_id,
    health_insurace_id: parent.health_insurace_id, // sic
    priority: parent.priority,
    passthrough: parent.passthrough,
    icd_codes: parent.icd_codes,
    origin,
  }
  const entry = { ...order.order_transaction.orders[0]!, origin, parent_id: parent.id }
  if (user.user_id === parent.user_id) order.order_transaction = parent.order_transaction
  else order.order_transaction.orders = []
  order.order_transaction.orders.push(entry)
  // The expected delivery date belongs to the parent's parcel; pictures of insurance cards stay with the parent order.
  const { arrives_on: _arrives, health_insurance: _insurance, ...internalData } = parentOrder.internalData
  const newOrder = new LockedOrder(tx, {
    order,
    internalData: { ...internalData, physician_required, scheduled: false },
    lifecycle: lab_test.method,
    lowLevelStatus: '',
    client_user_id: user.client_user_id,
    ids: event_ids,
  })
  newOrder.setInitialStatus()
  return { newOrder, user }
}

/** The lab account of a follow-up order: that of its parent, or the one that is chosen now for another laboratory. */
async function resolveFollowUpAccount(
  tx: Tx,
  { order: parent, internalData }: LockedOrder,
  { lab }: LabTest,
): Promise<Pick<ResolvedOrder, 'lab_account_id' | 'physician_required'>> {
  if (parent.lab_test.lab?.id === lab!.id && parent.lab_account_id !== null)
    return { lab_account_id: parent.lab_account_id, physician_required: internalData.physician_required }
  const account = await chooseAccount(tx, await usableAccounts(tx), {
    lab: lab!,
    billing_type: parent.billing_type,
    address: parent.patient_address ?? undefined,
    statuses: ['active'],
  })
  return { lab_account_id: account.id, physician_required: requiresPhysician(tx.tenant, account, lab!.slug) }
}

/** The new order as the API shows it, before its first status. */
function initialOrder(
  tx: Tx,
  request: OrderRequest,
  {
    lab_test,
    lab_account_id,
    billing_type,
    physician,
  }: Pick<ResolvedOrder, 'lab_test' | 'lab_account_id' | 'billing_type' | 'physician'>,
): Order {
  const id = tx.uuid()
  const now = iso(tx.now)
  const barcode = request.withBarcode ? labLinkFor(tx.tenant, lab_test.lab!.slug)?.barcode(id) : undefined
  return withNulls(Order, {
    id,
    team_id: tx.team,
    user_id: request.user_id,
    patient_details: request.patient_details,
    patient_address: request.patient_address,
    shipping_details: request.shipping_details,
    lab_test,
    details: newDetails(tx, lab_test.method),
    sample_id: request.sample_id ?? barcode,
    clinical_notes: request.clinical_notes,
    created_at: now,
    updated_at: now,
    events: [],
    last_event: { id: 0, created_at: now, status: '', status_detail: null },
    status: 'received',
    physician: physician ? { first_name: physician.first_name, last_name: physician.last_name, npi: physician.npi } : null,
    health_insurance_id: request.health_insurance_id,
    health_insurace_id: request.health_insurance_id, // sic
    priority: request.priority ?? false,
    activate_by: request.activate_by,
    passthrough: request.passthrough,
    billing_type,
    icd_codes: request.icd_codes,
    has_abn: false,
    origin: 'initial',
    order_transaction: newTransaction(tx, id),
    lab_account_id,
  })
}

/** The initial details of an order's kit, appointment or draw. */
function newDetails(tx: Tx, method: CollectionMethod): Order['details'] {
  const now = iso(tx.now)
  const details = { id: tx.uuid(), created_at: now, updated_at: now }
  if (method === 'testkit') return { type: method, data: { ...details, shipment: null } }
  if (method === 'on_site_collection') return { type: method, data: details }
  return { type: method, data: { ...details, appointment_id: null } }
}

function newTransaction(tx: Tx, order_id: string): OrderTransaction {
  const now = iso(tx.now)
  const entry = { id: order_id, created_at: now, updated_at: now, low_level_status: '', low_level_status_created_at: now }
  return { id: tx.uuid(), status: 'active', orders: [{ ...entry, origin: 'initial', parent_id: null }] }
}
