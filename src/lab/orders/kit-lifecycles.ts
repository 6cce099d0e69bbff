// Lifecycles of test kits, as data.
import { defineLifecycle } from './status-machine.ts'

/**
 * From the return parcel to the end: the same for both kinds of kits. Source: lab-testing.md 9.2, 9.1.
 * Unsourced: transitions from and to problem_*, lost, do_not_process, lab_processing_blocked, corrected.
 */
const returnAndTestSteps = {
  transit_lab: [
    'collecting_sample',
    'delivered_to_lab',
    'problem_in_transit_lab',
    'failure_to_deliver_to_lab',
    'lost',
    'do_not_process',
  ],
  problem_in_transit_lab: [
    'collecting_sample',
    'transit_lab',
    'delivered_to_lab',
    'failure_to_deliver_to_lab',
    'lost',
    'do_not_process',
  ],
  delivered_to_lab: ['sample_with_lab', 'completed', 'sample_error', 'lab_processing_blocked', 'do_not_process'],
  lab_processing_blocked: ['sample_with_lab', 'delivered_to_lab', 'completed', 'sample_error', 'do_not_process'],
  completed: ['completed', 'corrected'],
  corrected: ['completed', 'corrected'],
  failure_to_deliver_to_customer: ['failed'],
  failure_to_deliver_to_lab: ['failed'],
  sample_error: ['failed'],
  lost: ['failed'],
  cancelled: ['cancelled'],
  do_not_process: ['cancelled'],
} as const

/**
 * A kit whose patient is known when it is ordered. Source: lab-testing.md 9.2, 11.
 * Unsourced: transitions from and to problem_*, lost, do_not_process, and missed scans.
 */
export const testkitLifecycle = defineLifecycle('testkit', {
  ordered: ['received', 'requisition_created', 'requisition_bypassed', 'cancelled'],
  requisition_created: ['received', 'transit_customer', 'cancelled'],
  requisition_bypassed: ['received', 'transit_customer', 'cancelled'],
  transit_customer: [
    'collecting_sample',
    'out_for_delivery',
    'with_customer',
    'problem_in_transit_customer',
    'failure_to_deliver_to_customer',
    'lost',
    'do_not_process',
  ],
  out_for_delivery: [
    'collecting_sample',
    'with_customer',
    'problem_in_transit_customer',
    'failure_to_deliver_to_customer',
    'do_not_process',
  ],
  problem_in_transit_customer: [
    'collecting_sample',
    'transit_customer',
    'out_for_delivery',
    'with_customer',
    'failure_to_deliver_to_customer',
    'lost',
    'do_not_process',
  ],
  with_customer: ['collecting_sample', 'transit_lab', 'delivered_to_lab', 'do_not_process'],
  ...returnAndTestSteps,
})

/**
 * A kit that its patient registers later. Source: lab-testing.md 9.3, 11, 6.7.
 * A kit may be registered during its delivery: it is then `registered` (received) and continues with the carrier's statuses.
 * `with_customer` → `transit_lab` is for kits registered earlier; testkits checks this.
 */
export const registrableTestkitLifecycle = defineLifecycle('testkit', {
  ordered: ['received', 'awaiting_registration', 'cancelled'],
  awaiting_registration: ['received', 'requisition_created', 'transit_customer', 'cancelled'],
  requisition_created: ['received', 'registered', 'transit_lab', 'cancelled'],
  registered: [
    'received',
    'requisition_created',
    'transit_customer',
    'out_for_delivery',
    'with_customer',
    'transit_lab',
    'delivered_to_lab',
    'cancelled',
  ],
  transit_customer: [
    'collecting_sample',
    'requisition_created',
    'out_for_delivery',
    'problem_in_transit_customer',
    'failure_to_deliver_to_customer',
    'lost',
    'do_not_process',
  ],
  out_for_delivery: [
    'collecting_sample',
    'requisition_created',
    'with_customer',
    'problem_in_transit_customer',
    'failure_to_deliver_to_customer',
    'do_not_process',
  ],
  problem_in_transit_customer: [
    'collecting_sample',
    'requisition_created',
    'transit_customer',
    'out_for_delivery',
    'with_customer',
    'failure_to_deliver_to_customer',
    'lost',
    'do_not_process',
  ],
  with_customer: ['collecting_sample', 'requisition_created', 'registered', 'transit_lab', 'delivered_to_lab', 'do_not_process'],
  ...returnAndTestSteps,
})
