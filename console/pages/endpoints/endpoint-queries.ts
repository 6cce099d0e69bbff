// The endpoints of the team, and how they are doing.
import { useQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import { refreshHeaders } from '../../api/refresh.ts'
import type { components } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'

export type Endpoint = components['schemas']['Webhook']
export type EndpointHealth = components['schemas']['EndpointHealth']
export type AttemptCounts = components['schemas']['AttemptCounts']

/** A team has at most 50 endpoints. */
const ENDPOINTS_MAX = 250
/** Health is read again this often while a page shows it. */
const REFRESH_MS = 5000

/** The path parameters of operations on endpoints. */
export function useEndpointScope() {
  const { org_id, team, environment } = useTeam()
  return { org_id, team_id: team.id, environment }
}

/** All endpoints, newest first. */
export function useEndpoints() {
  const { api, key } = useTeam()
  const path = useEndpointScope()
  return useQuery({
    queryKey: [...key, 'endpoints', 'all'],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/v1/org/{org_id}/team/{team_id}/{environment}/webhook', {
          params: { path, query: { limit: ENDPOINTS_MAX } },
          signal,
        }),
      ),
    select: ({ data }) => data,
  })
}

/** The health of each endpoint and broker, by its id. */
export function useHealth() {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'endpoints', 'health'],
    queryFn: (context) =>
      dataOf(api.GET('/console/v1/endpoint_health', { signal: context.signal, headers: refreshHeaders(context) })),
    select: ({ data }): ReadonlyMap<string, EndpointHealth> => new Map(data.map((health) => [health.destination_id, health])),
    refetchInterval: REFRESH_MS,
  })
}

/** The attempts at each endpoint and broker in the last hours. */
export function useAttemptCounts(hours: number) {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'endpoints', 'attempts', hours],
    queryFn: (context) =>
      dataOf(
        api.GET('/console/v1/delivery_attempt_counts', {
          params: { query: { hours } },
          signal: context.signal,
          headers: refreshHeaders(context),
        }),
      ),
    placeholderData: (previous) => previous,
    refetchInterval: REFRESH_MS,
  })
}

/** The types of events that an endpoint can receive. */
export function useEventTypes() {
  const { api, key } = useTeam()
  const path = useEndpointScope()
  return useQuery({
    queryKey: [...key, 'event types'],
    staleTime: Infinity,
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/org/{org_id}/team/{team_id}/{environment}/event_type', { params: { path }, signal })),
    select: ({ data }) => data.map(({ name }) => name),
  })
}
