// Finds the path of a simulated order. Pure. Source: lab-testing.md 24.
import { lifecycleOf, type LifecycleName } from '../../lab/orders/lifecycle.ts'
import { toLowLevelStatus, shortestPath, publishedStatus, type Lifecycle } from '../../lab/orders/status-machine.ts'

/** The paths without failures. */
const defaultPaths: Record<LifecycleName, string[]> = {
  // Appointments are booked by people: the paths of draws avoid them or wait for them.
  walk_in_test: ['ordered', 'requisition_created', 'completed'],
  at_home_phlebotomy: ['ordered', 'requisition_created', 'appointment_scheduled', 'draw_completed', 'completed'],
  on_site_collection: ['ordered', 'requisition_created', 'draw_completed', 'completed'],
  testkit: [
    'ordered',
    'requisition_created',
    'transit_customer',
    'out_for_delivery',
    'with_customer',
    'transit_lab',
    'delivered_to_lab',
    'completed',
  ],
  registrable_testkit: [
    'ordered',
    'awaiting_registration',
    'transit_customer',
    'out_for_delivery',
    'with_customer',
    'transit_lab',
    'delivered_to_lab',
    'completed',
  ],
}

/** Steps that only a patient's registration takes. */
const REGISTRATION = new Set(['requisition_created', 'registered'])
/** Steps that only a booked appointment takes. */
const BOOKING = new Set(['appointment_pending', 'appointment_scheduled', 'appointment_cancelled'])
/** Steps of a sample, which require a known patient. */
const NEED_PATIENT = new Set(['transit_lab', 'delivered_to_lab'])

export interface OrderPosition {
  lifecycle: LifecycleName
  lowLevelStatus: string
  /** Whether the patient is known. */
  registered: boolean
  /** Low-level statuses of the order so far. */
  pastStatuses: string[]
}

/** Returns the low-level status for a published status in a lifecycle; undefined if the lifecycle has none. */
export function findTarget(lifecycle: LifecycleName, publishedName: string): string | undefined {
  const parts = publishedName.split('.')
  const lowLevelStatus = toLowLevelStatus(parts.at(-1)!)
  const cycle = lifecycleOf(lifecycle)
  if (!Object.hasOwn(cycle.steps, lowLevelStatus)) return undefined
  const spellings = [
    publishedStatus(cycle, lowLevelStatus),
    `${cycle.steps[lowLevelStatus]![0]}.${cycle.method}.${lowLevelStatus}`,
  ]
  // The draw of on-site collection is published under two names. Source: lab-testing.md 30.
  if (lifecycle === 'on_site_collection' && lowLevelStatus === 'draw_completed')
    spellings.push(`collecting_sample.${cycle.method}.${lowLevelStatus}`)
  return spellings.includes(publishedName) ? lowLevelStatus : undefined
}

/** Whether an order can reach a status, also after its registration. */
export const isReachable = (place: OrderPosition, target: string): boolean => nextStep(place, target) !== undefined

/**
 * Returns the next step towards a status. `wait`: the kit has to be registered first, or the appointment booked; undefined: the status is
 * reached, or there is no path.
 */
export function nextStep(place: OrderPosition, target: string): string | 'wait' | undefined {
  if (place.lowLevelStatus === target) return undefined
  const path = pathTo(place, target)
  if (path) return path[0]
  if (place.lifecycle !== 'testkit' && place.lifecycle !== 'registrable_testkit') return stepTowardAppointment(place, target)
  if (
    simulatedLifecycle(place) !== beforeRegistrationLifecycle ||
    !shortestPath(afterRegistrationLifecycle, 'registered', target)
  )
    return undefined
  // The patient has to register first. Until then the kit travels to its customer.
  return place.lowLevelStatus === 'with_customer' ? 'wait' : pathTo(place, 'with_customer')?.[0]
}

/** If the path leads through an appointment: goes to the requisition, without which none can be booked, and waits there. */
function stepTowardAppointment(place: OrderPosition, target: string): string | undefined {
  if (!shortestPath(lifecycleOf(place.lifecycle), place.lowLevelStatus, target)) return undefined
  return place.lowLevelStatus === 'ordered' ? 'requisition_created' : 'wait'
}

/** Returns a lifecycle without the steps into some statuses. */
function withoutSteps({ steps, ...cycle }: Lifecycle, statuses: Set<string>): Lifecycle {
  const kept = Object.entries(steps).map(([from, [top, ...next]]) => [
    from,
    [top, ...next.filter((nextStatus) => !statuses.has(nextStatus))],
  ])
  return { ...cycle, steps: Object.fromEntries(kept) as Lifecycle['steps'] }
}

/** Steps of a kit with a known patient: everything except the registration. */
const afterRegistrationLifecycle = withoutSteps(lifecycleOf('registrable_testkit'), REGISTRATION)
/** Steps of a kit before the registration: nothing goes to the laboratory. */
const beforeRegistrationLifecycle = withoutSteps(afterRegistrationLifecycle, NEED_PATIENT)

/** Steps of an order with a draw: everything except booking an appointment. */
const withoutBooking = new Map(
  (['walk_in_test', 'at_home_phlebotomy', 'on_site_collection'] as LifecycleName[]).map((name) => [
    name,
    withoutSteps(lifecycleOf(name), BOOKING),
  ]),
)

function simulatedLifecycle({ lifecycle, registered: known }: OrderPosition): Lifecycle {
  if (lifecycle === 'testkit') return lifecycleOf(lifecycle)
  return withoutBooking.get(lifecycle) ?? (known ? afterRegistrationLifecycle : beforeRegistrationLifecycle)
}

/** Returns the default path; with partial or corrected results if the target is one of them. */
function defaultPath(lifecycle: LifecycleName, target: string): string[] {
  const path = defaultPaths[lifecycle]
  if (target === 'corrected') return [...path, target]
  return target === 'partial_results' && Object.hasOwn(lifecycleOf(lifecycle).steps, target)
    ? [...path.slice(0, -1), target]
    : path
}

/** Returns the simulated steps to a status: the default path if it leads there, otherwise the shortest path. */
function pathTo(place: OrderPosition, target: string): string[] | undefined {
  const lifecycle = simulatedLifecycle(place)
  const path = defaultPath(place.lifecycle, target)
  const from = place.lowLevelStatus === 'registered' ? resumeIndex(place, path) : path.indexOf(place.lowLevelStatus)
  const ahead = from < 0 ? [] : path.slice(from + 1, path.indexOf(target) + 1)
  if (ahead.some((status) => BOOKING.has(status))) return undefined
  if (ahead.length && (lifecycle !== beforeRegistrationLifecycle || !ahead.some((status) => NEED_PATIENT.has(status))))
    return ahead
  return shortestPath(lifecycle, place.lowLevelStatus, target)
}

/** A kit may be registered before its delivery: then the carrier continues from its position. */
const resumeIndex = (place: OrderPosition, path: string[]): number =>
  Math.max(
    ...['awaiting_registration', 'transit_customer', 'out_for_delivery', 'with_customer']
      .filter((status) => place.pastStatuses.includes(status))
      .map((status) => path.indexOf(status)),
  )
