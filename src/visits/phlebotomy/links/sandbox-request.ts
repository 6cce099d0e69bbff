// Requested at-home appointments of a sandbox team: a job sets the date after one hour of the team's time. Source: lab-testing.md 19.3, 24.
import { addSeconds } from '../../../platform/runtime/clock.ts'
import { enqueue, defineJob } from '../../../platform/queue/outbox.ts'
import { T } from '../../../platform/schema/schema.ts'
import { insertVisit, deleteVisit } from '../visits.ts'
import { hasStreetAddress, NO_DOOR } from '../visit-location.ts'
import { noBooking, noRescheduling, noWindows, type VisitLink } from './visit-link.ts'
import { playAt } from '../sandbox-visit-job.ts'

const REQUEST = 'appointment-request'
const ZIP = '54650'

/** Time from a request to the job that sets its date. */
const CONFIRMATION_DELAY_S = 3600

export const scheduleVisitJob = defineJob(
  'phlebotomy.schedule_visit',
  T.Object({ order_id: T.String(), appointment_id: T.String() }),
)

export const sandboxRequestLink: VisitLink = {
  provider: 'phlebfinders',
  service_types: [REQUEST],
  services: (_tx, { zip }) => Promise.resolve(zip === ZIP ? [REQUEST] : []),
  unavailableReason: (address) => (hasStreetAddress(address) ? undefined : NO_DOOR),
  availability: noWindows,
  book: noBooking,
  async request(tx, visit) {
    await insertVisit(tx, 'phlebfinders', visit)
    enqueue(
      tx,
      scheduleVisitJob,
      { order_id: visit.order_id, appointment_id: visit.appointment_id },
      addSeconds(tx.now, CONFIRMATION_DELAY_S),
    )
    return 'requested'
  },
  reschedule: noRescheduling,
  onDateChanged: (tx, visit, { start_ms }) => playAt(tx, visit, start_ms),
  cancel: async (tx, appointment_id) => void (await deleteVisit(tx, appointment_id)),
}
