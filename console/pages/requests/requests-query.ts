// The requests of the team, and how many there were over time.
import { useQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import { useKeysetList } from '../../api/keyset-list.ts'
import { refreshHeaders } from '../../api/refresh.ts'
import type { components, operations } from '../../api/schema.d.ts'
import type { Filter, FilterField } from '../../components/filters.ts'
import { useTeam } from '../../session/team.ts'

export type LoggedRequest = components['schemas']['LoggedTeamRequest']
export type RequestCounts = components['schemas']['RequestCounts']
type RequestQuery = NonNullable<operations['list_requests']['parameters']['query']>
export type TimeSpan = Required<Pick<RequestQuery, 'since' | 'until'>>

/** While the list is live, it is read again this often. */
const REFRESH_MS = 3000

const checkStatus = (value: string): string | undefined =>
  /^[1-5]\d\d$/.test(value) ? undefined : 'A status is a number from 100 to 599'
const checkTime = (value: string): string | undefined =>
  Number.isNaN(Date.parse(value)) ? 'A time is written like 2026-11-28T09:00:00Z' : undefined

export const REQUEST_FIELDS: readonly FilterField[] = [
  { name: 'outcome', values: ['success', 'client_error', 'server_error'] },
  { name: 'method', values: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] },
  { name: 'operation', example: 'create_order' },
  { name: 'status', example: '422', check: checkStatus },
  { name: 'key' },
  { name: 'member' },
  { name: 'since', example: '2026-11-28T09:00:00Z', check: checkTime },
  { name: 'until', example: '2026-11-28T10:00:00Z', check: checkTime },
]

export function toRequestQuery(filters: readonly Filter[]): RequestQuery {
  const valuesOf = (name: string) => filters.filter((filter) => filter.name === name).map(({ value }) => value)
  const operation = valuesOf('operation')
  const single = ['outcome', 'method', 'status', 'key', 'member', 'since', 'until']
    .map((name) => [name, valuesOf(name).at(-1)] as const)
    .filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(single), ...(operation.length && { operation }) }
}

/** Requests that match, newest first; read again while `isLive`. */
export function useRequests(query: RequestQuery, isLive: boolean) {
  const { api, key } = useTeam()
  return useKeysetList({
    queryKey: [...key, 'requests', query],
    readPage: ({ query: page, ...request }) =>
      dataOf(api.GET('/console/v1/requests', { params: { query: { ...query, ...page } }, ...request })),
    refresh_ms: isLive && REFRESH_MS,
  })
}

/** How many requests there were in a span; without one in the last 24 hours. */
export function useRequestCounts({ since, until }: Pick<RequestQuery, 'since' | 'until'>, isLive: boolean) {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'request counts', since, until],
    queryFn: (context) =>
      dataOf(
        api.GET('/console/v1/request_counts', {
          params: { query: { ...(since !== undefined && { since }), ...(until !== undefined && { until }) } },
          signal: context.signal,
          headers: refreshHeaders(context),
        }),
      ),
    // The last interval of the API begins at the end of the span.
    select: ({ step_s, data }): RequestCounts => ({
      step_s,
      data: until === undefined ? data : data.filter(({ at }) => Date.parse(at) < Date.parse(until)),
    }),
    placeholderData: (previous) => previous,
    refetchInterval: isLive && REFRESH_MS,
  })
}

/** What the status of a response means. */
export const toneOfStatus = (status: number) => (status >= 500 ? 'failed' : status >= 400 ? 'attention' : 'good')
