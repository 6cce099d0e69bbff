import type { Cells } from '../../platform/db/cells.ts'
import { multiTransactionOperation, type Operation } from '../../platform/http/operation.ts'
import { SearchQuery, SearchResults } from './schema.ts'
import { findKey, search } from './search.ts'

export const searchRoutes = (cells: Cells): Operation[] => [
  multiTransactionOperation({
    id: 'search_ids',
    isUnlisted: true,
    logsAccess: true,
    method: 'GET',
    path: '/console/v1/search',
    summary: 'Find what an id, a sample id or a word means',
    description:
      'Orders, users, events, messages, endpoints, requests, appointments, lab reports, unmatched results, lab tests, jobs and keys of the team. An id may be shortened to its first 8 digits, that of a key may not.',
    query: SearchQuery,
    reply: SearchResults,
    async run({ tenant }, { query }) {
      const text = query.search_input.trim()
      const found = await cells.db(tenant.cell).read(tenant, (tx) => search(tx, text))
      return { data: [...found, ...(await findKey(cells.control.queries, tenant, text))] }
    },
  }),
]
