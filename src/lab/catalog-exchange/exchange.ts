// Exports and imports a cell's catalog as one file. Through lab/catalog/load.ts it writes lab, analyte, marker and marker_analyte, and
// records in catalog_data_version that the catalog is operator-owned. Deletes nothing, because lab tests and orders refer to the rows.
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import type { Fault } from '../../platform/schema/fault.ts'
import { validate } from '../../platform/schema/request-validation.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { checkCatalogFile, keyOf, rowLabel, type ReportError } from './file-checks.ts'
import { CatalogFile, FORMAT_VERSION, type LabEntry, type MarkerEntry } from './file-schema.ts'
import { isProduction, markOperatorOwned, writeLabs, writeMarkers } from '../catalog/load.ts'
import { fictionalFields, withoutFiction } from '../catalog/lab-identity.ts'
import { LabIdentity, type IdentityField } from '../catalog/labs.ts'

/** Maximum file size, in UTF-16 units. */
export const FILE_SIZE_MAX = 64 * 1024 * 1024
/** Maximum number of errors in a report. */
const ERRORS_SHOWN_MAX = 200

/** A file that cannot be imported; one line for each error. */
export class CatalogFileError extends Error {
  override name = 'CatalogFaults'
  constructor(lines: string[]) {
    const more = lines.length - ERRORS_SHOWN_MAX
    super([...lines.slice(0, ERRORS_SHOWN_MAX), ...(more > 0 ? [`and ${more} more`] : [])].join('\n'))
  }
}

const Json = T.Object({ row: T.Any() })

/** The catalog of a cell in the file format. */
export async function exportCatalog(tx: Queries): Promise<CatalogFile> {
  const rows = async <R>(statement: ReturnType<typeof sql>): Promise<R[]> =>
    (await tx.many(Json, statement)).map(({ row }) => row as R)
  const labs = await rows<LabEntry>(sql`
    select json_build_object(
      'id', id, 'slug', slug, 'name', name, 'first_line_address', first_line_address, 'city', city, 'state', state, 'zipcode', zipcode,
      'country', country, 'collection_methods', collection_methods, 'sample_types', sample_types, 'logo_url', logo_url, 'clia', clia,
      'accreditation', accreditation, 'medical_director', medical_director, 'max_first_name', max_first_name, 'max_last_name', max_last_name,
      'allowed_genders', allowed_genders) as row
    from lab order by id`)
  const analytes = await rows<CatalogFile['analytes'][number]>(sql`
    select json_build_object('slug', slug, 'name', name, 'loinc', loinc, 'loinc_name', loinc_name, 'definition', definition) as row
    from analyte order by id`)
  const markers = await rows<MarkerEntry>(sql`
    select json_build_object(
      'id', m.id, 'lab', l.slug, 'provider_id', m.provider_id, 'name', m.name, 'slug', m.slug, 'description', m.description,
      'type', m.type, 'unit', m.unit, 'price', m.price, 'pricing', m.pricing, 'cpt_codes', m.cpt_codes, 'aoe', m.aoe,
      'a_la_carte_enabled', m.a_la_carte_enabled, 'is_orderable', m.is_orderable, 'common_tat_days', m.common_tat_days,
      'worst_case_tat_days', m.worst_case_tat_days,
      'results', (select coalesce(json_agg(json_build_object('analyte', a.slug, 'required', ma.required) order by ma.position), '[]')
                  from marker_analyte ma join analyte a on a.id = ma.analyte_id where ma.marker_id = m.id)) as row
    from marker m join lab l on l.id = m.lab_id order by m.id`)
  return { format: FORMAT_VERSION, labs, analytes, markers }
}

/** Number of rows of a kind that are new, changed or unchanged. */
interface ImportCounts {
  added_count: number
  changed_count: number
  unchanged_count: number
}
export type ImportReport = Record<'labs' | 'analytes' | 'markers', ImportCounts>

/**
 * Imports a file into the catalog of a cell. Rows are identified by lab and code, or by slug; existing rows keep their id, new rows get
 * one.
 * A row of the file replaces the existing row completely; in production, a lab without a real identity keeps that of the cell. One
 * transaction.
 * Throws CatalogFileError if the text is not a catalog file or a row is invalid; nothing has then changed.
 */
export async function importCatalog(db: Db, text: string): Promise<ImportReport> {
  const file = readFile(text)
  return db.plainTx((tx) => importRows(tx, db, file))
}

/** No other import changes the catalog until the transaction ends. */
export const lockCatalog = (tx: PlainTx): Promise<number> =>
  tx.run(sql`lock table catalog_data_version in share row exclusive mode`)

/** As `importCatalog`, for rows that are valid, in a transaction. */
export async function importRows(tx: PlainTx, db: Pick<Db, 'schema'>, file: CatalogFile): Promise<ImportReport> {
  await lockCatalog(tx)
  const there = await exportCatalog(tx)
  const lines: string[] = []
  if (isProduction(db)) keepIdentities(file, there, (location, entry, fault) => lines.push(formatLine(location, entry, fault)))
  checkCatalogFile(file, there, (location, entry, fault) => lines.push(formatLine(location, entry, fault)))
  if (lines.length) throw new CatalogFileError(lines)
  const labs = diffRows(file.labs, there.labs, ({ slug }) => slug)
  const analytes = diffRows(file.analytes, there.analytes, ({ slug }) => slug)
  const markers = diffRows(file.markers, there.markers, keyOf)
  if ([labs, analytes, markers].some(({ differing }) => differing.length)) {
    await writeFile(tx, there, { labs: labs.differing, analytes: analytes.differing, markers: markers.differing })
    await markOperatorOwned(tx)
  }
  return { labs: labs.counts, analytes: analytes.counts, markers: markers.counts }
}

const formatLine = (location: string, entry: object | undefined, fault: string): string => {
  const label = rowLabel(entry)
  return `${location}${label && ` (${label})`}: ${fault}`
}

function readFile(text: string): CatalogFile {
  if (text.length > FILE_SIZE_MAX) throw new CatalogFileError([`the file has more than ${FILE_SIZE_MAX} characters`])
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new CatalogFileError(['the file is not JSON'])
  }
  const faults: Fault[] = []
  const file = validate(CatalogFile, json, [], faults, 'json')
  if (faults.length) throw new CatalogFileError(faults.map((fault) => formatError(fault, json)))
  return file as CatalogFile
}

/** A schema error, with the row it belongs to. */
function formatError({ loc, msg }: Fault, json: unknown): string {
  const [list, row, ...inner] = loc
  const text = msg.replace(/^Value error, /, '')
  if (typeof row !== 'number') return formatLine(loc.join('.') || 'the file', undefined, text)
  const entry = (json as Record<string, unknown[]>)[list as string]?.[row]
  return formatLine(
    `${list}[${row}]`,
    typeof entry === 'object' && entry !== null ? entry : undefined,
    [inner.join('.'), text].filter(Boolean).join(' '),
  )
}

/** The rows of a file that are new or changed, with the ids of the existing rows. */
function diffRows<E extends object>(entries: E[], storedEntries: E[], toKey: (entry: E) => string) {
  const known = new Map(storedEntries.map((entry) => [toKey(entry), entry]))
  const differing: E[] = []
  const counts: ImportCounts = { added_count: 0, changed_count: 0, unchanged_count: 0 }
  for (const entry of entries) {
    const before = known.get(toKey(entry))
    const after = before && 'id' in before ? { ...entry, id: before.id } : entry
    if (!before) counts.added_count++
    else if (canonicalJson(before) === canonicalJson(after)) counts.unchanged_count++
    else counts.changed_count++
    if (!before || canonicalJson(before) !== canonicalJson(after)) differing.push(after)
  }
  return { differing, counts }
}

/** JSON with sorted keys. */
const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )

type Rows = Pick<CatalogFile, 'labs' | 'analytes' | 'markers'>

async function writeFile(tx: PlainTx, storedFile: CatalogFile, rows: Rows): Promise<void> {
  const labs = assignIds(rows.labs, storedFile.labs)
  await writeLabs(tx, labs)
  const lab_ids = new Map([...storedFile.labs, ...labs].map(({ slug, id }) => [slug, id!]))
  const markers = assignIds(rows.markers, storedFile.markers)
  await writeMarkers(tx, {
    analytes: rows.analytes,
    markers: markers.map((marker) => ({ ...marker, lab_id: lab_ids.get(marker.lab)! })),
    marker_analytes: markers.flatMap(({ id, results }) =>
      results.map(({ analyte, required }, i) => ({ marker_id: id, analyte, position: i + 1, required })),
    ),
  })
}

/** The rows, each with an id: rows without one get the next ids above all existing and given ones. */
function assignIds<E extends { id: number | null }>(rows: E[], storedRows: E[]): (E & { id: number })[] {
  let last = [...storedRows, ...rows].reduce((max, { id }) => Math.max(max, id ?? 0), 0)
  return rows.map((row) => ({ ...row, id: row.id ?? ++last }))
}

const identityFields = Object.keys(LabIdentity.properties) as IdentityField[]
const identityOf = (lab: LabIdentity): LabIdentity =>
  Object.fromEntries(identityFields.map((field) => [field, lab[field]])) as unknown as LabIdentity

/**
 * Gives the labs of a file that have no identity of their own, or the fictional one that comes with the program, the identity that the cell
 * has. So the catalog of a sandbox can be imported into production. Reports an identity that is fictional in part. Changes the file.
 */
function keepIdentities(file: CatalogFile, storedFile: CatalogFile, report: ReportError): void {
  const known = new Map(storedFile.labs.map((lab) => [lab.slug, lab]))
  for (const [index, lab] of file.labs.entries()) {
    const fictional = fictionalFields(lab.slug, lab)
    const own = withoutFiction(lab.slug, identityOf(lab))
    const isEmpty = !own.first_line_address && !own.clia && !own.medical_director
    if (isEmpty) Object.assign(lab, identityOf(known.get(lab.slug) ?? { ...lab, ...own }))
    else if (fictional.length)
      report(`labs[${index}]`, lab, `${fictional.join(', ')} of the fictional laboratory of sandboxes must be replaced`)
  }
}
