// Reading one endpoint, and what can be done with it.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import { useKeysetList } from '../../api/keyset-list.ts'
import { refreshHeaders } from '../../api/refresh.ts'
import type { components } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'
import { useEndpointScope } from '../endpoints/endpoint-queries.ts'

export type EndpointMessage = components['schemas']['WebhookMessage']
export type EventCounts = components['schemas']['EndpointEventCounts']
export type ReplayKind = components['schemas']['WebhookReplay']['which']
type Changes = components['schemas']['PatchWebhookBody']

const REFRESH_MS = 3000
/** Each reading of messages is in the access log. */
const MESSAGES_MS = 10_000

export function useEndpoint(webhook_id: string) {
  const { api, key } = useTeam()
  const path = { ...useEndpointScope(), webhook_id }
  return useQuery({
    queryKey: [...key, 'endpoints', 'one', webhook_id],
    queryFn: (context) =>
      dataOf(
        api.GET('/v1/org/{org_id}/team/{team_id}/{environment}/webhook/{webhook_id}', {
          params: { path },
          signal: context.signal,
          headers: refreshHeaders(context),
        }),
      ),
    refetchInterval: REFRESH_MS,
  })
}

/** Reads everything about endpoints again. */
function useEndpointRefresh(): () => Promise<void> {
  const { key } = useTeam()
  const queryClient = useQueryClient()
  return () => queryClient.invalidateQueries({ queryKey: [...key, 'endpoints'] })
}

export function useChangeEndpoint(webhook_id: string) {
  const { api } = useTeam()
  const path = { ...useEndpointScope(), webhook_id }
  const refresh = useEndpointRefresh()
  return useMutation({
    mutationFn: (body: Changes) =>
      api.PATCH('/v1/org/{org_id}/team/{team_id}/{environment}/webhook/{webhook_id}', { params: { path }, body }),
    onSuccess: refresh,
  })
}

/** A function that deletes the endpoint and the log of its deliveries. */
export function useDeleteEndpoint(webhook_id: string): () => Promise<void> {
  const { api } = useTeam()
  const path = { ...useEndpointScope(), webhook_id }
  const refresh = useEndpointRefresh()
  return async () => {
    await api.DELETE('/v1/org/{org_id}/team/{team_id}/{environment}/webhook/{webhook_id}', { params: { path } })
    await refresh()
  }
}

/** Reads the signing secret; rotates it first if it is asked to. The secret is in no cache. */
export function useSigningSecret(webhook_id: string) {
  const { api } = useTeam()
  const path = { ...useEndpointScope(), webhook_id }
  const refresh = useEndpointRefresh()
  return useMutation({
    gcTime: 0,
    async mutationFn({ isRotated }: { isRotated: boolean }) {
      const secret = '/v1/org/{org_id}/team/{team_id}/{environment}/webhook/{webhook_id}/secret'
      if (isRotated) await api.POST(`${secret}/rotate`, { params: { path }, body: {} })
      const { key } = await dataOf(api.GET(secret, { params: { path } }))
      return key
    },
    onSuccess: refresh,
  })
}

/** The custom headers, as they are now. Each reading is in the audit log. */
export function useEndpointHeaders(webhook_id: string) {
  const { api, key } = useTeam()
  const path = { ...useEndpointScope(), webhook_id }
  return useQuery({
    queryKey: [...key, 'endpoint headers', webhook_id],
    gcTime: 0,
    staleTime: Infinity,
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/org/{org_id}/team/{team_id}/{environment}/webhook/{webhook_id}/headers', { params: { path }, signal })),
  })
}

export function useReplaceHeaders(webhook_id: string) {
  const { api } = useTeam()
  const path = { ...useEndpointScope(), webhook_id }
  const refresh = useEndpointRefresh()
  return useMutation({
    gcTime: 0,
    mutationFn: (headers: Record<string, string>) =>
      api.PUT('/v1/org/{org_id}/team/{team_id}/{environment}/webhook/{webhook_id}/headers', {
        params: { path },
        body: { headers },
      }),
    onSuccess: refresh,
  })
}

/** The messages for the endpoint, newest first, in one state or in all. */
export function useEndpointMessages(webhook_id: string, state: EndpointMessage['state'] | undefined) {
  const { api, key } = useTeam()
  const path = { ...useEndpointScope(), webhook_id }
  return useKeysetList({
    queryKey: [...key, 'endpoints', 'messages', webhook_id, state],
    readPage: ({ query: page, ...request }) =>
      dataOf(
        api.GET('/v1/org/{org_id}/team/{team_id}/{environment}/webhook/{webhook_id}/message', {
          params: { path, query: { ...(state !== undefined && { state }), ...page } },
          ...request,
        }),
      ),
    refresh_ms: MESSAGES_MS,
  })
}

/** The times of a count; without `until` up to now. */
type CountSpan = Pick<EventCounts, 'since'> & Partial<Pick<EventCounts, 'until'>>

/** Counts the events since an instant of the team's clock by their delivery; `until` undefined: until now. */
export function useEventCounts(webhook_id: string, { since, until }: CountSpan, refresh_ms?: number) {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'endpoints', 'event counts', webhook_id, since, until],
    queryFn: (context) =>
      dataOf(
        api.GET('/console/v1/endpoints/{webhook_id}/event_counts', {
          params: { path: { webhook_id }, query: { since, ...(until !== undefined && { until }) } },
          signal: context.signal,
          headers: refreshHeaders(context),
        }),
      ),
    staleTime: 0,
    refetchInterval: refresh_ms ?? false,
  })
}

/** Sends the events of a span again, in the background. */
export function useReplay(webhook_id: string) {
  const { api } = useTeam()
  const path = { ...useEndpointScope(), webhook_id }
  const refresh = useEndpointRefresh()
  return useMutation({
    async mutationFn({ kind, counts }: { kind: ReplayKind; counts: EventCounts }) {
      const { since, until } = counts
      const endpoint = '/v1/org/{org_id}/team/{team_id}/{environment}/webhook/{webhook_id}'
      if (kind === 'failed') await api.POST(`${endpoint}/recover`, { params: { path }, body: { since, until } })
      else await api.POST(`${endpoint}/replay`, { params: { path }, body: { since, until, which: kind } })
      return { kind, initialCounts: counts }
    },
    onSuccess: refresh,
  })
}

/** A body as an event of the type has it. */
export function useEventSample(event_type: string) {
  const { api, key } = useTeam()
  const path = { ...useEndpointScope(), event_type }
  return useQuery({
    queryKey: [...key, 'event sample', event_type],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/v1/org/{org_id}/team/{team_id}/{environment}/event_type/{event_type}/sample', { params: { path }, signal }),
      ),
  })
}

/** Sends an example of a type to the endpoint. */
export function useSendExample(webhook_id: string) {
  const { api } = useTeam()
  const path = { ...useEndpointScope(), webhook_id }
  const refresh = useEndpointRefresh()
  return useMutation({
    mutationFn: (event_type: string) =>
      dataOf(
        api.POST('/v1/org/{org_id}/team/{team_id}/{environment}/webhook/{webhook_id}/test', {
          params: { path },
          body: { event_type },
        }),
      ),
    onSuccess: refresh,
  })
}

/** The attempts to deliver a message; read again until there is one. */
export function useMessageAttempts(webhook_id: string, message_id: string) {
  const { api, key } = useTeam()
  const path = { ...useEndpointScope(), webhook_id, message_id }
  return useQuery({
    queryKey: [...key, 'endpoints', 'attempts of', webhook_id, message_id],
    queryFn: (context) =>
      dataOf(
        api.GET('/v1/org/{org_id}/team/{team_id}/{environment}/webhook/{webhook_id}/message/{message_id}/attempt', {
          params: { path },
          signal: context.signal,
          headers: refreshHeaders(context),
        }),
      ),
    select: ({ data }) => data,
    refetchInterval: ({ state }) => (state.data?.data.length ? REFRESH_MS : 500),
  })
}
