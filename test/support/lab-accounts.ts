// Lab accounts as an operator makes them, for tests.
import { createAccount, type AccountChange } from '../../src/lab/accounts/accounts.ts'
import { billingTypes, type LabSlug } from '../../src/lab/catalog/enums.ts'
import { usStates } from '../../src/people/person/countries.ts'
import type { TestTeam } from './server.ts'

/** Every way of billing in every state. */
export const allStates = Object.fromEntries(billingTypes.map((type) => [type, usStates]))

/** Creates a lab account of the team's organization. Default: active, at the lab of the team's kits, linked to the team. */
export async function labAccount(team: TestTeam, changes: AccountChange & { lab?: LabSlug } = {}): Promise<string> {
  const account = {
    lab: changes.lab ?? (await kitLab(team)),
    org_id: team.org_id,
    provider_account_id: 'FICTIONAL-1',
    allowed_billing: allStates,
    team_ids: [team.team],
    ...changes,
  }
  return team.db.plainTx((tx) => createAccount(tx, account))
}

/** The lab of the team's kits. */
export const kitLab = async ({ api, test }: TestTeam): Promise<LabSlug> =>
  (await api.get(`/v3/lab_tests/${await test()}`)).body.lab.slug

/** The platform's account at a lab. */
export async function platformAccount({ api }: TestTeam, lab: string): Promise<string> {
  const { data } = (await api.get('/v3/lab_test/lab_account')).body
  return data.find((account: { org_id: string | null; lab: string }) => account.org_id === null && account.lab === lab).id
}
