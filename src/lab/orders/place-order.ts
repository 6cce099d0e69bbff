// Placing orders: from what was asked to the first step of an order's life. The one place where orders come from.
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
import { eventIds, LockedOrder, type InternalData } from './open-order.ts'
import type { Order, OrderTransaction, PhysicianInput } from './schema.ts'

/** What is asked of a laboratory, for whom, and who pays. */
export interface Placement {
  /** The life of a kit whose patient comes later differs from its collection method; every other is named after it. */
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
  /** The laboratory's number, where it has one already. */
  sample_id?: string
  /** Statuses of lab accounts that take the order; active ones unless said otherwise. */
  statuses?: readonly AccountStatus[]
  /** Kept with the order, not shown. */
  facts?: Record<string, unknown>
  /** How many steps it takes at once, the first included; two unless said otherwise. */
  steps?: number
  /** Give the kit its barcode now, where the lab's link decides it at once. */
  withBarcode?: boolean
  /**
   * Where it comes from; asked for here unless said otherwise. `import`: placed elsewhere, so that no laboratory has to be told. `result`:
   * made for a result that has come, so that nothing has to be taken either.
   */
  comesFrom?: 'request' | 'import' | 'result'
}

/** What happens to a new order before it is written. */
export type InitialSteps = (open: LockedOrder) => void | Promise<void>

/** As many as most orders take before they are written. */
const STEPS = 2

/** What an order shows of its kit, visit or draw before anything happened. */
export function newDetails(tx: Tx, method: CollectionMethod): Order['details'] {
  const now = iso(tx.now)
  const made = { id: tx.uuid(), created_at: now, updated_at: now }
  if (method === 'testkit') return { type: method, data: { ...made, shipment: null } }
  if (method === 'on_site_collection') return { type: method, data: made }
  return { type: method, data: { ...made, appointment_id: null } }
}

/**
 * Place an order; `begin` may take it further before it is written. Writes lab_order. Queues orders.dispatch where somebody has to be told.
 * Emits labtest.order.created, then what `begin` emits.
 * 404: the team has no such user. 403: it is drawn on site, and the team does not have that. 400: the laboratory cannot be told
 * (`assertLink`); `activate_by` is past; no lab account takes the order (`chooseAccount`), or its account needs the
 * physician who orders and the patient's order names none; what `chooseTest` refuses.
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
    lowStatus: '',
    client_user_id: user.client_user_id,
    ids,
  })
  const document = await insertOrder(tx, open, user, begin)
  if (queuesCheckpoints) enqueue(tx, createCheckpoints, {})
  return { id, document }
}

/**
 * 403: nobody of the team may draw it: nothing but drawing it on site would take the order on. 400: nobody can tell the laboratory of it.
 * What has been told or taken already needs neither.
 */
function assertFeasible(tenant: Tenant, { comesFrom = 'request' }: Placement, { method, lab }: LabTest): void {
  if (method === 'on_site_collection' && comesFrom !== 'result') assertFeature(tenant, features.on_site_collection)
  if (comesFrom === 'request') assertLink(tenant, lab!)
}

/** Who orders where the customer names nobody; only once it is known for whom. */
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

/** An order that comes of another one. */
export interface FollowUpOrder {
  origin: 'redraw' | 'recreation'
  lab_test: LabTest
  /** Of another person than the order it comes of: it then opens a transaction of its own. */
  user?: UserIdentity
  /** What happens to it at once, in so many steps, the first included; two unless said otherwise. */
  begin?: InitialSteps
  steps?: number
}

/**
 * Place an order that comes of another one: for the same patient, paid and ordered as that one was, at its account where the laboratory
 * is the same, else at the account that would be chosen now. It joins the transaction, which both then show; the caller writes the
 * predecessor afterwards. Writes lab_order. Queues orders.dispatch. Emits labtest.order.created, then what `begin` emits.
 * 400: no lab account takes the order.
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
  // When a parcel arrives is known of that parcel alone; pictures of cards stay with the order they came with.
  const { arrives_on: _arrives, health_insurance: _insurance, ...intake } = parent.internalData
  const open = new LockedOrder(tx, {
    order,
    intake: { ...intake, physician_required, scheduled: false },
    lifecycle: lab_test.method,
    lowStatus: '',
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
