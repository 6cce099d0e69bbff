import { multiTransactionOperation, type Operation } from '../../platform/http/operation.ts'
import type { RequestRecorder } from './recorder.ts'
import { countRequests, getRequest, listRequests } from './requests.ts'
import {
  LoggedTeamRequest,
  LoggedTeamRequestPage,
  RequestCountQuery,
  RequestCounts,
  RequestPath,
  RequestQuery,
} from './schema.ts'

const DESCRIPTION =
  'Requests with keys of the team and of its members in the console, without bodies and without values of paths and queries. A process of the server lists one a second on average, and as many that failed; `count_requests` counts all.'

const ofRequests = { isUnlisted: true, logsAccess: false, method: 'GET' } as const

/** They write what this process has collected first: a developer sees the request just made. */
export const requestLogRoutes = (recorder: RequestRecorder): Operation[] => [
  multiTransactionOperation({
    ...ofRequests,
    id: 'list_requests',
    path: '/console/v1/requests',
    summary: "List the team's requests, newest first",
    description: DESCRIPTION,
    query: RequestQuery,
    reply: LoggedTeamRequestPage,
    async run({ tenant, cells }, { query }) {
      await recorder.flush()
      return cells.db(tenant.cell).read(tenant, (tx) => listRequests(tx, query))
    },
  }),
  multiTransactionOperation({
    ...ofRequests,
    id: 'get_request',
    path: '/console/v1/requests/{request_id}',
    summary: 'Read a request by the id of its response',
    params: RequestPath,
    reply: LoggedTeamRequest,
    async run({ tenant, cells }, { params }) {
      await recorder.flush()
      return cells.db(tenant.cell).read(tenant, (tx) => getRequest(tx, params.request_id))
    },
  }),
  multiTransactionOperation({
    ...ofRequests,
    id: 'count_requests',
    path: '/console/v1/request_counts',
    summary: "Count the team's requests over time",
    description: 'All requests of a span of at most 30 days, by outcome.',
    query: RequestCountQuery,
    reply: RequestCounts,
    async run({ tenant, cells }, { query }) {
      await recorder.flush()
      return cells.db(tenant.cell).read(tenant, (tx) => countRequests(tx, query))
    },
  }),
]
