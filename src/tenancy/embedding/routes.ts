import { managementOperation, sessionOperation, StatusReply, type Operation } from '../../platform/http/operation.ts'
import {
  createEmbeddedMember,
  deleteEmbeddedMember,
  getEmbeddedMember,
  listEmbeddedMembers,
  patchEmbeddedMember,
  resolveEmbeddedMember,
} from './embedded-members.ts'
import * as shapes from './schema.ts'
import { getEmbedding, putEmbedding } from './embedding.ts'
import { launchCookie } from './launch-cookies.ts'
import { placeOf } from './launch-pages.ts'
import { endLaunchSession, readLaunchSession } from './launch-session.ts'
import { createLaunch, type LaunchDependencies } from './launches.ts'
import { Nothing, OrgParams } from '../organizations/management-shapes.ts'
import { DAY_S } from '../../platform/runtime/durations.ts'

const BASE = '/v1/org/{org_id}/ehr_integration' as const
export interface RouteDependencies extends LaunchDependencies {
  /** Whether the server has demo data. */
  demo: boolean
  /** The operations of all modules. */
  operations: () => readonly Operation[]
}

const orgScope = { logsAccess: false, scope: 'control', keyScope: 'org' } as const

/** The session of a launched page. */
const sessionRoutes = (dependencies: RouteDependencies): Operation[] => [
  sessionOperation({
    id: 'get_launch_session',
    method: 'GET',
    path: '/console/api/launch',
    summary: 'Read the session that a launch URL has opened, with its feature',
    reply: shapes.LaunchSession,
    run: (tx, { session }) =>
      readLaunchSession(tx, session, {
        cells: dependencies.cells.names,
        demo: dependencies.demo,
        operations: dependencies.operations(),
      }),
  }),
  sessionOperation({
    id: 'end_launch_session',
    method: 'DELETE',
    path: '/console/api/launch',
    summary: 'End the session that a launch URL has opened',
    reply: Nothing,
    run: async (tx, { session }) => {
      const { modality } = await endLaunchSession(tx, session)
      const headers = {
        'set-cookie': launchCookie(placeOf(dependencies), modality, '', 0),
        'clear-site-data': '"cache", "storage"',
      }
      return new StatusReply(200, {}, headers)
    },
  }),
]

const ofMember = { ...orgScope, path: `${BASE}/member/{member_id}`, params: shapes.EmbeddedMemberParams } as const
const ofOrg = { ...orgScope, params: OrgParams } as const

/** The dashboard inside the pages of an organization. */
export const embeddingRoutes = (dependencies: RouteDependencies): Operation[] => [
  ...sessionRoutes(dependencies),
  managementOperation({
    ...ofOrg,
    id: 'get_ehr_integration_configuration',
    method: 'GET',
    path: `${BASE}/configuration`,
    summary: 'Get the dashboard embedding configuration',
    reply: shapes.Embedding,
    run: (tx, { params }) => getEmbedding(tx, params.org_id),
  }),
  managementOperation({
    ...ofOrg,
    id: 'upsert_ehr_integration_configuration',
    method: 'PUT',
    path: `${BASE}/configuration`,
    summary: 'Set the dashboard embedding configuration',
    description:
      'Origins are https, or http on loopback; only they may frame the dashboard. Sessions of a modality that is taken away end.',
    body: shapes.PutEmbedding,
    reply: shapes.Embedding,
    example: {
      slug: 'fictional-clinic',
      modalities: ['feature_embed', 'link_out'],
      origin_configs: [
        { origin: 'https://app.example.com', session_continuation_url: 'https://app.example.com/dashboard/continue' },
      ],
    },
    run: (tx, { params, body }) => putEmbedding(tx, params.org_id, body),
  }),
  managementOperation({
    ...ofOrg,
    id: 'list_integration_managed_members',
    method: 'GET',
    path: `${BASE}/member`,
    summary: 'List integration-managed members, newest first',
    query: shapes.EmbeddedMemberQuery,
    reply: shapes.EmbeddedMemberPage,
    run: (tx, { params, query }) => listEmbeddedMembers(tx, params.org_id, query.next_cursor),
  }),
  managementOperation({
    ...ofOrg,
    id: 'create_integration_managed_member',
    method: 'POST',
    path: `${BASE}/member`,
    summary: 'Add a member that your own backend manages',
    description:
      'Without bindings the member reaches every team. A reference that is taken answers 409 with the `member_id` of its member.',
    body: shapes.CreateEmbeddedMember,
    reply: shapes.EmbeddedMember,
    idempotency: { scope: 'create_integration_managed_member', retention_s: DAY_S },
    example: { integration_member_id: 'your-own-reference-1', name: 'Testa Fictional', email: 'testa@example.com' },
    run: (tx, { params, body }) => createEmbeddedMember(tx, params.org_id, body),
  }),
  managementOperation({
    ...ofOrg,
    id: 'resolve_integration_managed_member',
    method: 'POST',
    path: `${BASE}/resolve_member`,
    reads: true,
    summary: 'Resolve a member by reference',
    body: shapes.ResolveEmbeddedMember,
    reply: shapes.EmbeddedMember,
    example: { integration_member_id: 'your-own-reference-1' },
    run: (tx, { params, body }) => resolveEmbeddedMember(tx, params.org_id, body.integration_member_id),
  }),
  managementOperation({
    ...ofMember,
    id: 'get_integration_managed_member',
    method: 'GET',
    summary: 'Read a member that your own backend manages',
    reply: shapes.EmbeddedMember,
    run: (tx, { params }) => getEmbeddedMember(tx, params.org_id, params.member_id),
  }),
  managementOperation({
    ...ofMember,
    id: 'update_integration_managed_member',
    method: 'PATCH',
    summary: 'Change a member that your own backend manages; null clears the avatar',
    description: 'Bindings replace the previous ones; null keeps them.',
    body: shapes.PatchEmbeddedMember,
    reply: shapes.EmbeddedMember,
    example: { name: 'Testa Fictional' },
    run: (tx, { params, body }) => patchEmbeddedMember(tx, params.org_id, params.member_id, body),
  }),
  managementOperation({
    ...ofMember,
    id: 'delete_integration_managed_member',
    method: 'DELETE',
    summary: 'Remove a member that your own backend manages; sessions end at once',
    reply: Nothing,
    run: async (tx, { params }) => {
      await deleteEmbeddedMember(tx, params.org_id, params.member_id)
      return {}
    },
  }),
  managementOperation({
    ...ofOrg,
    id: 'create_dashboard_url',
    method: 'POST',
    path: `${BASE}/create_dashboard_url`,
    summary: 'Create a launch URL',
    description:
      'Valid for one use within five minutes; only this response shows it. It opens the console for an hour: in a frame the feature alone, as a link the team in that environment, beginning with the feature.',
    body: shapes.Launch,
    reply: shapes.LaunchUrl,
    idempotency: { scope: 'create_dashboard_url', retention_s: DAY_S, secret: true },
    example: {
      member_id: '01890000-0000-7000-8000-000000000001',
      team_id: '01890000-0000-7000-8000-000000000002',
      feature: 'team_panels',
      modality: 'link_out',
      environment: 'sandbox',
    },
    run: (tx, { params, body }) => createLaunch(tx, dependencies, params.org_id, body),
  }),
]
