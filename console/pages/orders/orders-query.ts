import { dataOf } from '../../api/client.ts'
import { useKeysetList } from '../../api/keyset-list.ts'
import type { components } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'
import type { OrderQuery } from './order-filters.ts'

export type OrderRow = components['schemas']['OrderRow']

/** Orders that match the filters, newest first. */
export function useOrders(query: OrderQuery) {
  const { api, key } = useTeam()
  return useKeysetList({
    queryKey: [...key, 'orders', query],
    readPage: ({ query: page, ...request }) =>
      dataOf(api.GET('/console/v1/orders', { params: { query: { ...query, ...page } }, ...request })),
  })
}
