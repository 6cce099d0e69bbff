// The keys of the team in this environment, and the management keys of the organization.
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../../api/client.ts'
import type { components } from '../../../api/schema.d.ts'
import { useSession } from '../../../session/session.ts'
import { useTeam } from '../../../session/team.ts'

export type TeamKey = components['schemas']['TeamApiKey']
export type ManagementKey = components['schemas']['ManagementKey']
export type NewManagementKey = components['schemas']['CreateManagementKey']

const TEAM_KEYS = 'keys'
const managementKeys = (org_id: string) => ['organization', org_id, 'management keys'] as const

/** The keys of the team in the environment of the page, newest first. */
export function useTeamKeys() {
  const { key, org_id, team, environment, region } = useTeam()
  return useInfiniteQuery({
    queryKey: [...key, TEAM_KEYS],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET('/v1/org/{org_id}/team_api_keys/{env}/{region}', {
          params: {
            path: { org_id, env: environment, region },
            query: { team_id: team.id, ...(pageParam !== undefined && { next_cursor: pageParam }) },
          },
          signal,
        }),
      ),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    select: ({ pages }) => pages.flatMap(({ api_keys }) => api_keys),
  })
}

/** Returns a function that creates a key. Its text is in the response alone, which no cache keeps. */
export function useCreateTeamKey(): (label: string) => Promise<string> {
  const { key, org_id, team, environment, region } = useTeam()
  const queryClient = useQueryClient()
  return async (label) => {
    const { value } = await dataOf(
      api.POST('/v1/org/{org_id}/team_api_keys/{env}/{region}', {
        params: { path: { org_id, env: environment, region } },
        body: { label, team_id: team.id },
      }),
    )
    await queryClient.invalidateQueries({ queryKey: [...key, TEAM_KEYS] })
    return value
  }
}

/** Returns a function that deletes a key. */
export function useDeleteTeamKey(): (key_id: string) => Promise<void> {
  const { key, org_id, environment, region } = useTeam()
  const queryClient = useQueryClient()
  return async (key_id) => {
    await api.DELETE('/v1/org/{org_id}/team_api_keys/{env}/{region}', {
      params: { path: { org_id, env: environment, region }, query: { api_key_id: [key_id] } },
    })
    await queryClient.invalidateQueries({ queryKey: [...key, TEAM_KEYS] })
  }
}

/** The management keys of the organization, newest first. */
export function useManagementKeys() {
  const { org } = useSession()
  return useInfiniteQuery({
    queryKey: managementKeys(org.id),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET('/v1/org/{org_id}/management_key', {
          params: { path: { org_id: org.id }, query: { ...(pageParam !== undefined && { next_cursor: pageParam }) } },
          signal,
        }),
      ),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    select: ({ pages }) => pages.flatMap(({ data }) => data),
  })
}

/** Functions that change management keys. The texts of keys are in responses alone, which no cache keeps. */
export function useManagementKeyChanges() {
  const { org } = useSession()
  const queryClient = useQueryClient()
  const refresh = () => queryClient.invalidateQueries({ queryKey: managementKeys(org.id) })
  return {
    async create(body: NewManagementKey): Promise<string> {
      const { key } = await dataOf(api.POST('/v1/org/{org_id}/management_key', { params: { path: { org_id: org.id } }, body }))
      await refresh()
      return key
    },
    async rotate(key_id: string, overlap_seconds: number): Promise<string> {
      const { key } = await dataOf(
        api.POST('/v1/org/{org_id}/management_key/{key_id}/rotate', {
          params: { path: { org_id: org.id, key_id } },
          body: { overlap_seconds },
        }),
      )
      await refresh()
      return key
    },
    async remove(key_id: string): Promise<void> {
      await api.DELETE('/v1/org/{org_id}/management_key/{key_id}', { params: { path: { org_id: org.id, key_id } } })
      await refresh()
    },
  }
}
