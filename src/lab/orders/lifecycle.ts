// Order lifecycles: one for each collection method, and two for kits.
import { atHomePhlebotomyLifecycle, onSiteCollectionLifecycle, walkInLifecycle } from './draw-lifecycles.ts'
import { registrableTestkitLifecycle, testkitLifecycle } from './kit-lifecycles.ts'
import type { Lifecycle } from './status-machine.ts'

export const lifecycles = {
  testkit: testkitLifecycle,
  registrable_testkit: registrableTestkitLifecycle,
  walk_in_test: walkInLifecycle,
  at_home_phlebotomy: atHomePhlebotomyLifecycle,
  on_site_collection: onSiteCollectionLifecycle,
} satisfies Record<string, Lifecycle>
export type LifecycleName = keyof typeof lifecycles

export const lifecycleOf = (name: string): Lifecycle => lifecycles[name as LifecycleName]

/** Every low-level status of the API, for filters. Source: lab-testing.md 2. */
export const lowLevelStatuses = [
  'ordered',
  'requisition_created',
  'requisition_bypassed',
  'transit_customer',
  'out_for_delivery',
  'with_customer',
  'transit_lab',
  'delivered_to_lab',
  'completed',
  'failure_to_deliver_to_lab',
  'failure_to_deliver_to_customer',
  'problem_in_transit_lab',
  'problem_in_transit_customer',
  'sample_error',
  'appointment_scheduled',
  'appointment_cancelled',
  'appointment_pending',
  'draw_completed',
  'cancelled',
  'lost',
  'do_not_process',
  'partial_results',
  'awaiting_registration',
  'registered',
  'redraw_available',
  'corrected',
  'lab_processing_blocked',
] as const

/** Statuses after which no lab work is expected for the order. Source: lab-testing.md 12. */
export const closedStatuses = new Set<string>([
  'completed',
  'corrected',
  'redraw_available',
  'sample_error',
  'failure_to_deliver_to_customer',
  'failure_to_deliver_to_lab',
  'lost',
  'cancelled',
  'do_not_process',
])
