import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'
import type { OrderQuery } from './order-filters.ts'

export type OrderRow = components['schemas']['OrderRow']

/** Rows of a request: some screens of them. */
const PAGE_SIZE = 100

/** Orders that match the filters, newest first, page by page. The former list stays until the first page of another filter is there. */
export function useOrders(query: OrderQuery) {
  const { api, key } = useTeam()
  return useInfiniteQuery({
    queryKey: [...key, 'orders', query],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET('/console/v1/orders', {
          params: { query: { ...query, limit: PAGE_SIZE, ...(pageParam !== undefined && { next_cursor: pageParam }) } },
          signal,
        }),
      ),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  })
}
