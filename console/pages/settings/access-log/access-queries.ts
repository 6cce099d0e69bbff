import { useQuery } from '@tanstack/react-query'
import { dataOf } from '../../../api/client.ts'
import { useKeysetList } from '../../../api/keyset-list.ts'
import type { components } from '../../../api/schema.d.ts'
import { useTeam, type TeamScope } from '../../../session/team.ts'

export type AccessLine = components['schemas']['AccessLine']

export const accessKey = (key: TeamScope['key'], user_id: string) => [...key, 'access log', user_id] as const

/** Who has read or changed the data of a user, newest first. */
export function useUserAccess(user_id: string) {
  const { api, key, org_id, team, environment } = useTeam()
  const path = { org_id, team_id: team.id, environment }
  return useKeysetList({
    queryKey: accessKey(key, user_id),
    readPage: ({ query: page, ...request }) =>
      dataOf(
        api.GET('/v1/org/{org_id}/team/{team_id}/{environment}/access_log', {
          params: { path, query: { user_id, ...page } },
          ...request,
        }),
      ),
  })
}

/** When the log of the environment was last checked, and what that found; null: not yet. */
export function useLastCheck() {
  const { api, key, org_id, environment, region } = useTeam()
  return useQuery({
    queryKey: [...key, 'access log check'],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/v1/org/{org_id}/access_log_check/{env}/{region}', {
          params: { path: { org_id, env: environment, region } },
          signal,
        }),
      ),
    select: ({ last_check }) => last_check,
  })
}
