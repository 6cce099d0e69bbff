import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { dataOf } from '../../../api/client.ts'
import type { components } from '../../../api/schema.d.ts'
import { useTeam } from '../../../session/team.ts'

export type RetentionRule = components['schemas']['DataRetentionRule']
export type Retention = components['schemas']['DataRetention']
export type RetentionPreview = components['schemas']['RetentionPreview']

const useRetentionKey = () => [...useTeam().key, 'retention'] as const
const useTeamPath = () => {
  const { org_id, team, environment } = useTeam()
  return { org_id, team_id: team.id, environment }
}

/** The rules of the team, and the limits that the operator has set for providers. */
export function useRetention() {
  const { api } = useTeam()
  const path = useTeamPath()
  return useQuery({
    queryKey: useRetentionKey(),
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/org/{org_id}/team/{team_id}/{environment}/data_retention', { params: { path }, signal })),
  })
}

/** Counts what rules would delete. */
export function useRetentionPreview() {
  const { api } = useTeam()
  const path = useTeamPath()
  return useMutation({
    mutationFn: (rules: RetentionRule[]) =>
      dataOf(
        api.POST('/v1/org/{org_id}/team/{team_id}/{environment}/data_retention/preview', { params: { path }, body: { rules } }),
      ),
  })
}

/** A function that replaces the rules of the team. */
export function useSetRetention(): (rules: RetentionRule[]) => Promise<void> {
  const { api } = useTeam()
  const [path, queryKey, queryClient] = [useTeamPath(), useRetentionKey(), useQueryClient()]
  return async (rules) => {
    const reply = await dataOf(
      api.PUT('/v1/org/{org_id}/team/{team_id}/{environment}/data_retention', { params: { path }, body: { rules } }),
    )
    queryClient.setQueryData(queryKey, reply)
  }
}
