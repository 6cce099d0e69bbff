// Sites that tests find: fictional ones of a lab, straight into its table.
import { T } from '../../src/platform/schema/schema.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { bumpDirectoryVersion, upsertSites, type SiteRecord } from '../../src/visits/psc/sites.ts'
import { cells } from './server.ts'
import type { CellName } from '../../src/settings/cells.ts'

/** Phoenix, where the addresses of tests are. */
const phoenix = { lat: 33.4557, lng: -112.0686 }
/** So many miles to the north, in degrees. */
const milesNorth = (miles: number): number => miles / 69.0934

export const site = (site_code: string, miles_north: number, changes: Partial<SiteRecord> = {}): SiteRecord => ({
  site_code,
  name: `Pretend Draw Site ${site_code}`,
  first_line: '1 Sample Way',
  second_line: null,
  city: 'Phoenix',
  state: 'AZ',
  zip_code: '85004',
  phone_number: null,
  fax_number: null,
  hours: null,
  website: null,
  lat: phoenix.lat + milesNorth(miles_north),
  lng: phoenix.lng,
  capabilities: [],
  supported_bill_types: ['client_bill'],
  active: true,
  ...changes,
})

/** The id of a lab. */
export const labId = async (slug: string, cell: CellName = 'sandbox-us'): Promise<number> =>
  (await cells.db(cell).queries.one(T.Object({ id: T.Integer() }), sql`select id from lab where slug = ${slug}`)).id

/** Put sites of a lab into a cell; they are found within seconds, or at once where nobody has looked before. */
export async function insertSites(cell: CellName, lab_id: number, sites: SiteRecord[]): Promise<void> {
  await cells.db(cell).plainTx(async (tx) => {
    await upsertSites(tx, lab_id, sites)
    await bumpDirectoryVersion(tx, lab_id)
  })
}
