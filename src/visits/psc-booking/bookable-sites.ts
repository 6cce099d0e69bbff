// Sites for appointments.
import type { UsAddress } from '../appointments/schema.ts'
import type { Queries } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { capabilitySet, isBookable } from '../psc/directory.ts'
import { findSite, type SiteRecord } from '../psc/sites.ts'

/** Returns an active site of a lab. Errors: 400 unknown or inactive site. */
export async function findBookableSite(tx: Pick<Queries, 'maybe'>, lab_id: number, code: string): Promise<SiteRecord> {
  const site = await findSite(tx, lab_id, code)
  if (!site) throw badRequest(`Location with site code ${code} not found`)
  if (!site.active) throw badRequest(`Location with site code ${code} is no longer active`)
  return site
}

export const isBookableSite = ({ capabilities }: SiteRecord): boolean => isBookable(capabilitySet(capabilities))

export const addressOf = (site: SiteRecord): UsAddress => ({
  first_line: site.first_line,
  second_line: site.second_line,
  city: site.city,
  state: site.state,
  zip_code: site.zip_code,
  unit: null,
  access_notes: null,
})
