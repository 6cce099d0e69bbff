// The name and the logo under which a team is shown to its patients.
import type { Cells } from '../../platform/db/cells.ts'
import type { Tenant } from '../../platform/db/transaction.ts'
import { findTeamName } from './teams.ts'

export interface Brand {
  name: string
  logo_url: string | null
  brand_color: string | null
}

/** What a team's settings say of its brand; without a company its name in the control plane. */
export async function getBrand(cells: Cells, tenant: Tenant): Promise<Brand> {
  const { brand_information, logo_url } = tenant.settings as {
    brand_information?: { company_name?: string; brand_color?: string } | null
    logo_url?: string | null
  }
  const company = brand_information?.company_name
  return {
    name: company ?? (await findTeamName(cells.control.queries, tenant.team)) ?? '',
    logo_url: logo_url ?? null,
    brand_color: brand_information?.brand_color ?? null,
  }
}
