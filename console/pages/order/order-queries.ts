// What the page of an order reads: each part by itself, and only while it is shown.
import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import { refreshHeaders } from '../../api/refresh.ts'
import type { components } from '../../api/schema.d.ts'
import { hasEnded, type OrderState } from '../../components/order-status.ts'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'

export type Order = components['schemas']['Order']
export type OrderProgress = components['schemas']['OrderProgress']
export type OrderStep = OrderProgress['steps'][number]
export type EventRow = components['schemas']['EventRow']
export type ResultDocument = components['schemas']['ResultDocumentEntry']
export type LabResults = components['schemas']['LabResults']

/** A simulated order moves on by itself, so the page reads it again until it has ended. */
const REFRESH_MS = 5_000
/** Of an order that has ended: only a correction of its report changes it. */
const ENDED_REFRESH_MS = 60_000
const refreshInterval = (state: OrderState | undefined): number => (state && hasEnded(state) ? ENDED_REFRESH_MS : REFRESH_MS)
const EVENTS_MAX = 100

const useOrderKey = (order_id: string) => [...useTeam().key, 'order', order_id] as const

export function useOrder(order_id: string) {
  const { api } = useTeam()
  return useQuery({
    queryKey: [...useOrderKey(order_id), 'order'],
    queryFn: (context) =>
      dataOf(
        api.GET('/v3/order/{order_id}', {
          params: { path: { order_id } },
          signal: context.signal,
          headers: refreshHeaders(context),
        }),
      ),
    refetchInterval: ({ state }) => refreshInterval(state.data?.status),
  })
}

export function useProgress(order_id: string) {
  const { api } = useTeam()
  return useQuery({
    queryKey: [...useOrderKey(order_id), 'progress'],
    queryFn: (context) =>
      dataOf(
        api.GET('/console/v1/orders/{order_id}/progress', {
          params: { path: { order_id } },
          signal: context.signal,
          headers: refreshHeaders(context),
        }),
      ),
    refetchInterval: ({ state }) => refreshInterval(state.data?.steps.find(({ phase }) => phase === 'current')?.state),
  })
}

/** The events that were sent about the order, newest first, with the states of their deliveries. */
export function useOrderEvents(order_id: string, isPermitted: boolean) {
  const { api } = useTeam()
  return useQuery({
    queryKey: [...useOrderKey(order_id), 'events'],
    queryFn: isPermitted
      ? (context) =>
          dataOf(
            api.GET('/console/v1/events', {
              params: { query: { object_id: order_id, limit: EVENTS_MAX } },
              signal: context.signal,
              headers: refreshHeaders(context),
            }),
          )
      : skipToken,
    refetchInterval: REFRESH_MS,
  })
}

/** @param hasResult an order without a report has no result to read */
export function useResults(order_id: string, hasResult: boolean) {
  const { api } = useTeam()
  return useQuery({
    queryKey: [...useOrderKey(order_id), 'results'],
    queryFn: hasResult
      ? ({ signal }) => dataOf(api.GET('/v3/order/{order_id}/result', { params: { path: { order_id } }, signal }))
      : skipToken,
  })
}

/** The laboratory's own documents of the result. */
export function useResultDocuments({ id }: Order) {
  const { api } = useTeam()
  const isPermitted = usePermission('list_lab_test_result_documents')
  return useQuery({
    queryKey: [...useOrderKey(id), 'documents'],
    queryFn: isPermitted
      ? ({ signal }) => dataOf(api.GET('/v3/order/{order_id}/result/documents', { params: { path: { order_id: id } }, signal }))
      : skipToken,
    select: ({ documents }) => documents,
  })
}

export function useOrderMessages(order_id: string) {
  const { api } = useTeam()
  return useQuery({
    queryKey: [...useOrderKey(order_id), 'messages'],
    queryFn: ({ signal }) => dataOf(api.GET('/v3/order/{order_id}/messages', { params: { path: { order_id } }, signal })),
  })
}

/** Requests for the access log of one order: each reads a few files of archived days. */
const ACCESS_PAGES_MAX = 10

/** Who has read or changed the order, newest first, and whether there may be older lines. */
export function useOrderAccess({ id, user_id }: Order, isPermitted: boolean) {
  const { api, org_id, team, environment } = useTeam()
  const path = { org_id, team_id: team.id, environment }
  return useQuery({
    queryKey: [...useOrderKey(id), 'access'],
    queryFn: isPermitted
      ? async ({ signal }) => {
          const readPage = (next_cursor: string | null) => {
            const query = { user_id, object_id: id, limit: EVENTS_MAX, ...(next_cursor !== null && { next_cursor }) }
            return dataOf(
              api.GET('/v1/org/{org_id}/team/{team_id}/{environment}/access_log', { params: { path, query }, signal }),
            )
          }
          let { data: lines, next_cursor } = await readPage(null)
          for (let pages = 1; pages < ACCESS_PAGES_MAX && next_cursor !== null && lines.length < EVENTS_MAX; pages++) {
            const page = await readPage(next_cursor)
            lines = [...lines, ...page.data]
            next_cursor = page.next_cursor
          }
          return { lines, hasMore: next_cursor !== null }
        }
      : skipToken,
  })
}

/** A function that reads the order again after it was changed here. */
export function useOrderRefresh(order_id: string): () => Promise<void> {
  const queryClient = useQueryClient()
  const { key } = useTeam()
  const orderKey = useOrderKey(order_id)
  return async () => {
    await queryClient.invalidateQueries({ queryKey: orderKey })
    await queryClient.invalidateQueries({ queryKey: [...key, 'orders'], refetchType: 'none' })
  }
}
