// The settings of the team in the environment of the page, which several sections show and change.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { fieldMessage } from '../../api/api-error.ts'
import { dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'

export type TeamSettings = components['schemas']['TeamEnvironment']
export type TeamSettingsChange = components['schemas']['UpdateTeamEnvironment']

const useSettingsKey = () => [...useTeam().key, 'team settings'] as const

/** The settings; null if the team is not in this environment. */
export function useTeamSettings() {
  const { api, org_id, team, environment } = useTeam()
  return useQuery({
    queryKey: useSettingsKey(),
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/v1/org/{org_id}/team/{team_id}', {
          params: { path: { org_id, team_id: team.id }, query: { include_environment: [environment] } },
          signal,
        }),
      ),
    select: (reply): TeamSettings | null => reply[environment],
  })
}

/** Changes the settings that are named, and reads all again. */
export function useSaveTeamSettings() {
  const { api, org_id, team, environment } = useTeam()
  const queryClient = useQueryClient()
  const queryKey = useSettingsKey()
  return useMutation({
    mutationFn: (change: TeamSettingsChange) =>
      dataOf(
        api.PATCH('/v1/org/{org_id}/team/{team_id}', {
          params: { path: { org_id, team_id: team.id } },
          body: { [environment]: change },
        }),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey }),
  })
}

/** A function that tells what a 422 response says about a setting, for example `logo_url`. */
export function useSettingErrors(error: Error | null): (name: string) => string | undefined {
  const { environment } = useTeam()
  return (name) => fieldMessage(error, `body.${environment}.${name}`)
}
