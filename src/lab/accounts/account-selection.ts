// Selects the lab account of an order. A team's accounts are cached for a few seconds, because every order needs them; before an order is
// rejected, they are read again, so that a link made by another process counts at once. Source: management-auth.md 12; lab-testing.md 4.
import type { PlainTx, Queries, Tenant, Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { PatientAddress } from '../../people/person/address.ts'
import type { Billing } from '../catalog/enums.ts'
import type { Lab } from '../catalog/schema.ts'
import { UNITED_STATES, usStates } from '../../people/person/countries.ts'
import type { AccountStatus } from './schema.ts'

const UsableAccount = T.Object({
  id: T.String(),
  lab_id: T.Integer(),
  platform: T.Boolean(),
  status: T.String(),
  delegated_flow: T.String(),
  allowed_billing: T.Record(T.String(), T.Array(T.String())),
  /** Orders of the team go to the laboratory over the link of the account. */
  has_live_link: T.Boolean(),
})
/** An account that a team may order under, if lab, status and billing type match. */
export type UsableAccount = Static<typeof UsableAccount>

const KEY = 'lab accounts'

/** Invalidates the cached accounts of a team, after a change of its own or of the platform's accounts. */
export const invalidateUsableAccounts = (tx: PlainTx, team: string): void => tx.invalidate(team, KEY)

/** The accounts that the team may order under, as they are now. */
export const reloadAccounts = (tx: Queries & { team: string }): Promise<UsableAccount[]> =>
  tx.many(
    UsableAccount,
    sql`
    select a.id, a.lab_id, a.org_id is null as platform, a.status, a.delegated_flow, a.allowed_billing,
           exists (select from lab_link k where k.account_id = a.id and k.sends_orders
                   and (k.mode = 'live' or (k.mode = 'live_for_team' and k.live_team_id = ${tx.team}))) as has_live_link
    from lab_account a
    where a.id = any (array(
      select id from lab_account where org_id is null union all select account_id from lab_account_team where team_id = ${tx.team}))
    order by a.id`,
  )

/** The accounts that the team may order under at all labs, at most 4 s old. Needs no statement while cached. */
export const usableAccounts = async (tx: Tx): Promise<UsableAccount[]> => (await tx.readCached(KEY, () => reloadAccounts(tx)))!

/** An order's requirements on its account. */
export interface AccountQuery {
  lab: Pick<Lab, 'id' | 'slug'>
  lab_account_id?: string | undefined
  billing_type: Billing
  /** Absent while the patient is unknown: the state is then not checked. */
  address?: PatientAddress | undefined
  /** Accepted statuses of the account. */
  statuses: readonly AccountStatus[]
}

/**
 * The account of an order: the named one; else the only active one of the lab that is linked to the team; else, if none is linked, the
 * platform's.
 * Errors: 400 the named account does not belong to the team or lab or is not active, several or no accounts match, or the account does not
 * offer the billing type in the patient's state.
 * @param usableAccounts from `usableAccounts`
 */
export async function chooseAccount(tx: Tx, usableAccounts: UsableAccount[], query: AccountQuery): Promise<UsableAccount> {
  const { cell } = tx.tenant
  const chosen = choose(usableAccounts, query, cell)
  if (!(chosen instanceof Problem)) return chosen
  const accounts = await reloadAccounts(tx)
  if (query.lab_account_id === undefined && accounts.every(({ lab_id }) => lab_id !== query.lab.id))
    throw await noAccountError(tx, query.lab)
  const again = choose(accounts, query, cell)
  if (again instanceof Problem) throw again
  return again
}

const Id = T.Object({ id: T.String() })

/**
 * The error for a laboratory at which the team has no account, with the command by which the operator gives it one: one of the team's
 * organization is linked, or else one is created.
 */
export async function noAccountError(tx: Tx, { id, slug }: Pick<Lab, 'id' | 'slug'>): Promise<Problem> {
  const { cell, org } = tx.tenant
  const own = await tx.maybe(
    Id,
    sql`select id from lab_account where lab_id = ${id} and org_id = ${org} order by created_at desc, id limit 1`,
  )
  const command = own
    ? `update ${own.id} --cell ${cell} --team ${tx.team}`
    : `create --cell ${cell} --lab ${slug} --account NUMBER`
  const state = own
    ? 'No lab account for this lab is linked to the team. The operator links'
    : 'No lab account exists for this lab. The operator creates'
  return badRequest(`${state} one with: bin/drawbridge lab-account ${command}`)
}

function choose(accounts: UsableAccount[], query: AccountQuery, cell: string): UsableAccount | Problem {
  const account = query.lab_account_id === undefined ? pickOnlyAccount(accounts, query, cell) : pickNamedAccount(accounts, query)
  return account instanceof Problem ? account : (billingError(account, query) ?? account)
}

const acceptsStatus = ({ statuses }: AccountQuery, { status }: UsableAccount): boolean =>
  (statuses as readonly string[]).includes(status)

function pickNamedAccount(accounts: UsableAccount[], query: AccountQuery): UsableAccount | Problem {
  const account = accounts.find(({ id }) => id === query.lab_account_id)
  if (!account) return badRequest('The lab account does not belong to this team')
  if (account.lab_id !== query.lab.id) return badRequest('The lab account belongs to a different lab than the order')
  return acceptsStatus(query, account) ? account : badRequest(`The lab account is ${account.status}`)
}

function pickOnlyAccount(accounts: UsableAccount[], query: AccountQuery, cell: string): UsableAccount | Problem {
  const atLab = accounts.filter(({ lab_id }) => lab_id === query.lab.id)
  const linked = atLab.filter(({ platform }) => !platform)
  const usable = linked.length ? linked : atLab
  const [first, ...more] = usable.filter((account) => acceptsStatus(query, account))
  if (more.length) return badRequest('Several lab accounts match this order; specify lab_account_id')
  if (first) return first
  const none = 'The team has no active lab account for this lab'
  return badRequest(usable[0] ? `${none}. ${activation(usable[0], cell)}` : none)
}

/** What the operator does for an account that is suspended, pending or not launched. */
const activation = ({ id }: UsableAccount, cell: string): string =>
  `The operator activates one with: bin/drawbridge lab-account update ${id} --cell ${cell} --status active`

function billingError({ allowed_billing }: UsableAccount, { billing_type, address }: AccountQuery): Problem | undefined {
  const states = allowed_billing[billing_type]
  if (!states?.length) return badRequest(`Billing type ${billing_type} requires a lab account that supports it`)
  if (!address || offeredAt(states, address)) return undefined
  return badRequest(`Billing type ${billing_type} is not offered in the state of the patient`)
}

/** Lists of states can contain the fifty states only: a billing type offered in all of them is offered everywhere. */
const offeredAt = (states: string[], { state, country }: Pick<PatientAddress, 'state' | 'country'>): boolean =>
  country === UNITED_STATES && usStates.includes(state)
    ? states.includes(state)
    : usStates.every((usState) => states.includes(usState))

/** Labs that require the customer's physician for an order under a delegated account. */
const PHYSICIAN_LABS = new Set(['labcorp', 'quest', 'sonora_quest'])

/** Whether an order under this account must name its physician; false if the installation does not enforce it (`enforce_delegated_physician`). */
export const requiresPhysician = (
  { settings }: Pick<Tenant, 'settings'>,
  { delegated_flow }: UsableAccount,
  lab_slug: string,
): boolean =>
  settings.enforce_delegated_physician !== false &&
  (delegated_flow === 'order_delegated' || delegated_flow === 'fully_delegated') &&
  PHYSICIAN_LABS.has(lab_slug)

/** An account that the team may use; undefined for any other id. */
export async function usableAccount(tx: Tx, lab_account_id: string): Promise<UsableAccount | undefined> {
  const isIt = ({ id }: UsableAccount) => id === lab_account_id
  return (await usableAccounts(tx)).find(isIt) ?? (await reloadAccounts(tx)).find(isIt)
}

/** The lab of an account that the team may use; undefined for any other id. */
export const labOfAccount = async (tx: Tx, lab_account_id: string): Promise<number | undefined> =>
  (await usableAccount(tx, lab_account_id))?.lab_id

/** The billing types that an account offers to a patient at this address. */
export const billingOffered = (
  { allowed_billing }: UsableAccount,
  address: Pick<PatientAddress, 'state' | 'country'>,
): string[] => Object.keys(allowed_billing).filter((type) => offeredAt(allowed_billing[type]!, address))
