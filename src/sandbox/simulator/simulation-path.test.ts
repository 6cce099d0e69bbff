// Paths of simulated orders: from every position to every status, compared with an exhaustive search.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { lifecycles, lowLevelStatuses, type LifecycleName } from '../../lab/orders/lifecycle.ts'
import { nextStatuses, isFinal } from '../../lab/orders/status-machine.ts'
import { isReachable, nextStep, findTarget, type OrderPosition } from './simulation-path.ts'

const NEEDS_PATIENT = ['transit_lab', 'delivered_to_lab']
const REGISTRATION = ['requisition_created', 'registered']
const REGISTRABLE_AT = [
  'awaiting_registration',
  'transit_customer',
  'out_for_delivery',
  'with_customer',
  'problem_in_transit_customer',
]

/** Kits; draws have tables of their own below. */
const names: LifecycleName[] = ['testkit', 'registrable_testkit']
const statesOf = (lifecycle: LifecycleName) => Object.keys(lifecycles[lifecycle].steps)

/** Statuses with a registered patient only, and without one only. */
const ONLY_REGISTERED = [
  'registered',
  'transit_lab',
  'problem_in_transit_lab',
  'delivered_to_lab',
  'lab_processing_blocked',
  'completed',
]
const ALWAYS_KNOWN = [...ONLY_REGISTERED, 'corrected', 'failure_to_deliver_to_lab', 'sample_error']
const NEVER_KNOWN = ['ordered', 'awaiting_registration']

/** Every position an order can be in. */
const places = (lifecycle: LifecycleName): OrderPosition[] =>
  statesOf(lifecycle)
    .filter((lowLevelStatus) => lifecycle === 'testkit' || lowLevelStatus !== 'requisition_created')
    .flatMap((lowLevelStatus): OrderPosition[] => {
      if (lifecycle === 'testkit')
        return [{ lifecycle, lowLevelStatus, registered: true, pastStatuses: ['ordered', lowLevelStatus] }]
      const past = ['ordered', 'awaiting_registration']
      const unknown = { lifecycle, lowLevelStatus, registered: false, pastStatuses: [...past, lowLevelStatus] }
      const known = { lifecycle, lowLevelStatus, registered: true, pastStatuses: [...past, ...REGISTRATION, lowLevelStatus] }
      if (ALWAYS_KNOWN.includes(lowLevelStatus)) return [known]
      return NEVER_KNOWN.includes(lowLevelStatus) ? [unknown] : [unknown, known]
    })

const describePosition = ({ lowLevelStatus, registered, lifecycle }: OrderPosition) =>
  `${lowLevelStatus}${lifecycle === 'testkit' ? '' : registered ? ' (registered)' : ' (not registered)'}`

/** Steps that carriers and laboratory can take, without the patient. */
const steps = ({ lifecycle, lowLevelStatus, registered }: OrderPosition): string[] =>
  nextStatuses(lifecycles[lifecycle], lowLevelStatus).filter(
    (target) => lifecycle === 'testkit' || (!REGISTRATION.includes(target) && (registered || !NEEDS_PATIENT.includes(target))),
  )

const moveTo = (place: OrderPosition, status: string): OrderPosition => ({
  ...place,
  lowLevelStatus: status,
  pastStatuses: [...place.pastStatuses, status],
})

/** The position after a patient's registration; undefined if it is not possible. */
const registerAt = (place: OrderPosition): OrderPosition | undefined =>
  place.lifecycle === 'testkit' || place.registered || !REGISTRABLE_AT.includes(place.lowLevelStatus)
    ? undefined
    : { ...moveTo(moveTo(place, 'requisition_created'), 'registered'), registered: true }

/** Every status that can follow, through simulated steps and, if one comes up, a registration. */
function future(start: OrderPosition): Set<string> {
  const seen = new Map<string, OrderPosition>()
  const reached = new Set<string>()
  const queue = [start]
  for (const place of queue) {
    const nexts = [...steps(place).map((step) => moveTo(place, step)), registerAt(place)].filter((next) => next !== undefined)
    for (const next of nexts) {
      if (next !== registerAt(place)) reached.add(next.lowLevelStatus)
      if (seen.has(describePosition(next))) continue
      seen.set(describePosition(next), next)
      queue.push(next)
    }
  }
  for (const status of REGISTRATION) if (start.lifecycle !== 'testkit') reached.delete(status)
  return reached
}

/** Follows the route; whenever it waits, the patient registers, if `patient`. */
function follow(
  start: OrderPosition,
  target: string,
  patient: boolean,
): { end: OrderPosition; waits: OrderPosition[]; steps: string[] } {
  let place = start
  const waits: OrderPosition[] = []
  const taken: string[] = []
  for (let n = 0; n < 40; n++) {
    const next = nextStep(place, target)
    if (next === undefined) return { end: place, waits, steps: taken }
    if (next === 'wait') {
      waits.push(place)
      const after = registerAt(place)
      assert.ok(after, `waits at ${describePosition(place)}, where nobody can register`)
      if (!patient) return { end: place, waits, steps: taken }
      place = after
      continue
    }
    assert.ok(steps(place).includes(next), `${describePosition(place)} → ${next} on the way to ${target}`)
    taken.push(next)
    place = moveTo(place, next)
  }
  assert.fail(`no end on the way from ${describePosition(start)} to ${target}`)
}

for (const lifecycle of names)
  for (const place of places(lifecycle))
    describe(`a ${lifecycle} that is ${describePosition(place)}`, () => {
      const reachable = future(place)

      test('reaches exactly the statuses to which a path exists', () => {
        for (const target of lowLevelStatuses)
          assert.equal(isReachable(place, target), target !== place.lowLevelStatus && reachable.has(target), target)
      })

      test('takes only legal steps, with at most one registration', () => {
        for (const target of lowLevelStatuses) {
          const { end, waits } = follow(place, target, true)
          if (isReachable(place, target)) assert.equal(end.lowLevelStatus, target)
          assert.ok(waits.length <= 1, target)
          for (const at of waits) assert.equal(at.lowLevelStatus, 'with_customer', target)
        }
      })

      test('waits where a patient is needed', () => {
        for (const target of lowLevelStatuses) {
          const { end, waits } = follow(place, target, false)
          if (waits.length) assert.equal(end.lowLevelStatus, 'with_customer')
          else if (isReachable(place, target)) assert.equal(end.lowLevelStatus, target)
        }
      })

      test('stays where it is without a path', () => {
        for (const target of lowLevelStatuses)
          if (!isReachable(place, target)) assert.deepEqual(follow(place, target, true).steps, [], target)
      })
    })

describe('the default path', () => {
  const start = (lifecycle: LifecycleName): OrderPosition => ({
    lifecycle,
    lowLevelStatus: 'ordered',
    registered: lifecycle === 'testkit',
    pastStatuses: ['ordered'],
  })
  const carrier = ['transit_customer', 'out_for_delivery', 'with_customer']

  test('a kit for a known patient passes every scan on its default path to the result', () => {
    assert.deepEqual(follow(start('testkit'), 'completed', true).steps, [
      'requisition_created',
      ...carrier,
      'transit_lab',
      'delivered_to_lab',
      'completed',
    ])
  })

  test('a registrable kit waits with the customer and then continues', () => {
    const { steps, waits } = follow(start('registrable_testkit'), 'completed', true)
    assert.deepEqual(steps, ['awaiting_registration', ...carrier, 'transit_lab', 'delivered_to_lab', 'completed'])
    assert.equal(waits.length, 1)
    assert.deepEqual(follow(start('registrable_testkit'), 'completed', false).steps, ['awaiting_registration', ...carrier])
  })

  test("a kit registered during shipment continues from the carrier's position", () => {
    const rest = [...carrier, 'transit_lab', 'delivered_to_lab', 'completed']
    for (const [past, taken] of [
      [['ordered', 'awaiting_registration'], rest],
      [['ordered', 'awaiting_registration', 'transit_customer'], rest.slice(1)],
      [['ordered', 'awaiting_registration', 'transit_customer', 'problem_in_transit_customer'], rest.slice(1)],
      [['ordered', 'awaiting_registration', 'transit_customer', 'out_for_delivery'], rest.slice(2)],
      [['ordered', 'awaiting_registration', ...carrier], rest.slice(3)],
    ] as const) {
      const place: OrderPosition = {
        lifecycle: 'registrable_testkit',
        lowLevelStatus: 'registered',
        registered: true,
        pastStatuses: [...past, 'requisition_created', 'testkit_registered'],
      }
      assert.deepEqual(follow(place, 'completed', true).steps, taken)
    }
  })

  test('a failure is reached by the shortest legal path', () => {
    for (const [lifecycle, target, taken] of [
      ['testkit', 'cancelled', ['cancelled']],
      ['testkit', 'lost', ['requisition_created', 'transit_customer', 'lost']],
      ['testkit', 'problem_in_transit_customer', ['requisition_created', 'transit_customer', 'problem_in_transit_customer']],
      ['testkit', 'do_not_process', ['requisition_created', 'transit_customer', 'do_not_process']],
      [
        'testkit',
        'sample_error',
        ['requisition_created', 'transit_customer', 'with_customer', 'delivered_to_lab', 'sample_error'],
      ],
      ['registrable_testkit', 'cancelled', ['cancelled']],
      ['registrable_testkit', 'lost', ['awaiting_registration', 'transit_customer', 'lost']],
      [
        'registrable_testkit',
        'failure_to_deliver_to_lab',
        ['awaiting_registration', ...carrier, 'transit_lab', 'failure_to_deliver_to_lab'],
      ],
    ] as const)
      assert.deepEqual(follow(start(lifecycle), target, true).steps, taken, target)
  })

  test('rejects transitions from final statuses', () => {
    for (const lifecycle of names)
      for (const lowLevelStatus of statesOf(lifecycle).filter((state) => isFinal(lifecycles[lifecycle], state)))
        for (const target of lowLevelStatuses)
          assert.equal(nextStep({ ...start(lifecycle), lowLevelStatus, registered: true }, target), undefined)
  })
})

describe('the final status of a simulation', () => {
  test('is given in full form, and `registered` in either word', () => {
    for (const [published, low] of [
      ['completed.testkit.completed', 'completed'],
      ['completed.testkit.corrected', 'corrected'],
      ['collecting_sample.testkit.with_customer', 'with_customer'],
      ['sample_with_lab.testkit.delivered_to_lab', 'delivered_to_lab'],
      ['failed.testkit.lost', 'lost'],
    ] as const)
      for (const lifecycle of names) assert.equal(findTarget(lifecycle, published), low)
    assert.equal(findTarget('registrable_testkit', 'received.testkit.testkit_registered'), 'registered')
    assert.equal(findTarget('registrable_testkit', 'received.testkit.registered'), 'registered')
  })

  test('rejects a status of another modality, top-level status or lifecycle, or not in full form', () => {
    for (const published of [
      'completed.walk_in_test.completed',
      'received.testkit.completed',
      'received.testkit.testkit_registered',
      'received.testkit.awaiting_registration',
      'sample_with_lab.testkit.partial_results',
      'collecting_sample.walk_in_test.appointment_pending',
      'completed',
      'testkit.completed',
      'x.completed.testkit.completed',
      'completed.testkit.',
      'completed.testkit.constructor',
      '',
    ])
      assert.equal(findTarget('testkit', published), undefined, published)
  })
})

const draw = (lifecycle: LifecycleName, lowLevelStatus: string): OrderPosition => ({
  lifecycle,
  lowLevelStatus,
  registered: true,
  pastStatuses: [],
})
const BOOKED = ['appointment_pending', 'appointment_scheduled', 'appointment_cancelled']

for (const lifecycle of ['walk_in_test', 'at_home_phlebotomy', 'on_site_collection'] as LifecycleName[])
  describe(`a ${lifecycle}`, () => {
    for (const from of statesOf(lifecycle))
      test(`an order that is ${from} follows its lifecycle, and waits for an appointment instead of booking one`, () => {
        const cycle = lifecycles[lifecycle]
        for (const target of statesOf(lifecycle)) {
          const next = nextStep(draw(lifecycle, from), target)
          if (target === from || !reaches(lifecycle, from, target)) assert.equal(next, undefined, target)
          else if (next === 'wait') assert.ok(!reaches(lifecycle, from, target, BOOKED) && from !== 'ordered', target)
          else assert.ok(next && nextStatuses(cycle, from).includes(next) && !BOOKED.includes(next), `${target}: ${next}`)
        }
      })
  })

/** Whether a lifecycle leads from one status to another without passing some. */
function reaches(lifecycle: LifecycleName, start: string, target: string, blockedStatuses: string[] = []): boolean {
  const seen = new Set<string>()
  const queue = [start]
  for (const at of queue)
    for (const next of nextStatuses(lifecycles[lifecycle], at))
      if (!seen.has(next) && !blockedStatuses.includes(next)) {
        seen.add(next)
        queue.push(next)
      }
  return seen.has(target)
}

test('the default path of phlebotomy orders skips optional visits and waits for required ones', () => {
  for (const [lifecycle, from, next] of [
    ['walk_in_test', 'ordered', 'requisition_created'],
    ['walk_in_test', 'requisition_created', 'completed'],
    ['walk_in_test', 'appointment_scheduled', 'completed'],
    ['walk_in_test', 'partial_results', 'completed'],
    ['at_home_phlebotomy', 'ordered', 'requisition_created'],
    ['at_home_phlebotomy', 'requisition_created', 'wait'],
    ['at_home_phlebotomy', 'appointment_cancelled', 'wait'],
    ['at_home_phlebotomy', 'appointment_scheduled', 'draw_completed'],
    ['at_home_phlebotomy', 'draw_completed', 'completed'],
    ['on_site_collection', 'requisition_created', 'draw_completed'],
  ] as const)
    assert.equal(nextStep(draw(lifecycle, from), 'completed'), next, `${lifecycle} ${from}`)
})

test('the draw of on-site collection can be requested under either name', () => {
  for (const top of ['sample_with_lab', 'collecting_sample'])
    assert.equal(findTarget('on_site_collection', `${top}.on_site_collection.draw_completed`), 'draw_completed')
  assert.equal(findTarget('at_home_phlebotomy', 'sample_with_lab.at_home_phlebotomy.draw_completed'), undefined)
})
