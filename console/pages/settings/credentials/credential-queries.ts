import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { dataOf } from '../../../api/client.ts'
import { useKeysetList } from '../../../api/keyset-list.ts'
import type { components } from '../../../api/schema.d.ts'
import { useTeam } from '../../../session/team.ts'

export type Credential = components['schemas']['ClientFacingTeamProviderCredentials']
export type NewCredential = Omit<components['schemas']['UpsertTeamCustomCredentialsBody'], 'team_id'>
export type Provider = NewCredential['provider']
type PreparedProvider = components['schemas']['PrepareTeamCustomCredentialsBody']['provider']

const useCredentialsKey = () => [...useTeam().key, 'credentials'] as const
const useCell = () => {
  const { org_id, environment, region } = useTeam()
  return { org_id, env: environment, region }
}

/** The team's own credentials at providers, newest first, without their secrets. */
export function useCredentials() {
  const { api, team } = useTeam()
  const path = useCell()
  return useKeysetList({
    queryKey: useCredentialsKey(),
    readPage: ({ query: { next_cursor }, ...request }) =>
      dataOf(
        api.GET('/v1/org/{org_id}/team_custom_credentials/{env}/{region}', {
          params: { path, query: { team_id: [team.id], ...(next_cursor !== undefined && { next_cursor }) } },
          ...request,
        }),
      ),
  })
}

/** What has to be set at a provider before its credentials are used. */
export function usePreparation(provider: string) {
  const { api, key, team } = useTeam()
  const path = useCell()
  return useQuery({
    queryKey: [...key, 'preparation', provider],
    queryFn: ({ signal }) =>
      dataOf(
        api.POST('/v1/org/{org_id}/prepare_team_custom_credentials/{env}/{region}', {
          params: { path },
          body: { team_id: team.id, provider: provider as PreparedProvider },
          signal,
        }),
      ),
    select: ({ preparation_steps }) => preparation_steps,
    enabled: provider !== '',
    retry: false,
  })
}

/** Sets the credentials of a provider. The secret is not kept after the request. */
export function useSetCredential(onSet: () => void) {
  const { api, team } = useTeam()
  const [path, queryKey, queryClient] = [useCell(), useCredentialsKey(), useQueryClient()]
  return useMutation({
    gcTime: 0,
    mutationFn: (credential: NewCredential) =>
      dataOf(
        api.POST('/v1/org/{org_id}/team_custom_credentials/{env}/{region}', {
          params: { path },
          body: { ...credential, team_id: team.id },
        }),
      ),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey })
      onSet()
    },
  })
}

/** A function that deletes credentials. */
export function useDeleteCredential(): (credential_id: string) => Promise<void> {
  const { api } = useTeam()
  const [path, queryKey, queryClient] = [useCell(), useCredentialsKey(), useQueryClient()]
  return async (credential_id) => {
    await api.DELETE('/v1/org/{org_id}/team_custom_credentials/{env}/{region}', {
      params: { path, query: { credential_id: [credential_id] } },
    })
    await queryClient.invalidateQueries({ queryKey })
  }
}
