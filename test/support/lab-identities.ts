// The identities of laboratories in production cells of tests, which an operator sets: without one a laboratory takes no orders.
import { setLabIdentity } from '../../src/lab/catalog/set-lab-identity.ts'
import type { LabIdentity } from '../../src/lab/catalog/labs.ts'
import { labRows } from '../../src/lab/catalog/data-files.ts'
import type { Db } from '../../src/platform/db/database.ts'

/** The identity of a laboratory in the production cells of tests. */
export const testIdentity = (slug: string): LabIdentity => ({
  name: `Lantern Bay ${slug}`,
  first_line_address: '1 Harbor Street',
  city: 'Fictionville',
  state: 'AZ',
  zipcode: '85004',
  country: 'United States',
  clia: '99D0000001',
  accreditation: null,
  medical_director: 'Ada Example, MD',
})

/** Sets the identity of every laboratory of a production cell. */
export async function setTestIdentities(db: Db): Promise<void> {
  await db.plainTx(async (tx) => {
    for (const { slug } of labRows()) await setLabIdentity(tx, slug, testIdentity(slug))
  })
}
