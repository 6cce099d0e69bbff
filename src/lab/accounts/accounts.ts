// Lab accounts: the accounts that orders are placed under at laboratories. Owns lab_account and lab_account_team; does not import orders.
// Source: management-auth.md 12; lab-testing.md 4.
import type { PlainTx, Queries, Tx } from '../../platform/db/transaction.ts'
import { assertBelowLimit, badRequest, notFound } from '../../platform/http/errors.ts'
import type { ManagementPrincipal } from '../../platform/http/operation.ts'
import { T } from '../../platform/schema/schema.ts'
import { joinConditions, sql, type Sql } from '../../platform/db/sql.ts'
import { authorizedTeam } from '../../tenancy/teams/team-access.ts'
import { LabAccount, type AccountsQuery, type AccountStatus } from './schema.ts'
import { invalidateUsableAccounts } from './account-selection.ts'

/** Maximum number of accounts of an organization, or of the platform, in a cell. */
const ACCOUNTS_MAX = 500

const allTeams = sql`true`

/** Accounts `a` with the visible ones of their linked teams `t`. */
const selectAccounts = (visibleTeams: Sql): Sql => sql`
  select a.id, l.slug as lab, a.org_id, a.status, a.delegated_flow, a.provider_account_id, a.account_name, a.default_clinical_notes,
         a.business_units, a.allowed_billing,
         to_json(array(select t.team_id from lab_account_team t where t.account_id = a.id and ${visibleTeams} order by t.team_id)) as team_id_allowlist
  from lab_account a join lab l on l.id = a.lab_id`

const newestFirst = sql`order by a.created_at desc, a.id desc`

const filterConditions = (query: { lab_account_id?: string; status?: AccountStatus }): Sql[] => [
  ...(query.lab_account_id === undefined ? [] : [sql`a.id = ${query.lab_account_id}`]),
  ...(query.status === undefined ? [] : [sql`a.status = ${query.status}`]),
]

const linkedTeamCondition = (teams: Sql): Sql =>
  sql`exists (select from lab_account_team t where t.account_id = a.id and t.team_id = any (${teams}))`

/**
 * An organization's accounts in the cell, newest first. A key that is bound to teams gets the accounts linked to its teams, and of the
 * linked teams its own. Errors: 403 or 404 the filter names an inaccessible team. A team of another region has no accounts here.
 */
export async function listAccounts(
  tx: PlainTx,
  control: Queries,
  manager: ManagementPrincipal,
  query: AccountsQuery,
): Promise<{ data: LabAccount[] }> {
  if (query.team_id !== undefined) await authorizedTeam(control, manager, query.team_id)
  const own = manager.teams && sql`${[...manager.teams]}::uuid[]`
  const conditions = [
    sql`a.org_id = ${manager.org}`,
    ...filterConditions(query),
    ...(own ? [linkedTeamCondition(own)] : []),
    ...(query.team_id === undefined ? [] : [linkedTeamCondition(sql`array[${query.team_id}::uuid]`)]),
  ]
  const visibleTeams = own ? sql`t.team_id = any (${own})` : allTeams
  return {
    data: await tx.many(LabAccount, sql`${selectAccounts(visibleTeams)} where ${joinConditions(conditions)} ${newestFirst}`),
  }
}

/** Accounts that the calling team may order under: those linked to it, and the platform's. Other linked teams are not shown. */
export async function listTeamAccounts(
  tx: Tx,
  query: { lab_account_id?: string; status?: AccountStatus },
): Promise<{ data: LabAccount[] }> {
  const usable = sql`(a.org_id is null or ${linkedTeamCondition(sql`array[${tx.team}::uuid]`)})`
  const data = await tx.many(
    LabAccount,
    sql`${selectAccounts(sql`t.team_id = ${tx.team}`)} where ${joinConditions([usable, ...filterConditions(query)])} ${newestFirst}`,
  )
  return { data }
}

/** All accounts of the cell, or those of an organization: for the operator. */
export const listForOperator = (tx: Queries, org_id: string | undefined): Promise<LabAccount[]> =>
  tx.many(
    LabAccount,
    sql`${selectAccounts(allTeams)} where ${org_id === undefined ? sql`true` : sql`a.org_id = ${org_id}`} ${newestFirst} limit 5000`,
  )

export const findAccount = (tx: Queries, id: string): Promise<LabAccount | undefined> =>
  tx.maybe(LabAccount, sql`${selectAccounts(allTeams)} where a.id = ${id}`)

/**
 * Replaces the linked teams of an organization's account; an empty list unlinks all. Writes lab_account_team.
 * Errors: 400 a team that is not in the organization and cell; 404 unknown account, or a platform account, which cannot be linked.
 */
export async function linkTeams(tx: PlainTx, org_id: string, id: string, team_ids: string[]): Promise<LabAccount> {
  const account = await lockAccount(tx, id)
  if (account?.org_id !== org_id) throw notFound('Lab account not found')
  await replaceTeams(tx, account, org_id, team_ids)
  return (await findAccount(tx, id))!
}

async function lockAccount(tx: PlainTx, id: string): Promise<LabAccount | undefined> {
  await tx.locking.run(sql`select id from lab_account where id = ${id} for no key update`)
  return findAccount(tx, id)
}

const Id = T.Object({ id: T.String() })

async function replaceTeams(tx: PlainTx, account: LabAccount, org_id: string, team_ids: string[]): Promise<void> {
  const uniqueTeamIds = [...new Set(team_ids)]
  const teams = await tx.locking.many(
    Id,
    sql`select id from team where id = any (${uniqueTeamIds}::uuid[]) and org_id = ${org_id} and deleted_at is null for key share`,
  )
  if (teams.length < uniqueTeamIds.length)
    throw badRequest('team_id_allowlist contains a team that is not in this organization and region')
  await tx.run(sql`delete from lab_account_team where account_id = ${account.id} and team_id <> all (${uniqueTeamIds}::uuid[])`)
  await tx.run(sql`
    insert into lab_account_team (account_id, team_id) select ${account.id}, unnest(${uniqueTeamIds}::uuid[]) on conflict do nothing`)
  for (const team of new Set([...account.team_id_allowlist, ...uniqueTeamIds])) invalidateUsableAccounts(tx, team)
}

/** The fields of an account that an operator sets; absent fields do not change. */
export type AccountChange = Partial<Omit<LabAccount, 'id' | 'lab' | 'org_id' | 'team_id_allowlist'>> & { team_ids?: string[] }

/** `id`: chosen by the caller; generated if absent. */
export type NewAccount = AccountChange & { id?: string; lab: string; org_id: string | null; provider_account_id: string }

/**
 * Creates an account. Defaults: active, not delegated, without billing types. Writes lab_account, lab_account_team.
 * Errors: 400 500 accounts already, a second platform account at this lab, or teams of another organization; 404 unknown lab.
 */
export async function createAccount(tx: PlainTx, account: NewAccount): Promise<string> {
  const lab = await tx.maybe(T.Object({ id: T.Integer() }), sql`select id from lab where slug = ${account.lab}`)
  if (!lab) throw notFound('Lab not found in this cell')
  const present = sql`select count(*) as n from lab_account where org_id is not distinct from ${account.org_id}::uuid`
  await assertBelowLimit(tx, present, ACCOUNTS_MAX, 'An owner', 'lab accounts per cell')
  const id = account.id ?? tx.uuid()
  const insertedCount = await tx.run(sql`
    insert into lab_account (id, lab_id, org_id, status, delegated_flow, provider_account_id, account_name, default_clinical_notes,
                             business_units, allowed_billing, created_at)
    values (${id}, ${lab.id}, ${account.org_id}, ${account.status ?? 'active'}, ${account.delegated_flow ?? 'not_delegated'},
            ${account.provider_account_id}, ${account.account_name ?? null}, ${account.default_clinical_notes ?? null},
            ${account.business_units ?? null}::text[], ${JSON.stringify(account.allowed_billing ?? {})}, ${tx.now})
    on conflict (lab_id) where org_id is null do nothing`)
  if (!insertedCount) throw badRequest(`The platform already has a lab account at ${account.lab} in this cell`)
  if (account.team_ids) await link(tx, id, account.org_id, account.team_ids)
  return id
}

async function link(tx: PlainTx, id: string, org_id: string | null, team_ids: string[]): Promise<void> {
  if (org_id === null) throw badRequest('Platform lab accounts apply to every team and cannot be linked')
  await replaceTeams(tx, (await findAccount(tx, id))!, org_id, team_ids)
}

/** Changes an account. Writes lab_account, lab_account_team. Errors: 400 teams of another organization; 404 unknown account. */
export async function updateAccount(tx: PlainTx, id: string, change: AccountChange): Promise<void> {
  const before = await lockAccount(tx, id)
  if (!before) throw notFound('Lab account not found in this cell')
  const { team_ids, ...fields } = change
  const after = { ...before, ...fields }
  await tx.run(sql`
    update lab_account
    set status = ${after.status}, delegated_flow = ${after.delegated_flow}, provider_account_id = ${after.provider_account_id},
        account_name = ${after.account_name}, default_clinical_notes = ${after.default_clinical_notes},
        business_units = ${after.business_units}::text[], allowed_billing = ${JSON.stringify(after.allowed_billing)}
    where id = ${id}`)
  for (const team of before.team_id_allowlist) invalidateUsableAccounts(tx, team)
  if (team_ids) await link(tx, id, before.org_id, team_ids)
}
