import { useQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'

export type User = components['schemas']['User']
export type UserInfo = components['schemas']['UserInfo']
type ConnectedProvider = components['schemas']['ConnectedProvider']
export type OrderRow = components['schemas']['OrderRow']

const ORDERS_MAX = 50
export const MESSAGES_MAX = 20

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

export interface UserSource {
  slug: string
  name: string
  status: ConnectedProvider['status']
  /** What is wrong with the connection. */
  fault: string | undefined
  created_on: string
  /** The time of the newest data of all resources; undefined: none has come. */
  newest_data: string | undefined
}

/** The connections of a user with their newest data. */
export function useUserSources(user_id: string) {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'user', user_id, 'sources'],
    async queryFn({ signal }): Promise<UserSource[]> {
      const [{ providers }, { data }] = await Promise.all([
        dataOf(api.GET('/v2/user/providers/{user_id}', { params: { path: { user_id } }, signal })),
        dataOf(api.GET('/v2/introspect/resources', { params: { query: { user_id } }, signal })),
      ])
      return providers.map(({ slug, name, status, created_on, error_details }) => ({
        slug,
        name,
        status,
        created_on,
        fault: error_details?.error_type,
        newest_data: newestOf(Object.values(data[0]?.provider[slug] ?? {})),
      }))
    },
  })
}

const newestOf = (resources: readonly { newest_data: string | null }[]): string | undefined =>
  resources
    .flatMap(({ newest_data }) => newest_data ?? [])
    .toSorted((a, b) => Date.parse(b) - Date.parse(a))
    .at(0)

/** The newest messages to a user. */
export function useUserMessages(user_id: string) {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'user', user_id, 'messages'],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/console/v1/messages', { params: { query: { user_id, limit: MESSAGES_MAX } }, signal })),
  })
}
