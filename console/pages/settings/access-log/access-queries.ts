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
