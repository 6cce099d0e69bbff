// Staff of our own who are asked for a visit and say later when they come: by the management operation that sets its date.
import { staffServing } from '../staff.ts'
import { holdVisit, releaseVisit } from '../visits.ts'
import { isReachable, NO_DOOR } from '../visit-location.ts'
import { noBooking, noMoving, noWindows, type VisitLink } from './visit-link.ts'

const REQUEST = 'appointment-request'

export const ownRequestLink: VisitLink = {
  provider: 'phlebfinders',
  service_types: [REQUEST],
  services: async (tx, where) => ((await staffServing(tx, tx.tenant.org, where, REQUEST)).length ? [REQUEST] : []),
  refusal: (address) => (isReachable(address) ? undefined : NO_DOOR),
  availability: noWindows,
  book: noBooking,
  async request(tx, visit) {
    await holdVisit(tx, 'phlebfinders', visit)
    return 'requested'
  },
  reschedule: noMoving,
  cancel: async (tx, appointment_id) => void (await releaseVisit(tx, appointment_id)),
}
