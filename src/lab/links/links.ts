// Selects the link for a laboratory of a team. Production and sandbox differ only here and in the clock.
import type { Tenant } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { labSlugs } from '../../people/users/sources.ts'
import type { LabLink } from './lab-link.ts'
import { manualLink } from './manual.ts'
import { sandboxLink } from './sandbox.ts'

/** The link to a laboratory; undefined if this installation has none. */
export function labLinkFor(tenant: Pick<Tenant, 'cell'>, lab_slug: string): LabLink | undefined {
  if (tenant.cell.startsWith('sandbox')) return sandboxLink
  return lab_slug === 'manual' ? manualLink : undefined
}

/**
 * Errors: 400 unless this installation has a link to the laboratory or accepts orders without one (`orders_without_integration`). The message
 * names the linked laboratories.
 */
export function assertLink(tenant: Pick<Tenant, 'cell' | 'settings'>, { slug, name }: { slug: string; name: string }): void {
  if (tenant.settings.orders_without_integration === true || labLinkFor(tenant, slug)) return
  const linked = labSlugs.filter((each) => labLinkFor(tenant, each))
  throw badRequest(`This installation has no integration with ${name} (${slug}). Available laboratories: ${linked.join(', ')}`)
}

/** Whether the laboratory's orders use manual fulfillment. A sandbox team can practice with the practice laboratory. */
export const isManualLab = (tenant: Pick<Tenant, 'cell'>, lab_slug: string): boolean =>
  lab_slug === 'manual' || labLinkFor(tenant, lab_slug) === manualLink
