import type { Option } from '../../platform/http/feature-flags.ts'

/** Source: lab-testing.md 17.4. */
export const preRequisitionScheduling: Option = {
  name: 'pre_requisition_scheduling',
  about: 'appointments of orders that have no requisition yet',
}
