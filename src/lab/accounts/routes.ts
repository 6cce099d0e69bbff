import type { Cells } from '../../platform/db/cells.ts'
import { managementOperation, operation, type Operation } from '../../platform/http/operation.ts'
import { linkTeams, listAccounts, listTeamAccounts } from './accounts.ts'
import { upsertSandboxAccount } from './sandbox-accounts.ts'
import * as shapes from './schema.ts'

const ofAccount = {
  logsAccess: false,
  scope: 'cell',
  keyScope: 'org',
  path: '/v1/org/{org_id}/lab_account/{env}/{region}/{account_id}',
  params: shapes.AccountParams,
  reply: shapes.LabAccountReply,
} as const

export const accountsRoutes = ({ cells }: { cells: Cells }): Operation[] => [
  operation({
    id: 'get_team_lab_accounts',
    logsAccess: false,
    method: 'GET',
    path: '/v3/lab_test/lab_account',
    summary: 'List the lab accounts that the team may order under, newest first',
    description: "Returns the accounts linked to the team and, with `org_id` null, the platform's.",
    query: shapes.TeamAccountsQuery,
    reply: shapes.LabAccounts,
    run: (tx, { query }) => listTeamAccounts(tx, query),
  }),
  managementOperation({
    id: 'get_lab_accounts',
    logsAccess: false,
    method: 'GET',
    path: '/v1/org/{org_id}/lab_account/{env}/{region}',
    scope: 'cell',
    keyScope: 'bound',
    summary: "List the organization's lab accounts, newest first",
    description: 'A key that is bound to teams sees the accounts linked to its teams.',
    params: shapes.AccountsParams,
    query: shapes.AccountsQuery,
    reply: shapes.LabAccounts,
    run: (tx, { manager, query }) => listAccounts(tx, cells.control.queries, manager, query),
  }),
  managementOperation({
    ...ofAccount,
    id: 'upsert_lab_account',
    method: 'PUT',
    summary: 'Create or replace a lab account of a sandbox',
    description:
      'Sandbox only. The caller chooses the id. What is left out: active, nothing delegated, `client_bill` in every state; linked teams stay.',
    body: shapes.UpsertAccount,
    example: { lab: 'quest', provider_account_id: 'FICTIONAL-1', delegated_flow: 'order_delegated' },
    run: async (tx, { params, body }) => ({ lab_account: await upsertSandboxAccount(tx, params, body) }),
  }),
  managementOperation({
    ...ofAccount,
    id: 'update_lab_account_team_id_allowlist',
    method: 'PATCH',
    summary: 'Replace the teams that a lab account is linked to',
    description: 'An empty list unlinks all.',
    body: shapes.LinkTeams,
    example: { team_id_allowlist: ['01890000-0000-7000-8000-000000000001'] },
    run: async (tx, { manager, params, body }) => ({
      lab_account: await linkTeams(tx, manager.org, params.account_id, body.team_id_allowlist),
    }),
  }),
]
