// Imports a laboratory's list of tests for the link of a lab account: into the catalog through lab/catalog-exchange, and into the profile of
// the link through lab/accounts.
import type { Vault } from '../../platform/crypto/vault.ts'
import type { Db } from '../../platform/db/database.ts'
import { notFound } from '../../platform/http/errors.ts'
import { findLink, listSecretOptions, saveLink } from '../accounts/account-links.ts'
import { exportCatalog, importRows, lockCatalog } from '../catalog-exchange/exchange.ts'
import { FORMAT_VERSION } from '../catalog-exchange/file-schema.ts'
import { toProfileFile } from '../links/profile/read-profile.ts'
import { compareCompendium, type CompendiumDifference } from './compendium-difference.ts'
import type { ListedTest } from './compendium-file.ts'

export interface CompendiumImport {
  db: Db
  account_id: string
  list: ListedTest[]
  vault: Vault
  /** False: nothing is changed. */
  isApplied: boolean
}

/**
 * Compares a list with the catalog's tests of the laboratory and with `codes.results` of the link, and applies the difference in one
 * transaction. Tests and codes that the list no longer has stay; no analyte that the catalog has is changed.
 * Errors: 404 the account has no link; InvalidFileError two tests are one by `codes.tests`; CatalogFileError the catalog rejects a row; 400
 * the profile has more than 10,000 result codes.
 */
export function importCompendium({ db, account_id, list, vault, isApplied }: CompendiumImport): Promise<CompendiumDifference> {
  return db.plainTx(async (tx) => {
    if (isApplied) await lockCatalog(tx)
    const link = await findLink(tx, account_id)
    if (!link) throw notFound('The lab account has no link')
    const { difference, rows } = compareCompendium(list, link.lab_slug, await exportCatalog(tx), link.profile.codes)
    if (!isApplied) return difference
    const { analytes, markers, result_codes } = rows
    await importRows(tx, db, { format: FORMAT_VERSION, labs: [], analytes, markers })
    if (difference.result_codes.some(({ kind }) => kind !== 'gone')) {
      const file = toProfileFile(link, await listSecretOptions(tx, vault, account_id))
      await saveLink(tx, account_id, { ...file, codes: { ...file.codes, results: result_codes } }, vault)
    }
    return difference
  })
}
