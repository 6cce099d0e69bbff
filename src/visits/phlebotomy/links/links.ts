// The visit links of a team. Production and sandbox differ only here and in the clock.
import type { Tenant } from '../../../platform/db/transaction.ts'
import type { VisitLink } from './visit-link.ts'
import { operatorReadyLink } from './operator-ready.ts'
import { operatorRequestLink } from './operator-request.ts'
import { sandboxReadyLink } from './sandbox-ready.ts'
import { sandboxRequestLink } from './sandbox-request.ts'

const staffLinks = [operatorReadyLink, operatorRequestLink]
const sandbox = [sandboxReadyLink, sandboxRequestLink]

/** All links of a team, in the order in which providers are listed. */
export const visitLinksFor = (tenant: Tenant): readonly VisitLink[] => (tenant.cell.startsWith('sandbox') ? sandbox : staffLinks)

/** Returns the link to a provider; undefined if this installation has none. */
export const visitLinkFor = (tenant: Tenant, provider: string): VisitLink | undefined =>
  visitLinksFor(tenant).find((link) => link.provider === provider)
