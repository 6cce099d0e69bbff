import { CellParams, OrgParams, TeamParams } from '../organizations/management-shapes.ts'
import { managementOperation, type Idempotency, type Operation } from '../../platform/http/operation.ts'
import { Nullable } from '../../platform/schema/schema.ts'
import type { Forgets } from '../teams/teams.ts'
import * as shapes from '../teams/schema.ts'
import { mintToken, type TokenDependencies } from './access-tokens.ts'
import {
  createManagementKey,
  listManagementKeys,
  patchManagementKey,
  removeManagementKey,
  rotateManagementKey,
} from './management-keys.ts'
import { createKey, deleteKeys, listKeys } from './team-keys.ts'
import { DAY_S } from '../../platform/runtime/durations.ts'

/** The dependencies of operations on keys: the caches of teams and management keys, and the minting of tokens. */
export interface KeyDependencies extends TokenDependencies {
  teams: Forgets
  orgs: Forgets
}

const once = (scope: string): Idempotency => ({ scope, retention_s: DAY_S })

const boundKey = { logsAccess: false, scope: 'control', keyScope: 'bound' } as const
const ofOrg = { logsAccess: false, scope: 'control', keyScope: 'org' } as const

const tokens = (dependencies: TokenDependencies): Operation[] => [
  managementOperation({
    ...boundKey,
    id: 'create_team_api_access_token',
    idempotency: { ...once('create_team_api_access_token'), secret: true },
    method: 'POST',
    path: '/v1/org/{org_id}/team/{team_id}/create_api_access_token',
    summary: 'Mint an access token for a team',
    description: 'Valid for ten minutes as `Authorization: Bearer`, for every operation that accepts a key of the team.',
    params: TeamParams,
    body: shapes.MintToken,
    reply: shapes.AccessToken,
    example: { env: 'sandbox' },
    run: (tx, { manager, params, body }) => mintToken(tx, dependencies, manager, params.team_id, body.env),
  }),
  managementOperation({
    ...boundKey,
    id: 'create_team_access_token',
    idempotency: { ...once('create_team_access_token'), secret: true },
    method: 'POST',
    path: '/v1/org/{org_id}/team/{team_id}/create_access_token',
    summary: 'Create an access token for a team (deprecated)',
    description: 'Where one environment is served, `env` may be left out.',
    deprecated: true,
    params: TeamParams,
    body: shapes.MintTokenMaybe,
    body_optional: true,
    reply: shapes.AccessToken,
    example: { env: 'sandbox' },
    run: (tx, { manager, params, body }) => mintToken(tx, dependencies, manager, params.team_id, body?.env),
  }),
]

export const keysRoutes = ({ teams, orgs, ...dependencies }: KeyDependencies): Operation[] => [
  ...tokens(dependencies),
  managementOperation({
    ...ofOrg,
    id: 'list_management_key',
    method: 'GET',
    path: '/v1/org/{org_id}/management_key',
    summary: 'List management keys, newest first',
    params: OrgParams,
    query: shapes.ManagementKeyQuery,
    reply: shapes.ManagementKeyPage,
    run: (tx, { params, query }) => listManagementKeys(tx, params.org_id, query),
  }),
  managementOperation({
    ...ofOrg,
    id: 'create_management_key',
    method: 'POST',
    path: '/v1/org/{org_id}/management_key',
    summary: 'Create a management key',
    description:
      'The key is shown in this answer only. Keys of the whole organization are made by command, and by members who administer it.',
    params: OrgParams,
    body: shapes.CreateManagementKey,
    reply: shapes.NewManagementKey,
    idempotency: { ...once('create_management_key'), secret: true },
    example: {
      label: 'North',
      role: 'team_admin',
      team_role_bindings: [{ team_id: '01890000-0000-7000-8000-000000000001' }],
    },
    run: (tx, { manager, body }) => createManagementKey(tx, manager, body),
  }),
  managementOperation({
    ...ofOrg,
    id: 'patch_management_key',
    method: 'PATCH',
    path: '/v1/org/{org_id}/management_key/{key_id}',
    summary: 'Change the label of a management key, or replace its teams',
    params: shapes.ManagementKeyParams,
    body: shapes.PatchManagementKey,
    reply: shapes.ManagementKey,
    example: { label: 'North' },
    run: (tx, { manager, params, body }) => patchManagementKey(tx, orgs, manager, params.key_id, body),
  }),
  managementOperation({
    ...boundKey,
    id: 'remove_management_key',
    method: 'DELETE',
    path: '/v1/org/{org_id}/management_key/{key_id}',
    summary: 'Delete a management key; null when there was none',
    params: shapes.ManagementKeyParams,
    reply: Nullable(shapes.ManagementKey),
    run: (tx, { manager, params }) => removeManagementKey(tx, orgs, manager, params.key_id),
  }),
  managementOperation({
    ...boundKey,
    id: 'rotate_management_key',
    method: 'POST',
    path: '/v1/org/{org_id}/management_key/{key_id}/rotate',
    summary: 'Give a management key a new text',
    description:
      'Our own. A key rotates itself, no other, and with its newest text alone; a member who administers the organization rotates any. The new text is shown in this answer only; the former one goes on working for `overlap_seconds`, a day when not given. With 0 it stops within 5 s, for a key that has leaked.',
    params: shapes.ManagementKeyParams,
    body: shapes.RotateManagementKey,
    body_optional: true,
    reply: shapes.NewManagementKey,
    idempotency: { ...once('rotate_management_key'), secret: true },
    example: { overlap_seconds: 3600 },
    run: (tx, { manager, params, body }) => rotateManagementKey(tx, orgs, manager, params.key_id, body?.overlap_seconds),
  }),
  managementOperation({
    ...boundKey,
    id: 'list_team_api_keys',
    method: 'GET',
    path: '/v1/org/{org_id}/team_api_keys/{env}/{region}',
    summary: 'List keys of teams, newest first, masked',
    params: CellParams,
    query: shapes.TeamApiKeyQuery,
    reply: shapes.TeamApiKeyPage,
    run: (tx, { manager, params, query }) => listKeys(tx, manager, params, query),
  }),
  managementOperation({
    ...boundKey,
    id: 'create_team_api_key',
    method: 'POST',
    path: '/v1/org/{org_id}/team_api_keys/{env}/{region}',
    summary: 'Create a key of a team',
    description: 'The key is shown in this answer only.',
    params: CellParams,
    body: shapes.CreateTeamApiKey,
    reply: shapes.TeamApiKey,
    idempotency: { ...once('create_team_api_key'), secret: true },
    example: { label: 'North', team_id: '01890000-0000-7000-8000-000000000001' },
    run: (tx, { manager, params, body, recordAuditSubject }) => createKey(tx, manager, params, body, recordAuditSubject),
  }),
  managementOperation({
    ...boundKey,
    id: 'delete_team_api_keys',
    method: 'DELETE',
    path: '/v1/org/{org_id}/team_api_keys/{env}/{region}',
    summary: 'Delete keys of teams',
    params: CellParams,
    query: shapes.DeleteTeamApiKeysQuery,
    reply: shapes.DeletedTeamApiKeys,
    run: (tx, { manager, params, query, recordAuditSubject }) =>
      deleteKeys(tx, teams, manager, params, query.api_key_id, recordAuditSubject),
  }),
]
