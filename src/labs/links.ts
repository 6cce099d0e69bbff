// Which link serves which laboratory of a team. Production and sandbox differ here and in the clock, nowhere else.
import type { Tenant } from '../platform/db.ts'
import type { LabLink } from './links/link.ts'
import { manualLink } from './links/manual.ts'
import { sandboxLink } from './links/sandbox.ts'

/** The link to a laboratory; undefined when this installation has none to it. */
export function linkTo(tenant: Pick<Tenant, 'cell'>, lab_slug: string): LabLink | undefined {
  if (tenant.cell.startsWith('sandbox')) return sandboxLink
  return lab_slug === 'manual' ? manualLink : undefined
}

/** Whether people work through the orders of a laboratory: in a sandbox they may practise on the one that is for it. */
export const isByHand = (tenant: Pick<Tenant, 'cell'>, lab_slug: string): boolean =>
  lab_slug === 'manual' || linkTo(tenant, lab_slug) === manualLink
