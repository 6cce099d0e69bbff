import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { dataOf } from '../../../api/client.ts'
import type { components } from '../../../api/schema.d.ts'
import { useTeam } from '../../../session/team.ts'

export type Physician = components['schemas']['TeamPhysician']
export type NewPhysician = components['schemas']['AddPhysician']

const useTeamPath = () => {
  const { org_id, team, environment } = useTeam()
  return { org_id, team_id: team.id, environment }
}
const usePhysiciansKey = () => [...useTeam().key, 'physicians'] as const

/** The physicians who order for the team, in the order they were added. */
export function usePhysicians() {
  const { api } = useTeam()
  const path = useTeamPath()
  return useQuery({
    queryKey: usePhysiciansKey(),
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/org/{org_id}/team/{team_id}/{environment}/physician', { params: { path }, signal })),
    select: ({ physicians }) => physicians,
  })
}

export function useAddPhysician(onAdded: () => void) {
  const { api } = useTeam()
  const [path, queryKey, queryClient] = [useTeamPath(), usePhysiciansKey(), useQueryClient()]
  return useMutation({
    mutationFn: (body: NewPhysician) =>
      dataOf(api.POST('/v1/org/{org_id}/team/{team_id}/{environment}/physician', { params: { path }, body })),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey })
      onAdded()
    },
  })
}

/** A function that removes a physician. */
export function useRemovePhysician(): (physician_id: string) => Promise<void> {
  const { api } = useTeam()
  const [path, queryKey, queryClient] = [useTeamPath(), usePhysiciansKey(), useQueryClient()]
  return async (physician_id) => {
    await api.DELETE('/v1/org/{org_id}/team/{team_id}/{environment}/physician/{physician_id}', {
      params: { path: { ...path, physician_id } },
    })
    await queryClient.invalidateQueries({ queryKey })
  }
}
