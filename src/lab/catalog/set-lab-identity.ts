// Sets the identity of a laboratory: by command, because the operator has the contract with it.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { sql } from '../../platform/db/sql.ts'
import { countryCode, stateCode, UNITED_STATES } from '../../people/person/countries.ts'
import { isPostalCode } from '../../people/person/postal-codes.ts'
import { fictionalFields, findIdentity, missingParts, writeIdentity } from './lab-identity.ts'
import type { LabIdentity } from './labs.ts'
import { markOperatorOwned } from './load.ts'

/**
 * Sets parts of the identity of a laboratory in a production cell; the others stay. The catalog of the cell is then operator-owned. Writes
 * lab, catalog_data_version. Errors: 404 unknown laboratory; 400 the identity would lack a part, a part is fictional, or the country has no
 * such state or postal code.
 */
export async function setLabIdentity(tx: PlainTx, slug: string, change: Partial<LabIdentity>): Promise<LabIdentity> {
  await tx.locking.run(sql`select id from lab where slug = ${slug} for update`)
  const before = await findIdentity(tx, slug)
  if (!before) throw notFound('Lab not found in this cell')
  // The name that a laboratory has before is that of a row which comes with the program.
  const identity = normalizeIdentity({ ...before, ...(missingParts(before).length && { name: '' }), ...change })
  const lacking = missingParts(identity)
  if (lacking.length) throw badRequest(`The identity of laboratory ${slug} also needs ${lacking.join(', ')}`)
  const [fictional] = fictionalFields(slug, identity)
  if (fictional) throw badRequest(`${fictional} of laboratory ${slug} is that of the fictional laboratory of sandboxes`)
  if (!isPostalCode(countryCode(identity.country), identity.zipcode))
    throw badRequest(`--zip must be a postal code of ${identity.country}`)
  if (identity.country === UNITED_STATES && stateCode(identity.state) === undefined)
    throw badRequest('--state must be a US state')
  await writeIdentity(tx, slug, identity)
  await markOperatorOwned(tx)
  return identity
}

/** An identity with a US state as its two-letter code. */
const normalizeIdentity = (identity: LabIdentity): LabIdentity =>
  identity.country === UNITED_STATES ? { ...identity, state: stateCode(identity.state) ?? identity.state } : identity
