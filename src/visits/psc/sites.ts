// Sites of laboratories where samples are collected. Owns psc_site and psc_directory_version; does not search by location (directory.ts) and does
// not know bookings.
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'

export const capabilities = ['stat', 'appointment_scheduling_via_service', 'appointment_scheduling_with_lab'] as const
export type Capability = (typeof capabilities)[number]

export const SiteRecord = T.Object({
  site_code: T.String(),
  name: T.String(),
  first_line: T.String(),
  second_line: Nullable(T.String()),
  city: T.String(),
  state: T.String(),
  zip_code: T.String(),
  phone_number: Nullable(T.String()),
  fax_number: Nullable(T.String()),
  hours: Nullable(T.Record(T.String(), T.Unknown())),
  website: Nullable(T.String()),
  lat: T.Number(),
  lng: T.Number(),
  /** Only one of the two spellings for bookable sites. */
  capabilities: T.Array(T.String()),
  supported_bill_types: T.Array(T.String()),
  active: T.Boolean(),
})
export type SiteRecord = Static<typeof SiteRecord>

const siteColumns = sql`
  site_code, name, first_line, second_line, city, state, zip_code, phone_number, fax_number, hours, website, lat, lng,
  to_json(capabilities) as capabilities, to_json(supported_bill_types) as supported_bill_types, active`

/** Writes sites, each as a whole: absent values are removed. Writes psc_site. The caller calls `bumpDirectoryVersion`. */
export async function upsertSites(tx: PlainTx, lab_id: number, sites: SiteRecord[]): Promise<void> {
  await tx.run(sql`
    insert into psc_site (lab_id, site_code, name, first_line, second_line, city, state, zip_code, phone_number, fax_number, hours,
                          website, lat, lng, capabilities, supported_bill_types, active, updated_at)
    select ${lab_id}::integer, site_code, name, first_line, second_line, city, state, zip_code, phone_number, fax_number,
           hours, website, lat, lng, capabilities, supported_bill_types, active, ${tx.now}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(sites)}::jsonb) as r (
      site_code text, name text, first_line text, second_line text, city text, state text, zip_code text, phone_number text,
      fax_number text, hours jsonb, website text, lat double precision, lng double precision, capabilities text[],
      supported_bill_types text[], active boolean)
    on conflict (lab_id, site_code) do update set
      name = excluded.name, first_line = excluded.first_line, second_line = excluded.second_line, city = excluded.city,
      state = excluded.state, zip_code = excluded.zip_code, phone_number = excluded.phone_number, fax_number = excluded.fax_number,
      hours = excluded.hours, website = excluded.website, lat = excluded.lat, lng = excluded.lng,
      capabilities = excluded.capabilities, supported_bill_types = excluded.supported_bill_types, active = excluded.active,
      updated_at = excluded.updated_at`)
}

/** Makes processes reload the lab's sites within seconds. Writes psc_directory_version. */
export async function bumpDirectoryVersion(tx: PlainTx, lab_id: number): Promise<void> {
  await tx.run(sql`
    insert into psc_directory_version (lab_id, version) values (${lab_id}, 1)
    on conflict (lab_id) do update set version = psc_directory_version.version + 1`)
}

/** Sets the revision of the lab's fictional sites. Returns whether it was another one. Writes psc_directory_version. */
export async function updateSandboxRevision(tx: PlainTx, lab_id: number, form: string): Promise<boolean> {
  const claimed = await tx.run(sql`
    insert into psc_directory_version (lab_id, version, sandbox_data_revision) values (${lab_id}, 1, ${form})
    on conflict (lab_id) do update set version = psc_directory_version.version + 1, sandbox_data_revision = excluded.sandbox_data_revision
    where psc_directory_version.sandbox_data_revision is distinct from excluded.sandbox_data_revision`)
  return claimed > 0
}

/** Activates or deactivates a site. Writes psc_site, psc_directory_version. Returns false if the lab has no such site. */
export async function setActive(tx: PlainTx, lab_id: number, site_code: string, active: boolean): Promise<boolean> {
  const changed = await tx.run(sql`
    update psc_site set active = ${active}, updated_at = ${tx.now} where lab_id = ${lab_id} and site_code = ${site_code}`)
  if (changed) await bumpDirectoryVersion(tx, lab_id)
  return changed > 0
}

/** Returns a site by code, also an inactive one. */
export const findSite = (tx: Pick<Queries, 'maybe'>, lab_id: number, site_code: string): Promise<SiteRecord | undefined> =>
  tx.maybe(SiteRecord, sql`select ${siteColumns} from psc_site where lab_id = ${lab_id} and site_code = ${site_code}`)

/** Lists sites of a lab by code, starting after `after`; inactive ones too unless only active ones are requested. */
export const listSites = (
  tx: Pick<Queries, 'many'>,
  lab_id: number,
  page: { afterKey: string; limit: number; active?: boolean },
): Promise<SiteRecord[]> =>
  tx.many(
    SiteRecord,
    sql`
    select ${siteColumns} from psc_site
    where lab_id = ${lab_id} and site_code collate "C" > ${page.afterKey} and (active or not ${page.active ?? false})
    order by site_code collate "C" limit ${page.limit}`,
  )

const Head = T.Object({ lab_id: T.Integer(), slug: T.String(), version: T.Integer() })
/** A lab and the version of its sites. */
export type DirectoryHead = Static<typeof Head>

/** Returns every lab of the cell. */
export const directoryHeads = (tx: Pick<Queries, 'many'>): Promise<DirectoryHead[]> =>
  tx.many(
    Head,
    sql`
    select l.id as lab_id, l.slug, coalesce(d.version, 0) as version
    from lab l left join psc_directory_version d on d.lab_id = l.id order by l.id`,
  )

const Count = T.Object({ slug: T.String(), active: T.Integer(), inactive: T.Integer() })

/** Returns the number of sites of each lab that has any. */
export const countSites = (tx: Pick<Queries, 'many'>): Promise<Static<typeof Count>[]> =>
  tx.many(
    Count,
    sql`
    select l.slug, count(*) filter (where s.active) as active, count(*) filter (where not s.active) as inactive
    from psc_site s join lab l on l.id = s.lab_id group by l.id, l.slug order by l.id`,
  )
