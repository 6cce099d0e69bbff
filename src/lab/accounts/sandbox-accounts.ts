// Lab accounts of sandboxes, which organizations create and change themselves: no laboratory is behind them. Those of production are
// created by command, by the operator who has the contracts.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { badRequest, conflict, forbidden, notFound } from '../../platform/http/errors.ts'
import { usStates } from '../../people/person/countries.ts'
import { createAccount, findAccount, updateAccount } from './accounts.ts'
import type { LabAccount, UpsertAccount } from './schema.ts'

/** Omitted fields get the defaults of a new account: active, not delegated, client billing in every state. */
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
 * Creates an organization's account in a sandbox under an id that the caller chose, or replaces it; linked teams stay unless the request
 * names teams. Orders of the linked teams use it at once in this process, within 5 s in others. Writes lab_account, lab_account_team.
 * Errors: 400 500 accounts already, the account belongs to another laboratory, or teams that are not in the organization and cell; 403 not
 * a sandbox; 404 unknown lab, or the id belongs to another organization's account; 409 a concurrent request creates the account.
 */
export async function upsertSandboxAccount(
  tx: PlainTx,
  { org_id, env, account_id: id }: { org_id: string; env: string; account_id: string },
  body: UpsertAccount,
): Promise<LabAccount> {
  if (env !== 'sandbox') throw forbidden('Lab accounts of production are created by the operator')
  const before = await findAccount(tx, id)
  if (before && before.org_id !== org_id) throw notFound('Lab account not found')
  if (before && before.lab !== body.lab) throw badRequest('The laboratory of a lab account cannot be changed')
  if (before) await updateAccount(tx, id, termsOf(body))
  else await createAccount(tx, { ...termsOf(body), id, lab: body.lab, org_id })
  return (await findAccount(tx, id))!
}

/** Constraints of this module's tables and the error for each violation. */
export const accountConstraints = {
  lab_account_pkey: () => conflict('This lab account is being created by another request'),
}
