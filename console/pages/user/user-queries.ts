import { useQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'

export type User = components['schemas']['User']
export type UserInfo = components['schemas']['UserInfo']
export type OrderRow = components['schemas']['OrderRow']

const ORDERS_MAX = 50

export function useUser(user_id: string) {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'user', user_id],
    queryFn: ({ signal }) => dataOf(api.GET('/v2/user/{user_id}', { params: { path: { user_id } }, signal })),
  })
}

/** The demographics of a user; null if none were set, which the row of the user in the list tells. */
export function useUserInfo(user_id: string) {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'user', user_id, 'info'],
    async queryFn({ signal }): Promise<UserInfo | null> {
      const { data } = await dataOf(api.GET('/console/v1/users', { params: { query: { search_input: user_id } }, signal }))
      if (data.find((row) => row.user_id === user_id)?.dob == null) return null
      return dataOf(api.GET('/v2/user/{user_id}/info/latest', { params: { path: { user_id } }, signal }))
    },
  })
}

/** The newest orders of a user. */
export function useUserOrders(user_id: string) {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'user', user_id, 'orders'],
    queryFn: ({ signal }) => dataOf(api.GET('/console/v1/orders', { params: { query: { user_id, limit: ORDERS_MAX } }, signal })),
  })
}
