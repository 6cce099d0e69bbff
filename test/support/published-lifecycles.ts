// The lifecycles of orders as the API documents them, and what is added to them here.
import { lifecycles, type LifecycleName } from '../../src/lab/orders/lifecycle.ts'

/** Transitions as text, `from > to, to`, with one or more statuses on the left. */
const arrows = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [from, to] = line.split('>').map((side) => side.split(',').map((status) => status.trim()))
      return from!.flatMap((a) => to!.map((b) => `${a} > ${b}`))
    })

/** The tables of lab-testing.md 9.2 to 9.6 with the cancellations of 11, transcribed row by row. */
export const publishedStatuses: Record<LifecycleName, string[]> = {
  testkit: arrows(`
    ordered > requisition_created
    ordered > requisition_bypassed
    ordered > cancelled
    requisition_created > transit_customer
    requisition_bypassed > transit_customer
    requisition_created, requisition_bypassed > cancelled
    transit_customer > out_for_delivery
    transit_customer > failure_to_deliver_to_customer
    transit_customer, out_for_delivery > problem_in_transit_customer
    transit_customer > with_customer
    out_for_delivery > with_customer
    out_for_delivery > failure_to_deliver_to_customer
    problem_in_transit_customer > transit_customer, out_for_delivery, with_customer, failure_to_deliver_to_customer, lost
    with_customer > transit_lab
    with_customer > delivered_to_lab
    transit_lab > delivered_to_lab
    transit_lab > failure_to_deliver_to_lab
    transit_lab > problem_in_transit_lab
    problem_in_transit_lab > transit_lab, delivered_to_lab, failure_to_deliver_to_lab, lost
    transit_customer, transit_lab > lost
    delivered_to_lab > completed
    delivered_to_lab > sample_error
    delivered_to_lab > lab_processing_blocked
    lab_processing_blocked > delivered_to_lab, completed, sample_error
    transit_customer, out_for_delivery, with_customer, transit_lab > do_not_process
    problem_in_transit_customer, problem_in_transit_lab > do_not_process
    delivered_to_lab, lab_processing_blocked > do_not_process
    completed > corrected
    corrected > corrected`),
  registrable_testkit: arrows(`
    ordered > awaiting_registration
    ordered, awaiting_registration > cancelled
    awaiting_registration > transit_customer
    transit_customer > out_for_delivery, failure_to_deliver_to_customer
    out_for_delivery > with_customer, failure_to_deliver_to_customer
    with_customer > registered
    registered > requisition_created
    requisition_created > transit_lab
    transit_lab > delivered_to_lab, failure_to_deliver_to_lab
    delivered_to_lab > completed, sample_error
    awaiting_registration, transit_customer, out_for_delivery > requisition_created
    with_customer, problem_in_transit_customer > requisition_created
    requisition_created > registered
    registered > transit_customer, out_for_delivery, with_customer
    registered > transit_lab, delivered_to_lab
    registered > cancelled
    requisition_created > cancelled
    transit_customer, out_for_delivery > problem_in_transit_customer
    problem_in_transit_customer > transit_customer, out_for_delivery, with_customer, failure_to_deliver_to_customer, lost
    transit_lab > problem_in_transit_lab
    problem_in_transit_lab > transit_lab, delivered_to_lab, failure_to_deliver_to_lab, lost
    transit_customer, transit_lab > lost
    delivered_to_lab > lab_processing_blocked
    lab_processing_blocked > delivered_to_lab, completed, sample_error
    completed > corrected
    corrected > corrected`),
  walk_in_test: arrows(`
    ordered > requisition_created, requisition_bypassed, cancelled
    requisition_created, requisition_bypassed > appointment_pending, partial_results, cancelled
    appointment_pending > appointment_scheduled, appointment_cancelled, cancelled
    appointment_scheduled > appointment_pending, appointment_cancelled, partial_results, completed, cancelled
    appointment_cancelled > appointment_pending, cancelled
    partial_results > completed, partial_results
    requisition_created, requisition_bypassed, appointment_pending, appointment_cancelled > completed
    appointment_pending, appointment_cancelled > partial_results
    requisition_created, requisition_bypassed, partial_results > redraw_available, sample_error
    appointment_pending, appointment_scheduled, appointment_cancelled > redraw_available, sample_error
    completed > corrected
    corrected > corrected`),
  at_home_phlebotomy: arrows(`
    ordered > requisition_created, requisition_bypassed, cancelled
    requisition_created, requisition_bypassed > appointment_pending, appointment_scheduled, cancelled
    appointment_pending > appointment_scheduled, appointment_cancelled, cancelled
    appointment_scheduled > appointment_scheduled, appointment_cancelled, draw_completed, cancelled
    appointment_cancelled > appointment_pending, appointment_scheduled, cancelled
    draw_completed > partial_results, completed, cancelled
    partial_results > completed, partial_results
    appointment_scheduled > partial_results, completed
    draw_completed, partial_results > sample_error
    completed > corrected
    corrected > corrected`),
  on_site_collection: arrows(`
    ordered > requisition_created, requisition_bypassed, cancelled
    requisition_created, requisition_bypassed > draw_completed, cancelled, partial_results, completed
    draw_completed > partial_results, completed, cancelled
    partial_results > completed, partial_results
    draw_completed, partial_results > sample_error
    completed > corrected
    corrected > corrected`),
}

/**
 * Transitions that the published tables lack and this project added. A kit registered before its delivery returns to
 * `with_customer` and needs a transition from there to the laboratory; and 9.2 lets any kit in transit or at the laboratory be stopped.
 */
export const chosenStatuses: Record<LifecycleName, string[]> = {
  testkit: [],
  walk_in_test: [],
  at_home_phlebotomy: [],
  on_site_collection: [],
  registrable_testkit: arrows(`
    with_customer > transit_lab, delivered_to_lab
    transit_customer, out_for_delivery, with_customer, transit_lab > do_not_process
    problem_in_transit_customer, problem_in_transit_lab > do_not_process
    delivered_to_lab, lab_processing_blocked > do_not_process`),
}

/** The top-level status for each low-level status of a draw, where all draws agree. Source: lab-testing.md 9.1. */
const drawn: Record<string, string> = {
  ordered: 'received',
  requisition_created: 'received',
  requisition_bypassed: 'received',
  appointment_pending: 'collecting_sample',
  appointment_scheduled: 'collecting_sample',
  appointment_cancelled: 'collecting_sample',
  redraw_available: 'collecting_sample',
  partial_results: 'sample_with_lab',
  completed: 'completed',
  corrected: 'completed',
  sample_error: 'failed',
  cancelled: 'cancelled',
}

/** The published status for each low-level status. Source: lab-testing.md 9.1. */
export function shownAs(name: LifecycleName, low: string): string {
  if (name === 'testkit' || name === 'registrable_testkit') return shown[low]!
  if (low === 'draw_completed') return `${name === 'on_site_collection' ? 'sample_with_lab' : 'collecting_sample'}.${name}.${low}`
  return `${drawn[low]}.${name}.${low}`
}

/** The top-level status for each low-level status of kits. */
const shown: Record<string, string> = {
  ordered: 'received.testkit.ordered',
  awaiting_registration: 'received.testkit.awaiting_registration',
  registered: 'received.testkit.testkit_registered',
  requisition_created: 'received.testkit.requisition_created',
  requisition_bypassed: 'received.testkit.requisition_bypassed',
  transit_customer: 'collecting_sample.testkit.transit_customer',
  out_for_delivery: 'collecting_sample.testkit.out_for_delivery',
  with_customer: 'collecting_sample.testkit.with_customer',
  transit_lab: 'collecting_sample.testkit.transit_lab',
  problem_in_transit_customer: 'collecting_sample.testkit.problem_in_transit_customer',
  problem_in_transit_lab: 'collecting_sample.testkit.problem_in_transit_lab',
  delivered_to_lab: 'sample_with_lab.testkit.delivered_to_lab',
  lab_processing_blocked: 'sample_with_lab.testkit.lab_processing_blocked',
  completed: 'completed.testkit.completed',
  corrected: 'completed.testkit.corrected',
  sample_error: 'failed.testkit.sample_error',
  failure_to_deliver_to_customer: 'failed.testkit.failure_to_deliver_to_customer',
  failure_to_deliver_to_lab: 'failed.testkit.failure_to_deliver_to_lab',
  lost: 'failed.testkit.lost',
  cancelled: 'cancelled.testkit.cancelled',
  do_not_process: 'cancelled.testkit.do_not_process',
}

export const names = Object.keys(lifecycles) as LifecycleName[]
export const expected = (name: LifecycleName) => new Set([...publishedStatuses[name], ...chosenStatuses[name]])
