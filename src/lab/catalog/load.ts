// Loads the catalog of a cell: the data files of the program, until an operator imports a catalog. The only writer of lab, analyte, marker,
// marker_analyte and catalog_data_version. Rows that the files no longer contain are kept, because lab tests and orders refer to them.
import { createHash } from 'node:crypto'
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'
import {
  filesOfPart,
  labRows,
  readCatalogRows,
  readDataFile,
  type LabRow,
  type CatalogRows,
  type CatalogPart,
} from './data-files.ts'
import { removeFictionalIdentities } from './lab-identity.ts'
import { UNITED_STATES } from '../../people/person/countries.ts'
import { T } from '../../platform/schema/schema.ts'

/** Increase this when the same files are read as different rows. */
const DATA_REVISION = '1'

const checksumOf = (part: CatalogPart): string => {
  const hash = createHash('sha256').update(DATA_REVISION)
  for (const name of filesOfPart(part)) hash.update(`\0${name}\0`).update(readDataFile(name))
  return hash.digest('hex').slice(0, 32)
}

/** Changes whenever a load would change rows. */
export const catalogChecksum = (): string => checksumOf('labs') + checksumOf('offers')

/** Whether the labs of a cell are real: the labs that come with the program then have no identity. */
export const isProduction = ({ schema }: Pick<Db, 'schema'>): boolean => schema.startsWith('production')

/**
 * Loads the labs and, with `offers`, their offers. Skips parts that are already loaded, and everything if the catalog is operator-owned. A
 * production cell has no fictional identities afterwards. One transaction. Throws if a file is invalid; nothing has then changed.
 */
export async function loadCatalog(db: Db, options: { offers: boolean }): Promise<void> {
  await db.plainTx(async (tx) => {
    if (!(await isOperatorOwned(tx))) {
      if (await updateDataVersion(tx, 'labs')) await writeLabs(tx, labRows())
      if (options.offers && (await updateDataVersion(tx, 'offers'))) await writeMarkers(tx, readCatalogRows())
    }
    if (isProduction(db)) await removeFictionalIdentities(tx)
  })
}

/** Whether the part must be loaded. Of two processes that start at the same time, the second waits and then has nothing to load. */
async function updateDataVersion(tx: PlainTx, part: CatalogPart): Promise<boolean> {
  const claimed = await tx.run(sql`
    insert into catalog_data_version (part, checksum) values (${part}, ${checksumOf(part)})
    on conflict (part) do update set checksum = excluded.checksum where catalog_data_version.checksum <> excluded.checksum`)
  return claimed > 0
}

const OPERATOR_OWNED = 'own'
const CatalogPart = T.Object({ part: T.String() })

const isOperatorOwned = async (tx: PlainTx): Promise<boolean> =>
  (await tx.maybe(CatalogPart, sql`select part from catalog_data_version where part = ${OPERATOR_OWNED}`)) !== undefined

/** Marks the catalog of the cell as operator-owned, and as changed now. Writes catalog_data_version. */
export async function markOperatorOwned(tx: PlainTx): Promise<void> {
  await tx.run(sql`
    insert into catalog_data_version (part, checksum) values (${OPERATOR_OWNED}, ${tx.uuid()}) on conflict (part) do update set checksum = excluded.checksum`)
}

/** Inserts labs, or replaces those with the same id. Writes lab. */
export async function writeLabs(tx: PlainTx, labs: LabRow[]): Promise<void> {
  await tx.run(sql`
    insert into lab (id, slug, name, first_line_address, city, state, zipcode, collection_methods, sample_types, logo_url, clia,
                     medical_director, max_first_name, max_last_name, allowed_genders, accreditation, country)
    select id, slug, name, first_line_address, city, state, zipcode, collection_methods, sample_types, logo_url, clia, medical_director,
           max_first_name, max_last_name, allowed_genders, accreditation, coalesce(country, ${UNITED_STATES})
    from jsonb_to_recordset(${JSON.stringify(labs)}::jsonb) as r (
      id integer, slug text, name text, first_line_address text, city text, state text, zipcode text, collection_methods text[],
      sample_types text[], logo_url text, clia text, medical_director text, max_first_name integer, max_last_name integer,
      allowed_genders text[], accreditation text, country text)
    on conflict (id) do update set
      slug = excluded.slug, name = excluded.name, first_line_address = excluded.first_line_address, city = excluded.city,
      state = excluded.state, zipcode = excluded.zipcode, collection_methods = excluded.collection_methods,
      sample_types = excluded.sample_types, logo_url = excluded.logo_url, clia = excluded.clia,
      medical_director = excluded.medical_director, max_first_name = excluded.max_first_name,
      max_last_name = excluded.max_last_name, allowed_genders = excluded.allowed_genders, accreditation = excluded.accreditation,
      country = excluded.country`)
}

/** Inserts analytes and markers, or replaces those with the same slug and id. Writes analyte, marker, marker_analyte. */
export async function writeMarkers(tx: PlainTx, { analytes, markers, marker_analytes }: CatalogRows): Promise<void> {
  // Ids follow the order of the file.
  await tx.run(sql`
    insert into analyte (slug, name, loinc, loinc_name, definition)
    select r.value->>'slug', r.value->>'name', r.value->>'loinc', r.value->>'loinc_name', r.value->'definition'
    from jsonb_array_elements(${JSON.stringify(analytes)}::jsonb) with ordinality as r (value, position)
    order by r.position
    on conflict (slug) do update set
      name = excluded.name, loinc = excluded.loinc, loinc_name = excluded.loinc_name, definition = excluded.definition`)
  await tx.run(sql`
    insert into marker (id, lab_id, provider_id, name, slug, description, type, unit, price, aoe, a_la_carte_enabled, is_orderable,
                        common_tat_days, worst_case_tat_days, pricing, cpt_codes)
    select id, lab_id, provider_id, name, slug, description, type, unit, price, aoe, a_la_carte_enabled, is_orderable,
           common_tat_days, worst_case_tat_days, pricing, coalesce(cpt_codes, '{}')
    from jsonb_to_recordset(${JSON.stringify(markers)}::jsonb) as r (
      id integer, lab_id integer, provider_id text, name text, slug text, description text, type text, unit text, price text, aoe jsonb,
      a_la_carte_enabled boolean, is_orderable boolean, common_tat_days integer, worst_case_tat_days integer,
      pricing jsonb, cpt_codes text[])
    on conflict (id) do update set
      lab_id = excluded.lab_id, provider_id = excluded.provider_id, name = excluded.name, slug = excluded.slug,
      description = excluded.description, type = excluded.type, unit = excluded.unit, price = excluded.price, aoe = excluded.aoe,
      a_la_carte_enabled = excluded.a_la_carte_enabled, is_orderable = excluded.is_orderable,
      common_tat_days = excluded.common_tat_days, worst_case_tat_days = excluded.worst_case_tat_days,
      pricing = excluded.pricing, cpt_codes = excluded.cpt_codes`)
  await linkAnalytes(tx, JSON.stringify(markers.map(({ id }) => id)), JSON.stringify(marker_analytes))
}

/** Replaces the analytes of markers by those of the files, so that a shorter list leaves no old entries. */
async function linkAnalytes(tx: PlainTx, marker_ids: string, links: string): Promise<void> {
  await tx.run(sql`
    delete from marker_analyte ma using jsonb_array_elements(${marker_ids}::jsonb) as m (id) where ma.marker_id = m.id::integer`)
  await tx.run(sql`
    insert into marker_analyte (marker_id, analyte_id, position, required)
    select r.marker_id, a.id, r.position, r.required
    from jsonb_to_recordset(${links}::jsonb) as r (marker_id integer, analyte text, position integer, required boolean)
    join analyte a on a.slug = r.analyte`)
}
