// Providers that serve an area. Source: lab-testing.md 16.
import type { Tx } from '../../platform/db/transaction.ts'
import { visitLinksFor } from './links/links.ts'
import type { ProviderName, ServiceType } from './service-types.ts'
import { locateZip } from './visit-location.ts'

export interface Coverage {
  is_served: boolean
  providers: { name: ProviderName; service_types: ServiceType[] }[]
}

/** Returns the providers that serve the team's patients in a ZIP code, with their service types. */
export async function createCoverage(tx: Tx, zip_code: string): Promise<Coverage> {
  const where = await locateZip(tx, zip_code)
  const asked = where
    ? await Promise.all(
        visitLinksFor(tx.tenant).map(async (link) => ({ name: link.provider, service_types: await link.services(tx, where) })),
      )
    : []
  const providers = asked.filter(({ service_types }) => service_types.length)
  return { is_served: providers.length > 0, providers }
}
