// The visit links of a team. Production and sandbox differ only here and in the clock.
import type { Tenant } from '../../../platform/db/transaction.ts'
import { type VisitLink, noBooking, noRescheduling, noWindows } from './visit-link.ts'
import { operatorReadyLink } from './operator-ready.ts'
import { sandboxReadyLink } from './sandbox-ready.ts'
import { sandboxRequestLink } from './sandbox-request.ts'
import { findStaffServing } from '../staff.ts'
import { insertVisit, deleteVisit } from '../visits.ts'
import { hasStreetAddress, NO_DOOR } from '../visit-location.ts'

const REQUEST = 'appointment-request'

const operatorRequestLink: VisitLink = {
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

const staffLinks = [operatorReadyLink, operatorRequestLink]
const sandbox = [sandboxReadyLink, sandboxRequestLink]

/** All links of a team, in the order in which providers are listed. */
export const visitLinksFor = (tenant: Tenant): readonly VisitLink[] => (tenant.cell.startsWith('sandbox') ? sandbox : staffLinks)

/** Returns the link to a provider; undefined if this installation has none. */
export const visitLinkFor = (tenant: Tenant, provider: string): VisitLink | undefined =>
  visitLinksFor(tenant).find((link) => link.provider === provider)
