import { useQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import type { operations } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'

export type TeamMetrics = operations['get_teams_metrics']['responses'][200]['content']['application/json']

/** How many users, orders and connections the team has in this environment. */
export function useTeamMetrics() {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'metrics'],
    queryFn: ({ signal }) => dataOf(api.GET('/v2/user/metrics', { signal })),
  })
}
