import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { dataOf, type Api } from '../../../api/client.ts'
import type { components } from '../../../api/schema.d.ts'
import { usePermission } from '../../../session/permissions.ts'
import { useTeam } from '../../../session/team.ts'

export type LabAccount = components['schemas']['LabAccount']
export type LabAccountTerms = components['schemas']['UpsertLabAccount']
export type OrganizationTeam = components['schemas']['TeamItem']

/** Pages of teams that are read at most. */
const TEAM_PAGES_MAX = 20

const useAccountsKey = () => [...useTeam().key, 'lab accounts'] as const
const useCell = () => {
  const { org_id, environment, region } = useTeam()
  return { org_id, env: environment, region }
}

/** The lab accounts that the member may see in the environment and region of the page, newest first. */
export function useLabAccounts() {
  const { api } = useTeam()
  const path = useCell()
  return useQuery({
    queryKey: useAccountsKey(),
    queryFn: ({ signal }) => dataOf(api.GET('/v1/org/{org_id}/lab_account/{env}/{region}', { params: { path }, signal })),
    select: ({ data }) => data,
  })
}

/** The laboratories of the team. */
export function useLabs() {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'labs'],
    queryFn: ({ signal }) => dataOf(api.GET('/v3/lab_tests/labs', { signal })),
  })
}

/** The teams of the organization in the region of the page. */
export function useRegionTeams() {
  const { api, key, org_id, region } = useTeam()
  return useQuery({
    queryKey: [...key, 'teams of the region'],
    queryFn: ({ signal }) => readTeams(api, org_id, region, signal),
    enabled: usePermission('list_teams_in_org'),
  })
}

async function readTeams(api: Api, org_id: string, region: 'us' | 'eu', signal: AbortSignal): Promise<OrganizationTeam[]> {
  const teams: OrganizationTeam[] = []
  let next_cursor: string | null | undefined
  for (let page = 0; page < TEAM_PAGES_MAX && next_cursor !== null; page++) {
    const query = { region: [region], ...(next_cursor !== undefined && { next_cursor }) }
    const reply = await dataOf(api.GET('/v1/org/{org_id}/team', { params: { path: { org_id }, query }, signal }))
    teams.push(...reply.teams)
    next_cursor = reply.next_cursor
  }
  return teams
}

/** Creates the account of an id, or replaces it; in sandboxes. */
export function useSaveLabAccount(onSaved: () => void) {
  const { api } = useTeam()
  const [path, queryKey, queryClient] = [useCell(), useAccountsKey(), useQueryClient()]
  return useMutation({
    mutationFn: ({ account_id, terms }: { account_id: string; terms: LabAccountTerms }) =>
      dataOf(
        api.PUT('/v1/org/{org_id}/lab_account/{env}/{region}/{account_id}', {
          params: { path: { ...path, account_id } },
          body: terms,
        }),
      ),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey })
      onSaved()
    },
  })
}

/** Replaces the teams that an account is linked to. */
export function useLinkTeams(account_id: string, onLinked: () => void) {
  const { api } = useTeam()
  const [path, queryKey, queryClient] = [useCell(), useAccountsKey(), useQueryClient()]
  return useMutation({
    mutationFn: (team_id_allowlist: string[]) =>
      dataOf(
        api.PATCH('/v1/org/{org_id}/lab_account/{env}/{region}/{account_id}', {
          params: { path: { ...path, account_id } },
          body: { team_id_allowlist },
        }),
      ),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey })
      onLinked()
    },
  })
}
