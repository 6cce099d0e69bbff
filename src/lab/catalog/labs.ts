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

const Row = T.Object({ ...Lab.properties, has_identity: T.Boolean() })

/** A lab, and whether every part of its identity is set (lab-identity.ts). */
export interface KnownLab {
  lab: Lab
  has_identity: boolean
}

/** Whether a lab `l` has every part of an identity. */
export const hasIdentity = sql`(
  l.name <> '' and l.first_line_address <> '' and l.city <> '' and l.zipcode <> '' and coalesce(l.clia, l.accreditation) is not null
  and l.medical_director is not null)`

const loadLabs = async (tx: Queries): Promise<KnownLab[]> => {
  const rows = await tx.many(
    Row,
    sql`
    select ${labColumns}, ${hasIdentity} as has_identity from lab l order by l.id`,
  )
  return rows.map(({ has_identity, ...lab }) => ({ lab, has_identity }))
}

/** All labs of the cell, by id, at most 4 s old. Needs no statement while cached. */
export const knownLabs = async (tx: Tx): Promise<KnownLab[]> => (await tx.readCached('labs', () => loadLabs(tx)))!

/** The lab if it meets a condition, at most 4 s old; read again before it is undefined. */
export async function knownLab(tx: Tx, lab_id: number, condition: (lab: KnownLab) => boolean): Promise<Lab | undefined> {
  const meets = (knownLab: KnownLab) => knownLab.lab.id === lab_id && condition(knownLab)
  return ((await knownLabs(tx)).find(meets) ?? (await loadLabs(tx)).find(meets))?.lab
}

/** An existing lab, at most 4 s old. Needs no statement while cached. */
export const cachedLab = async (tx: Tx, lab_id: number): Promise<Lab> => (await knownLab(tx, lab_id, () => true))!

/** A lab by its slug; undefined if the cell has none of this slug. */
export const labBySlug = async (tx: Tx, slug: string): Promise<Lab | undefined> =>
  (await loadLabs(tx)).find(({ lab }) => lab.slug === slug)?.lab

/** Errors: 400 the lab does not offer the collection method. */
export async function assertMethodOffered(tx: Tx, lab_id: number, method: CollectionMethod): Promise<void> {
  const { name, collection_methods } = await cachedLab(tx, lab_id)
  if (!collection_methods.includes(method)) throw badRequest(`Lab ${name} does not offer ${method}`)
}

/** What documents print of a lab. */
export const LabIdentity = T.Object({
  name: T.String(),
  first_line_address: T.String(),
  city: T.String(),
  /** Empty in countries without states. */
  state: T.String(),
  zipcode: T.String(),
  /** Its full name in English. */
  country: T.String(),
  clia: Nullable(T.String()),
  /** An accreditation other than CLIA, as documents print it. */
  accreditation: Nullable(T.String()),
  medical_director: Nullable(T.String()),
})
export type LabIdentity = Static<typeof LabIdentity>
export type IdentityField = keyof LabIdentity

/** A lab as documents name it. */
export const LabRecord = T.Object({ id: T.Integer(), slug: T.String(), ...LabIdentity.properties })
export type LabRecord = Static<typeof LabRecord>

/** The columns of `slug` and of an identity. */
export const identityColumns = sql`
  slug, name, first_line_address, city, state, zipcode, country, clia, accreditation, medical_director`

/** Reads a lab with the data that reports print. */
export const findLab = (tx: Queries, lab_id: number): Promise<LabRecord | undefined> =>
  tx.maybe(
    LabRecord,
    sql`
    select id, ${identityColumns} from lab where id = ${lab_id}`,
  )

/** The lab of a lab account that the team may use; undefined for any other id. Accounts belong to a module above, which passes this function. */
type LabOfAccount = (tx: Tx, lab_account_id: string) => Promise<number | undefined>

/** What the catalog asks of lab accounts, which belong to a module above. */
export interface LabAccess {
  labForAccount: LabOfAccount
  /** The labs that the team is offered; undefined: all of the cell. */
  offeredLabIds: (tx: Tx) => Promise<number[] | undefined>
  /** Errors: 400 the team is not offered the lab; the message names the command that changes it. */
  assertOffered: (tx: Tx, lab: Lab) => Promise<void>
}

/** The lab to which a lab account narrows a request; undefined without an account. Errors: 404 no account that the team may use. */
export async function labFilterFor(
  tx: Tx,
  { labForAccount }: LabAccess,
  lab_account_id: string | undefined,
): Promise<number | undefined> {
  if (lab_account_id === undefined) return undefined
  const lab_id = await labForAccount(tx, lab_account_id)
  if (lab_id === undefined) throw notFound('lab account not found')
  return lab_id
}

/** The labs of which a request may list something; undefined: all of the cell. Errors: 404 no account that the team may use. */
export async function listedLabs(tx: Tx, access: LabAccess, lab_account_id?: string): Promise<number[] | undefined> {
  const [only, offered] = await Promise.all([labFilterFor(tx, access, lab_account_id), access.offeredLabIds(tx)])
  if (only === undefined) return offered
  return offered && !offered.includes(only) ? [] : [only]
}

/** The labs that the team is offered, by id. */
export async function listLabs(tx: Tx, { offeredLabIds }: LabAccess): Promise<Lab[]> {
  const [labs, ids] = await Promise.all([loadLabs(tx), offeredLabIds(tx)])
  return labs.filter(({ lab }) => !ids || ids.includes(lab.id)).map(({ lab }) => lab)
}
