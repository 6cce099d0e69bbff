// The values of the form of a lab account.
import { US_STATES } from '../us-states.ts'
import type { LabAccount, LabAccountTerms } from './lab-account-queries.ts'

export const STATUSES = ['active', 'pending', 'suspended', 'ready_to_launch'] as const
export const FLOWS = ['not_delegated', 'order_delegated', 'result_delegated', 'fully_delegated'] as const
export const BILLING_TYPES = ['client_bill', 'commercial_insurance', 'patient_bill_passthrough', 'patient_bill'] as const
type BillingType = (typeof BILLING_TYPES)[number]

export interface LabAccountFormValues {
  lab: string
  provider_account_id: string
  account_name: string
  default_clinical_notes: string
  status: LabAccount['status']
  delegated_flow: LabAccount['delegated_flow']
  business_units: string[]
  /** The states in which each type is offered. */
  billing: Record<BillingType, string[]>
}

/** A new account: as the API sets it where nothing is said. */
export const EMPTY_TERMS: LabAccountFormValues = {
  lab: '',
  provider_account_id: '',
  account_name: '',
  default_clinical_notes: '',
  status: 'active',
  delegated_flow: 'not_delegated',
  business_units: [],
  billing: { client_bill: [...US_STATES], commercial_insurance: [], patient_bill_passthrough: [], patient_bill: [] },
}

export const toForm = (account: LabAccount): LabAccountFormValues => ({
  lab: account.lab,
  provider_account_id: account.provider_account_id,
  account_name: account.account_name ?? '',
  default_clinical_notes: account.default_clinical_notes ?? '',
  status: account.status,
  delegated_flow: account.delegated_flow,
  business_units: account.business_units ?? [],
  billing: Object.fromEntries(BILLING_TYPES.map((type) => [type, account.allowed_billing[type] ?? []])) as Record<
    BillingType,
    string[]
  >,
})

/** The terms for the API, which replace all former ones; linked teams stay. */
export function termsOf(values: LabAccountFormValues): LabAccountTerms {
  const { lab, provider_account_id, account_name, default_clinical_notes, status, delegated_flow, business_units } = values
  const offered = BILLING_TYPES.filter((type) => values.billing[type].length > 0)
  return {
    lab,
    provider_account_id,
    status,
    delegated_flow,
    ...(account_name && { account_name }),
    ...(default_clinical_notes && { default_clinical_notes }),
    ...(business_units.length && { business_units }),
    allowed_billing: Object.fromEntries(offered.map((type) => [type, values.billing[type]])),
  } as LabAccountTerms
}
