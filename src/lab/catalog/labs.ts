// Labs: their data and the orders they accept. Owns the table lab; the connection to a lab is the concern of lab/links.
import type { Queries, Tx } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { CollectionMethod } from './enums.ts'
import { Lab } from './schema.ts'

/** The columns of a lab as the API shows it, of a table named `l`. */
export const labColumns = sql`
  l.id, l.slug, l.name, l.first_line_address, l.city, l.zipcode, l.collection_methods, l.sample_types, l.logo_url`

/** All labs, by id. */
export const listLabs = (tx: Queries): Promise<Lab[]> => tx.many(Lab, sql`select ${labColumns} from lab l order by l.id`)

/** An existing lab, at most 4 s old. Needs no statement while cached. */
export async function cachedLab(tx: Tx, lab_id: number): Promise<Lab> {
  const isSameLab = ({ id }: Lab) => id === lab_id
  // The lab may be newer than the cache.
  return ((await tx.cached('labs', () => listLabs(tx)))!.find(isSameLab) ?? (await listLabs(tx)).find(isSameLab))!
}

/** Errors: 400 the lab does not offer the collection method. */
export async function assertMethodOffered(tx: Tx, lab_id: number, method: CollectionMethod): Promise<void> {
  const { name, collection_methods } = await cachedLab(tx, lab_id)
  if (!collection_methods.includes(method)) throw badRequest(`Lab ${name} does not offer ${method}`)
}

/** A lab as documents name it. */
export const LabRecord = T.Object({
  id: T.Integer(),
  slug: T.String(),
  name: T.String(),
  first_line_address: T.String(),
  city: T.String(),
  state: T.String(),
  zipcode: T.String(),
  clia: Nullable(T.String()),
  medical_director: Nullable(T.String()),
})
export type LabRecord = Static<typeof LabRecord>

/** Reads a lab with the data that reports print. */
export const findLab = (tx: Queries, lab_id: number): Promise<LabRecord | undefined> =>
  tx.maybe(
    LabRecord,
    sql`
    select id, slug, name, first_line_address, city, state, zipcode, clia, medical_director from lab where id = ${lab_id}`,
  )

/** The lab of a lab account that the team may use; undefined for any other id. Accounts belong to a module above, which passes this function. */
export type LabOfAccount = (tx: Tx, lab_account_id: string) => Promise<number | undefined>

/** The lab to which a lab account narrows a request; undefined without an account. Errors: 404 no account that the team may use. */
export async function labFilterFor(tx: Tx, labOf: LabOfAccount, lab_account_id: string | undefined): Promise<number | undefined> {
  if (lab_account_id === undefined) return undefined
  const lab_id = await labOf(tx, lab_account_id)
  if (lab_id === undefined) throw notFound('lab account not found')
  return lab_id
}
