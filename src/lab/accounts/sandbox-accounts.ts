// Lab accounts of sandboxes, as organizations make and change them by themselves: no laboratory stands behind them. Those of production
// are made by command, by whoever has the contracts.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { badRequest, conflict, forbidden, notFound } from '../../platform/http/errors.ts'
import { usStates } from '../../people/person/countries.ts'
import { createAccount, findAccount, updateAccount } from './accounts.ts'
import type { LabAccount, UpsertAccount } from './schema.ts'

/** What is left out is as for any new account: active, nothing delegated, the laboratory bills its client in every state. */
function termsOf(body: UpsertAccount) {
  const { lab: _, team_id_allowlist: team_ids, ...terms } = body
  return {
    status: 'active' as const,
    delegated_flow: 'not_delegated' as const,
    account_name: null,
    default_clinical_notes: null,
    business_units: null,
    allowed_billing: { client_bill: usStates },
    ...terms,
    ...(team_ids && { team_ids }),
  }
}

/**
 * Make an account of an organization in a sandbox under an id that the caller has chosen, or replace what is said of it; linked teams stay
 * unless they are named. Orders of the linked teams count it at once in this process, in others within 5 s. Writes lab_account,
 * lab_account_team.
 * 400: there are 500 already; the account is of another laboratory; teams that are not the organization's in this cell. 403: not a
 * sandbox. 404: the cell has no such lab; the id is that of somebody else's account. 409: the account is being made by another request.
 */
export async function upsertSandboxAccount(
  tx: PlainTx,
  { org_id, env, account_id: id }: { org_id: string; env: string; account_id: string },
  body: UpsertAccount,
): Promise<LabAccount> {
  if (env !== 'sandbox') throw forbidden('Lab accounts of production are made by whoever operates the installation')
  const before = await findAccount(tx, id)
  if (before && before.org_id !== org_id) throw notFound('Lab account not found')
  if (before && before.lab !== body.lab) throw badRequest('The laboratory of an account does not change')
  if (before) await updateAccount(tx, id, termsOf(body))
  else await createAccount(tx, { ...termsOf(body), id, lab: body.lab, org_id })
  return (await findAccount(tx, id))!
}

/** Constraints of this module's tables and what violating them answers. */
export const constraints = {
  lab_account_pkey: () => conflict('This lab account is being made by another request'),
}
