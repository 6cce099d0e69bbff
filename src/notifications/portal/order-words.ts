// Orders in the words of patients: what the state means, and what to do. Only values.
import { lowLevelStatuses } from '../../lab/orders/lifecycle.ts'
import type { CollectionMethod } from '../../lab/catalog/enums.ts'

export type LowLevelStatus = (typeof lowLevelStatuses)[number]

export interface StateWords {
  /** A few words, for example a heading. */
  title: string
  /** What happens next, or what the patient does. */
  sentence: string
}

/** An empty text would be a status without words, so each has one. */
const commonWords: Record<LowLevelStatus, StateWords> = {
  ordered: { title: 'Ordered', sentence: 'Your order has been placed and is being prepared.' },
  requisition_created: { title: 'Ready', sentence: 'Your order is ready.' },
  requisition_bypassed: { title: 'Ready', sentence: 'Your order is ready.' },
  awaiting_registration: { title: 'Waiting for registration', sentence: 'Please register your test kit when you have it.' },
  registered: { title: 'Registered', sentence: 'Your test kit is registered.' },
  transit_customer: { title: 'On its way to you', sentence: 'Your test kit has been sent.' },
  out_for_delivery: { title: 'Out for delivery', sentence: 'Your test kit should arrive today.' },
  with_customer: {
    title: 'Delivered to you',
    sentence: 'Please take your sample as the instructions in the box say, and send the parcel back.',
  },
  problem_in_transit_customer: { title: 'Delayed', sentence: 'There is a problem with the delivery of your test kit.' },
  failure_to_deliver_to_customer: { title: 'Not delivered', sentence: 'Your test kit could not be delivered.' },
  transit_lab: { title: 'On its way to the laboratory', sentence: 'Your sample is on its way. You need not do anything.' },
  problem_in_transit_lab: { title: 'Delayed', sentence: 'There is a problem with the transport of your sample.' },
  failure_to_deliver_to_lab: { title: 'Not delivered', sentence: 'Your sample did not reach the laboratory.' },
  delivered_to_lab: { title: 'At the laboratory', sentence: 'The laboratory has your sample and is testing it.' },
  lab_processing_blocked: {
    title: 'Waiting at the laboratory',
    sentence: 'The laboratory has your sample but cannot test it yet, because something is missing.',
  },
  appointment_pending: { title: 'Appointment requested', sentence: 'Your appointment is not confirmed yet.' },
  appointment_scheduled: { title: 'Appointment confirmed', sentence: 'Your appointment is confirmed.' },
  appointment_cancelled: { title: 'Appointment cancelled', sentence: 'Your appointment was cancelled. You can make a new one.' },
  draw_completed: { title: 'Sample taken', sentence: 'Your sample is on its way to the laboratory. You need not do anything.' },
  partial_results: { title: 'Some results are there', sentence: 'The laboratory is still working on the others.' },
  redraw_available: { title: 'Another sample is needed', sentence: 'The laboratory needs another sample to finish your order.' },
  completed: { title: 'Results are ready', sentence: 'The laboratory has finished your order.' },
  corrected: { title: 'Results were corrected', sentence: 'The laboratory has sent a corrected report.' },
  sample_error: { title: 'Not tested', sentence: 'The laboratory could not test your sample.' },
  lost: { title: 'Lost', sentence: 'The parcel was lost.' },
  cancelled: { title: 'Cancelled', sentence: 'This order was cancelled.' },
  do_not_process: { title: 'Cancelled', sentence: 'This order was cancelled and is not tested.' },
}

const visitCenter: StateWords = {
  title: 'Ready for your visit',
  sentence: 'Please go to a service center of the laboratory. Bring your requisition and a photo identification.',
}
const arrangeVisit: StateWords = { title: 'Ready for your visit', sentence: 'A visit at your home can be arranged.' }
const onSite: StateWords = { title: 'Ready', sentence: 'Your sample will be taken on site.' }
const kitSoon: StateWords = { title: 'Being prepared', sentence: 'Your test kit will be sent to you soon.' }

const ofMethod: Record<CollectionMethod, Partial<Record<LowLevelStatus, StateWords>>> = {
  testkit: { requisition_created: kitSoon, requisition_bypassed: kitSoon },
  walk_in_test: { requisition_created: visitCenter, requisition_bypassed: visitCenter },
  at_home_phlebotomy: { requisition_created: arrangeVisit, requisition_bypassed: arrangeVisit },
  on_site_collection: { requisition_created: onSite, requisition_bypassed: onSite },
}

/** The state of an order in words. */
export const stateWords = (method: CollectionMethod, status: LowLevelStatus): StateWords =>
  ofMethod[method][status] ?? commonWords[status]

/** In these statuses the patient should ask the team. */
export const askTeam: ReadonlySet<string> = new Set<LowLevelStatus>([
  'problem_in_transit_customer',
  'failure_to_deliver_to_customer',
  'failure_to_deliver_to_lab',
  'lab_processing_blocked',
  'redraw_available',
  'partial_results',
  'completed',
  'corrected',
  'sample_error',
  'lost',
])

/** In these statuses the patient may still need the requisition. */
export const needsRequisition: ReadonlySet<string> = new Set<LowLevelStatus>([
  'requisition_created',
  'appointment_pending',
  'appointment_scheduled',
  'appointment_cancelled',
  'redraw_available',
])

/** In these statuses an at-home appointment can be booked. */
export const canBookVisit: ReadonlySet<string> = new Set<LowLevelStatus>([
  'requisition_created',
  'requisition_bypassed',
  'appointment_cancelled',
])
