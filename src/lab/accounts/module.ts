import type { Cells } from '../../platform/db/cells.ts'
import type { Module } from '../../platform/module/module.ts'
import { eraseTables, inOrder } from '../../platform/db/erasure.ts'
import { encryptedLinkSecretsColumn, endLinksOfTeam } from './account-links.ts'
import { linkRoutes } from './link-routes.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { createDefaultAccounts } from './platform-accounts.ts'
import { accountsRoutes } from './routes.ts'
import { accountConstraints } from './sandbox-accounts.ts'

export const accounts = (dependencies: { cells: Cells; vault: Vault }): Module => ({
  name: 'lab/accounts',
  about: "lab accounts, choice of an order's account",
  tag: 'labs',
  tables: { others: ['lab_account', 'lab_account_team', 'lab_link'] },
  operations: [...accountsRoutes(dependencies), ...linkRoutes(dependencies)],
  constraints: accountConstraints,
  encryptedColumns: [encryptedLinkSecretsColumn],
  erasers: { team: inOrder(endLinksOfTeam, eraseTables('lab_account_team')) },
  referenceData: async (db, offers) => {
    if (offers) await createDefaultAccounts(db)
  },
})
