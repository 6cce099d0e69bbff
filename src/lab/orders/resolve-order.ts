// What a new order refers to: its user, lab test, lab account and physician. All of it is read and checked before the order is built.
// Only reads. Source: lab-testing.md 4, 6.
import { identifiedLab } from '../catalog/lab-identity.ts'
import type { LabTest } from '../catalog/schema.ts'
import type { AccountStatus } from '../accounts/schema.ts'
import { assertLink } from '../accounts/assert-link.ts'
import { chooseAccount, requiresPhysician, usableAccounts } from '../accounts/account-selection.ts'
import { utcDate } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { assertFeature } from '../../platform/http/feature-flags.ts'
import { servicePhysician } from '../../people/physicians/physicians.ts'
import { cachedUser, type KnownUser } from '../../people/users/users.ts'
import type { PatientAddress, ShippingAddress } from '../../people/person/address.ts'
import type { Billing } from '../catalog/enums.ts'
import { onSiteCollection } from './features.ts'
import type { Patient } from '../../people/person/patient.ts'
import type { LifecycleName } from './lifecycle.ts'
import { eventIds } from './locked-order.ts'
import type { PhysicianInput } from './schema.ts'

/** The requested order, whatever asks for it: patient, payment and texts. */
export interface OrderRequest {
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
  account_statuses?: readonly AccountStatus[]
  /** Stored with the order, not shown. */
  internal_data?: Record<string, unknown>
  /** Number of statuses to reserve event ids for, including the first one. Default: 2. */
  event_count?: number
  /** Assign the kit's barcode now, if the lab's link determines it at once. */
  withBarcode?: boolean
  /**
   * Why the order is created. Default: `request`. `import`: it was placed elsewhere, so that nothing is sent to the laboratory. `result`: it
   * is created for an incoming result, so that no sample has to be taken either.
   */
  reason?: 'request' | 'import' | 'result'
}

/** Everything that an order refers to. */
export interface ResolvedOrder {
  user: KnownUser
  lab_test: LabTest
  lab_account_id: string
  billing_type: Billing
  /** The customer's or the service network's; undefined if there is none. */
  physician: PhysicianInput | undefined
  /** The lab account requires an ordering physician. A kit without a patient may lack one until it is registered. */
  physician_required: boolean
  /** Reserved for the events of the order's first statuses. */
  event_ids: number[]
}

/** Number of statuses that most orders enter before they are written. */
export const EVENT_COUNT = 2

/**
 * Resolves the user, the lab account and the physician of an order of this lab test.
 * Errors: those of `lab_test`; 404 the team has no such user; 403 on-site collection without that feature; 400 the laboratory has no link
 * (`assertLink`) or no identity (`identifiedLab`), no lab account accepts the order (`chooseAccount`), the account requires an ordering physician and the request names none,
 * `activate_by` is past. The first in this order is reported.
 * @param lab_test it may still be loading: it is read together with everything else
 */
export async function resolveOrder(tx: Tx, request: OrderRequest, lab_test: LabTest | Promise<LabTest>): Promise<ResolvedOrder> {
  const [test, user, accounts, event_ids] = await Promise.all([
    lab_test,
    cachedUser(tx, request.user_id),
    usableAccounts(tx),
    eventIds(tx, request.event_count ?? EVENT_COUNT),
  ])
  if (!user) throw notFound('User does not exist on this team')
  await assertCanBeCarriedOut(tx, request, test)
  const lab = await identifiedLab(tx, test.lab!)
  const billing_type = request.billing_type ?? 'client_bill'
  const account = await chooseAccount(tx, accounts, {
    lab,
    lab_account_id: request.lab_account_id,
    billing_type,
    address: request.patient_address,
    statuses: request.account_statuses ?? ['active'],
  })
  if (request.reason === undefined || request.reason === 'request') await assertLink(tx, lab, account.id)
  const physician_required = requiresPhysician(tx.tenant, account, lab.slug)
  if (physician_required && request.patient_details && !request.physician)
    throw badRequest('Orders under this lab account must include the ordering physician')
  if (request.activate_by !== undefined && request.activate_by < utcDate(tx.now))
    throw badRequest('activate_by must not be in the past')
  // The service network's physicians order by the state of the patient, whose address may not be known yet.
  const { patient_address } = request
  const physician = request.physician ?? (patient_address && (await servicePhysician(tx, patient_address.state)))
  return { user, lab_test: { ...test, lab }, lab_account_id: account.id, billing_type, physician, physician_required, event_ids }
}

/**
 * Checks that the order can be carried out. Imported orders and orders created for results skip these checks.
 * Errors: 403 on-site collection without that feature (no other step would continue the order); 400 the laboratory has no link.
 */
async function assertCanBeCarriedOut(tx: Tx, { reason = 'request' }: OrderRequest, { method, lab }: LabTest): Promise<void> {
  if (method === 'on_site_collection' && reason !== 'result') assertFeature(tx.tenant, onSiteCollection)
  if (reason === 'request') await assertLink(tx, lab!)
}
