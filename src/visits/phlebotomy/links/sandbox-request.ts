// The visits of a sandbox team that are asked for: an hour of the team's time later somebody says when they come. Source: lab-testing.md
// 19.3, 24.
import { plusSeconds } from '../../../platform/runtime/clock.ts'
import { enqueue, job } from '../../../platform/queue/outbox.ts'
import { T } from '../../../platform/schema/schema.ts'
import { holdVisit, releaseVisit } from '../visits.ts'
import { isReachable, NO_DOOR } from '../visit-location.ts'
import { noBooking, noMoving, noWindows, type VisitLink } from './visit-link.ts'
import { playAt } from './sandbox-visit.ts'

const REQUEST = 'appointment-request'
const ZIP = '54650'

/** How long a request waits for its date. */
export const ANSWER_S = 3600

export const dateVisit = job('phlebotomy.date', T.Object({ order_id: T.String(), appointment_id: T.String() }))

export const sandboxRequestLink: VisitLink = {
  provider: 'phlebfinders',
  service_types: [REQUEST],
  services: (_tx, { zip }) => Promise.resolve(zip === ZIP ? [REQUEST] : []),
  refusal: (address) => (isReachable(address) ? undefined : NO_DOOR),
  availability: noWindows,
  book: noBooking,
  async request(tx, visit) {
    await holdVisit(tx, 'phlebfinders', visit)
    enqueue(tx, dateVisit, { order_id: visit.order_id, appointment_id: visit.appointment_id }, plusSeconds(tx.now, ANSWER_S))
    return 'requested'
  },
  reschedule: noMoving,
  dated: (tx, visit, { start_ms }) => playAt(tx, visit, start_ms),
  cancel: async (tx, appointment_id) => void (await releaseVisit(tx, appointment_id)),
}
