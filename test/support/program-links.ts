// Links of programs that tests start and kill.
import { setLinkMode, saveLink } from '../../src/lab/accounts/account-links.ts'
import { createAccount } from '../../src/lab/accounts/accounts.ts'
import type { ProfileOptions } from '../../src/lab/links/profile/link-profile.ts'
import { Cells, type CellOptions } from '../../src/platform/db/cells.ts'
import { allStates } from './lab-accounts.ts'
import type { Connection } from '../../src/platform/embedded-postgres/cluster.ts'
import { connectionOf, demoIn } from './program.ts'

/**
 * Creates a lab account of the demo team with a live link, over a connection of the test.
 * @param connection default: the bundled PostgreSQL of the folder
 * @returns the id of the account
 */
export async function createDemoLink(
  dataDir: string,
  profile: ProfileOptions,
  connection: Connection = connectionOf(dataDir),
): Promise<string> {
  const { org_id, teams } = demoIn(dataDir)
  const options: CellOptions = {
    connection,
    connections_max: 2,
    team_connections_max: 1,
    row_security: 'off',
    checkRows: false,
  }
  const cells = new Cells(options, new Map([['sandbox-us', options]]))
  const id = await cells.db('sandbox-us').plainTx(async (tx) => {
    const account = await createAccount(tx, {
      lab: 'quest',
      org_id,
      provider_account_id: 'FICTIONAL-KILL',
      allowed_billing: allStates,
      team_ids: [teams.us!],
    })
    await saveLink(tx, account, profile)
    await setLinkMode(tx, account, 'live')
    return account
  })
  await cells.close()
  return id
}
