import { skipToken, useQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'

export type ShadowComparison = components['schemas']['ShadowComparison']
export type ShadowOrder = components['schemas']['ShadowOrder']
export type ShadowDifference = components['schemas']['ShadowDifference']

/** The team's results over the link of an account in mode shadow, compared with those that staff entered. Each reading is in the access log. */
export function useShadow(account_id: string | undefined) {
  const { api, key, org_id, team, environment } = useTeam()
  return useQuery({
    queryKey: [...key, 'shadow results', account_id],
    queryFn:
      account_id === undefined
        ? skipToken
        : ({ signal }) =>
            dataOf(
              api.GET('/v1/org/{org_id}/team/{team_id}/{environment}/lab_link/{account_id}/shadow', {
                params: { path: { org_id, team_id: team.id, environment, account_id } },
                signal,
              }),
            ),
  })
}
