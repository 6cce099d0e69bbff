// Own staff that receive requests and set the date of a visit later, through the management operation for it.
import { findStaffServing } from '../staff.ts'
import { insertVisit, deleteVisit } from '../visits.ts'
import { hasStreetAddress, NO_DOOR } from '../visit-location.ts'
import { noBooking, noRescheduling, noWindows, type VisitLink } from './visit-link.ts'

const REQUEST = 'appointment-request'

export const operatorRequestLink: VisitLink = {
  provider: 'phlebfinders',
  service_types: [REQUEST],
  services: async (tx, where) => ((await findStaffServing(tx, tx.tenant.org, where, REQUEST)).length ? [REQUEST] : []),
  unavailableReason: (address) => (hasStreetAddress(address) ? undefined : NO_DOOR),
  availability: noWindows,
  book: noBooking,
  async request(tx, visit) {
    await insertVisit(tx, 'phlebfinders', visit)
    return 'requested'
  },
  reschedule: noRescheduling,
  cancel: async (tx, appointment_id) => void (await deleteVisit(tx, appointment_id)),
}
