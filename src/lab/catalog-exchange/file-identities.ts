// Identities of laboratories in a catalog file for a production cell: the fictional ones of sandboxes are not imported. Pure.
import { fictionalFields, withoutFiction } from '../catalog/lab-identity.ts'
import { LabIdentity, type IdentityField } from '../catalog/labs.ts'
import type { ReportError } from './file-checks.ts'
import type { CatalogFile } from './file-schema.ts'

const identityFields = Object.keys(LabIdentity.properties) as IdentityField[]
const identityOf = (lab: LabIdentity): LabIdentity =>
  Object.fromEntries(identityFields.map((field) => [field, lab[field]])) as unknown as LabIdentity

/**
 * Gives the labs of a file that have no identity of their own, or the fictional one that comes with the program, the identity that the cell
 * has. So the catalog of a sandbox can be imported into production. Reports an identity that is fictional in part. Changes the file.
 */
export function keepIdentities(file: CatalogFile, storedFile: CatalogFile, report: ReportError): void {
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
