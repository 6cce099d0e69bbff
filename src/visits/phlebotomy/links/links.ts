// Which links visit the patients of a team. Production and sandbox differ here and in the clock, nowhere else.
import type { Tenant } from '../../../platform/db/transaction.ts'
import type { VisitLink } from './visit-link.ts'
import { operatorReadyLink } from './operator-ready.ts'
import { operatorRequestLink } from './operator-request.ts'
import { sandboxReadyLink } from './sandbox-ready.ts'
import { sandboxRequestLink } from './sandbox-request.ts'

const staffLinks = [operatorReadyLink, operatorRequestLink]
const sandbox = [sandboxReadyLink, sandboxRequestLink]

/** All of them, in the order in which they are named. */
export const visitLinksFor = (tenant: Tenant): readonly VisitLink[] => (tenant.cell.startsWith('sandbox') ? sandbox : staffLinks)

/** The link to a provider; undefined when this installation has none to it. */
export const visitLinkFor = (tenant: Tenant, provider: string): VisitLink | undefined =>
  visitLinksFor(tenant).find((link) => link.provider === provider)
