import { teamInEnvironment } from '../../tenancy/organizations/management-shapes.ts'
import { Order } from '../orders/schema.ts'
import { managementOperation, operation } from '../../platform/http/operation.ts'
import { Fields, Uuid } from '../../platform/schema/schema.ts'
import { unmatchedResults } from './features.ts'
import { acceptForTeam, listForOperator, rejectForTeam, releaseToTeam } from './operator-reviews.ts'
import { acceptReview, getReview, listReviews, resolveReview } from './reviews.ts'
import {
  AcceptUnmatchedResult,
  RejectUnmatchedResult,
  ReleaseUnmatchedResult,
  ResolveUnmatchedResult,
  UnmatchedResult,
  UnmatchedResultPage,
  UnmatchedResultQuery,
} from './schema.ts'

const rawResultParams = Fields({ raw_result_id: Uuid })
const feature = unmatchedResults

const TEAM = '/v1/org/{org_id}/team/{team_id}/{environment}/unmatched_result' as const
const ofTeam = { logsAccess: true, scope: 'team', keyScope: 'bound' } as const
const item = Fields({ ...teamInEnvironment, raw_result_id: Uuid })

const ofResult = { logsAccess: true, feature, params: rawResultParams } as const
const decision = { ...ofTeam, method: 'POST', params: item } as const

export const resultMatchingRoutes = [
  operation({
    id: 'list_unmatched_results',
    logsAccess: true,
    method: 'GET',
    path: '/v3/unmatched_result',
    summary: 'List unmatched results',
    description: 'Without `status`, returns results that await a decision of the team, and results that the team referred.',
    feature,
    query: UnmatchedResultQuery,
    reply: UnmatchedResultPage,
    run: (tx, { query }) => listReviews(tx, query),
  }),
  operation({
    ...ofResult,
    id: 'get_unmatched_result',
    method: 'GET',
    path: '/v3/unmatched_result/{raw_result_id}',
    summary: 'Get an unmatched result with its candidate orders',
    reply: UnmatchedResult,
    run: (tx, { params }) => getReview(tx, params.raw_result_id),
  }),
  operation({
    ...ofResult,
    id: 'accept_unmatched_result',
    method: 'POST',
    path: '/v3/unmatched_result/{raw_result_id}/accept',
    summary: 'Accept an unmatched result',
    description:
      'Without `order_id` and `user_id` the one order is meant that the decision leaves. The answer is the order that has the result: the ' +
      'one named, one that takes its place, or a new one of the user.',
    body: AcceptUnmatchedResult,
    reply: Order,
    example: { note: 'The patient called the laboratory.' },
    run: (tx, { params, body }) => acceptReview(tx, params.raw_result_id, body),
  }),
  operation({
    ...ofResult,
    id: 'resolve_unmatched_result',
    method: 'POST',
    path: '/v3/unmatched_result/{raw_result_id}/resolve',
    summary: 'Reject an unmatched result or refer it to the operator',
    body: ResolveUnmatchedResult,
    reply: UnmatchedResult,
    example: { action: 'unsure' },
    run: (tx, { params, body }) => resolveReview(tx, params.raw_result_id, body),
  }),
  managementOperation({
    id: 'list_team_unmatched_results',
    method: 'GET',
    path: TEAM,
    ...ofTeam,
    summary: 'List unmatched results of a team',
    description: 'Without `status`, returns results that are with the operator.',
    params: Fields(teamInEnvironment),
    query: UnmatchedResultQuery,
    reply: UnmatchedResultPage,
    run: (tx, { query }) => listForOperator(tx, query),
  }),
  managementOperation({
    id: 'accept_team_unmatched_result',
    path: `${TEAM}/{raw_result_id}/accept`,
    ...decision,
    summary: 'Accept an unmatched result on behalf of a team',
    body: AcceptUnmatchedResult,
    reply: Order,
    example: {},
    run: (tx, { params, body }) => acceptForTeam(tx, params.raw_result_id, body),
  }),
  managementOperation({
    id: 'reject_team_unmatched_result',
    path: `${TEAM}/{raw_result_id}/reject`,
    ...decision,
    summary: 'Reject an unmatched result on behalf of a team',
    body: RejectUnmatchedResult,
    reply: UnmatchedResult,
    example: { note: 'The laboratory withdrew it.' },
    run: (tx, { params, body }) => rejectForTeam(tx, params.raw_result_id, body.note),
  }),
  managementOperation({
    id: 'release_team_unmatched_result',
    path: `${TEAM}/{raw_result_id}/release`,
    ...decision,
    summary: 'Release an unmatched result to the team',
    body: ReleaseUnmatchedResult,
    reply: UnmatchedResult,
    example: { note: 'The laboratory confirms the name.' },
    run: (tx, { params, body }) => releaseToTeam(tx, params.raw_result_id, body.note),
  }),
]
