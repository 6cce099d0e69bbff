// The identity of a laboratory: name, address, accreditation and director, as every document prints them. Those that come with the program
// are fictional: they belong to sandboxes. In production the operator sets them before the first order. Writes lab.
import type { PlainTx, Tenant, Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { T } from '../../platform/schema/schema.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { sql } from '../../platform/db/sql.ts'
import { UNITED_STATES } from '../../people/person/countries.ts'
import { labRows } from './data-files.ts'
import { identityColumns, knownLab, LabIdentity, type IdentityField } from './labs.ts'
import type { Lab } from './schema.ts'

/** The fields that identify the laboratory by themselves; those of an address do so together. */
const identifying = ['name', 'first_line_address', 'clia', 'medical_director'] as const

/** What a laboratory has until its identity is set. */
const blank = {
  first_line_address: '',
  city: '',
  state: '',
  zipcode: '',
  country: UNITED_STATES,
  clia: null,
  accreditation: null,
  medical_director: null,
}

/** The name of a fictional laboratory: `Quest (sandbox)`. */
const FICTIONAL_NAME = / *\(sandbox\)$/i

/** The fields of an identity that are those of the fictional laboratory of this slug. Any name that ends with `(sandbox)` is fictional. */
export function fictionalFields(slug: string, identity: Partial<LabIdentity>): IdentityField[] {
  const shipped = labRows().find((lab) => lab.slug === slug)
  return identifying.filter((field) => {
    const value = identity[field]
    if (value === undefined || value === null || value === '') return false
    return value === shipped?.[field] || (field === 'name' && FICTIONAL_NAME.test(value))
  })
}

/** An identity without its fictional parts. An address belongs together: a fictional street takes its city with it. */
export function withoutFiction<I extends LabIdentity>(slug: string, identity: I): I {
  const fiction = new Set(fictionalFields(slug, identity))
  const { clia, medical_director, ...address } = blank
  return {
    ...identity,
    name: identity.name.replace(FICTIONAL_NAME, ''),
    ...(fiction.has('first_line_address') && { ...address, accreditation: identity.accreditation }),
    ...(fiction.has('clia') && { clia }),
    ...(fiction.has('medical_director') && { medical_director }),
  }
}

/** What documents print of the accreditation: `CLIA 99D0000001`, another one, or both. */
export const accreditationLine = ({
  clia,
  accreditation,
}: {
  clia: string | null
  accreditation?: string | null | undefined
}): string => [clia && `CLIA ${clia}`, accreditation].filter(Boolean).join('   |   ')

const Row = T.Object({ slug: T.String(), ...LabIdentity.properties })

/** Removes fictional identities from the laboratories of a production cell. Writes lab. */
export async function removeFictionalIdentities(tx: PlainTx): Promise<void> {
  for (const { slug, ...identity } of await tx.many(Row, sql`select ${identityColumns} from lab order by id`))
    if (fictionalFields(slug, identity).length) await writeIdentity(tx, slug, withoutFiction(slug, identity))
}

/** Writes lab. */
export async function writeIdentity(tx: PlainTx, slug: string, identity: LabIdentity): Promise<void> {
  const { name, first_line_address, city, state, zipcode, country, clia, accreditation, medical_director } = identity
  await tx.run(sql`
    update lab set name = ${name}, first_line_address = ${first_line_address}, city = ${city}, state = ${state}, zipcode = ${zipcode},
                   country = ${country}, clia = ${clia}, accreditation = ${accreditation}, medical_director = ${medical_director}
    where slug = ${slug}`)
}

/** The parts that an identity lacks, in the words of the command that sets it. */
export function missingParts(identity: LabIdentity): string[] {
  const parts: [present: unknown, option: string][] = [
    [identity.name, '--name'],
    [identity.first_line_address, '--address'],
    [identity.city, '--city'],
    [identity.zipcode, '--zip'],
    [identity.clia ?? identity.accreditation, '--clia or --accreditation'],
    [identity.medical_director, '--director'],
  ]
  return parts.filter(([present]) => !present).map(([, option]) => option)
}

export const findIdentity = async (tx: PlainTx, slug: string): Promise<LabIdentity | undefined> => {
  const row = await tx.maybe(Row, sql`select ${identityColumns} from lab where slug = ${slug}`)
  if (!row) return undefined
  const { slug: _, ...identity } = row
  return identity
}

/** Laboratories of sandboxes are fictional, so that they always have an identity. */
export const needsIdentity = ({ cell }: Pick<Tenant, 'cell'>): boolean => !cell.startsWith('sandbox')

/**
 * A laboratory that takes orders, as it is now: in production, one whose identity the operator has set. Never rejects from the cache.
 * Errors: 400 the identity is not set; the message names the command.
 */
export async function identifiedLab(tx: Tx, lab: Lab): Promise<Lab> {
  if (!needsIdentity(tx.tenant)) return lab
  const known = await knownLab(tx, lab.id, ({ has_identity }) => has_identity)
  if (!known) throw identityError(tx.tenant, lab.slug)
  return known
}

const identityError = ({ cell }: Pick<Tenant, 'cell'>, slug: string): Problem =>
  badRequest(
    `The identity of laboratory ${slug} is not set. The operator sets it with: bin/drawbridge lab identity set ${slug} --cell ${cell} --name NAME --address STREET --city CITY --state STATE --zip ZIP --clia NUMBER --director NAME`,
  )
