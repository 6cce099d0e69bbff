// Lifecycles of orders with a blood draw: walk-in, at-home phlebotomy and on-site collection. As data.
import { defineLifecycle } from './status-machine.ts'

/** Statuses from the complete report on. Source: lab-testing.md 9.4 to 9.6. Unsourced: transitions from and to corrected. */
const finalStatuses = {
  completed: ['completed', 'corrected'],
  corrected: ['completed', 'corrected'],
  sample_error: ['failed'],
  cancelled: ['cancelled'],
} as const

/** The statuses that may follow a draw at a service center, whether or not an appointment was reported. */
const reportedStatuses = ['partial_results', 'completed', 'redraw_available', 'sample_error'] as const

/**
 * Walk-in: the patient goes to a service center. Source: lab-testing.md 9.4, 11.
 * Unsourced: results without a completed appointment, transitions from and to redraw_available and sample_error.
 */
export const walkInLifecycle = defineLifecycle('walk_in_test', {
  ordered: ['received', 'requisition_created', 'requisition_bypassed', 'cancelled'],
  requisition_created: ['received', 'appointment_pending', ...reportedStatuses, 'cancelled'],
  requisition_bypassed: ['received', 'appointment_pending', ...reportedStatuses, 'cancelled'],
  appointment_pending: ['collecting_sample', 'appointment_scheduled', 'appointment_cancelled', ...reportedStatuses, 'cancelled'],
  appointment_scheduled: ['collecting_sample', 'appointment_pending', 'appointment_cancelled', ...reportedStatuses, 'cancelled'],
  appointment_cancelled: ['collecting_sample', 'appointment_pending', ...reportedStatuses, 'cancelled'],
  partial_results: ['sample_with_lab', ...reportedStatuses],
  redraw_available: ['collecting_sample'],
  ...finalStatuses,
})

/**
 * At-home phlebotomy: a phlebotomist goes to the patient. Source: lab-testing.md 9.5, 11.
 * Unsourced: partial_results repeated, results without a reported draw, transitions from and to sample_error.
 */
export const atHomePhlebotomyLifecycle = defineLifecycle('at_home_phlebotomy', {
  ordered: ['received', 'requisition_created', 'requisition_bypassed', 'cancelled'],
  requisition_created: ['received', 'appointment_pending', 'appointment_scheduled', 'cancelled'],
  requisition_bypassed: ['received', 'appointment_pending', 'appointment_scheduled', 'cancelled'],
  appointment_pending: ['collecting_sample', 'appointment_scheduled', 'appointment_cancelled', 'cancelled'],
  appointment_scheduled: [
    'collecting_sample',
    'appointment_scheduled',
    'appointment_cancelled',
    'draw_completed',
    'partial_results',
    'completed',
    'cancelled',
  ],
  appointment_cancelled: ['collecting_sample', 'appointment_pending', 'appointment_scheduled', 'cancelled'],
  draw_completed: ['collecting_sample', 'partial_results', 'completed', 'sample_error', 'cancelled'],
  partial_results: ['sample_with_lab', 'partial_results', 'completed', 'sample_error'],
  ...finalStatuses,
})

/**
 * On-site collection: the customer's own staff draw. Source: lab-testing.md 9.6, 11, 30.
 * Unsourced: results without a reported draw, transitions from and to sample_error.
 */
export const onSiteCollectionLifecycle = defineLifecycle('on_site_collection', {
  ordered: ['received', 'requisition_created', 'requisition_bypassed', 'cancelled'],
  requisition_created: ['received', 'draw_completed', 'partial_results', 'completed', 'cancelled'],
  requisition_bypassed: ['received', 'draw_completed', 'partial_results', 'completed', 'cancelled'],
  draw_completed: ['sample_with_lab', 'partial_results', 'completed', 'sample_error', 'cancelled'],
  partial_results: ['sample_with_lab', 'partial_results', 'completed', 'sample_error'],
  ...finalStatuses,
})
