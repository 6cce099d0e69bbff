// The teams of the organization, and the settings of one.
import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../../api/client.ts'
import type { components } from '../../../api/schema.d.ts'
import { refreshSession, useSession } from '../../../session/session.ts'

export type TeamItem = components['schemas']['TeamItem']
export type OrgTeam = components['schemas']['OrganizationTeam']
export type TeamEnvironment = components['schemas']['TeamEnvironment']
export type NewTeam = components['schemas']['CreateTeam']
export type TeamChange = components['schemas']['UpdateTeam']
export const ENVIRONMENTS = ['sandbox', 'production'] as const
export type Environment = (typeof ENVIRONMENTS)[number]

const teamsKey = (org_id: string) => ['organization', org_id, 'teams'] as const
const listKey = (org_id: string) => [...teamsKey(org_id), 'list'] as const
const teamKey = (org_id: string, team_id: string) => [...teamsKey(org_id), 'one', team_id] as const

/** Teams whose name has the text, newest first. */
export function useTeams(search: string) {
  const { org } = useSession()
  return useInfiniteQuery({
    queryKey: [...listKey(org.id), search],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET('/v1/org/{org_id}/team', {
          params: {
            path: { org_id: org.id },
            query: { ...(search && { search_query: search }), ...(pageParam !== undefined && { next_cursor: pageParam }) },
          },
          signal,
        }),
      ),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    select: ({ pages }) => pages.flatMap(({ teams }) => teams),
    placeholderData: keepPreviousData,
  })
}

/** A team with its settings in both environments. It is forgotten with its page, since it may have been deleted there. */
export function useTeamSettings(team_id: string) {
  const { org } = useSession()
  return useQuery({
    queryKey: teamKey(org.id, team_id),
    gcTime: 0,
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/org/{org_id}/team/{team_id}', { params: { path: { org_id: org.id, team_id } }, signal })),
  })
}

/** Creates a team. The team switch has it at once. */
export function useCreateTeam() {
  const { org } = useSession()
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (body: NewTeam) => dataOf(api.POST('/v1/org/{org_id}/team', { params: { path: { org_id: org.id } }, body })),
    onSuccess: () => Promise.all([refreshSession(), queryClient.invalidateQueries({ queryKey: listKey(org.id) })]),
  })
}

/** Changes a team. */
export function useUpdateTeam(team_id: string) {
  const { org } = useSession()
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (body: TeamChange) =>
      dataOf(api.PATCH('/v1/org/{org_id}/team/{team_id}', { params: { path: { org_id: org.id, team_id } }, body })),
    async onSuccess(team, { name }) {
      queryClient.setQueryData(teamKey(org.id, team_id), team)
      if (name !== undefined) await Promise.all([refreshSession(), queryClient.invalidateQueries({ queryKey: listKey(org.id) })])
    },
  })
}

/** Returns a function that deletes a team, and leaves its page before it is read again. */
export function useDeleteTeam(): (team_id: string, leavePage: () => Promise<void> | void) => Promise<void> {
  const { org } = useSession()
  const queryClient = useQueryClient()
  return async (team_id, leavePage) => {
    await api.DELETE('/v1/org/{org_id}/team/{team_id}', { params: { path: { org_id: org.id, team_id } } })
    await refreshSession()
    await leavePage()
    await queryClient.invalidateQueries({ queryKey: listKey(org.id) })
  }
}
