import type { RecentRequests } from './recent-requests.ts'
import { multiTransactionOperation, type Operation } from '../../platform/http/operation.ts'
import { assertSandbox } from '../clock/team-clock.ts'
import { LoggedRequestQuery, LoggedRequests } from './schema.ts'

export const requestLogRoutes = (requests: RecentRequests): Operation[] => [
  multiTransactionOperation({
    id: 'list_sandbox_requests',
    isUnlisted: true,
    logsAccess: false,
    method: 'GET',
    path: '/v1/sandbox/requests',
    summary: "List the team's newest requests, oldest first",
    description:
      'Sandbox only. The last 200 requests with keys of the team that this process of the server answered, without requests for this list; they are kept in memory. Ask again with `next_cursor` for later requests.',
    query: LoggedRequestQuery,
    reply: LoggedRequests,
    async run({ tenant }, { query }) {
      assertSandbox(tenant)
      const { requests: data, next_cursor } = requests.requestsAfter(tenant.team, query.next_cursor)
      return { data, next_cursor }
    },
  }),
]
