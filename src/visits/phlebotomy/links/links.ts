// Which links visit the patients of a team. Production and sandbox differ here and in the clock, nowhere else.
import type { Tenant } from '../../../platform/db/transaction.ts'
import type { VisitLink } from './visit-link.ts'
import { ownReadyLink } from './operator-ready.ts'
import { ownRequestLink } from './operator-request.ts'
import { sandboxReadyLink } from './sandbox-ready.ts'
import { sandboxRequestLink } from './sandbox-request.ts'

const own = [ownReadyLink, ownRequestLink]
const sandbox = [sandboxReadyLink, sandboxRequestLink]

/** All of them, in the order in which they are named. */
export const linksOf = (tenant: Tenant): readonly VisitLink[] => (tenant.cell.startsWith('sandbox') ? sandbox : own)

/** The link to a provider; undefined when this installation has none to it. */
export const linkTo = (tenant: Tenant, provider: string): VisitLink | undefined =>
  linksOf(tenant).find((link) => link.provider === provider)
