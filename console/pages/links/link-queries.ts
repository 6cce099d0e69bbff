// Links to laboratories of the organization's accounts, in the environment and region of the page.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'

export type LabLink = components['schemas']['LabLink']
type ProfileFile = components['schemas']['LabLinkProfile']

/** The parameters of operations on the lab accounts of the page. */
export function useLinkScope() {
  const { org_id, environment, region } = useTeam()
  return { org_id, env: environment, region }
}

/** The links, oldest first. */
export function useLinks() {
  const { api, key } = useTeam()
  const path = useLinkScope()
  return useQuery({
    queryKey: [...key, 'lab links', 'list'],
    queryFn: ({ signal }) => dataOf(api.GET('/v1/org/{org_id}/lab_link/{env}/{region}', { params: { path }, signal })),
    select: ({ data }) => data,
    enabled: usePermission('get_lab_links'),
  })
}

/** The link of a lab account. */
export function useLink(account_id: string) {
  const { api, key } = useTeam()
  const path = { ...useLinkScope(), account_id }
  return useQuery({
    queryKey: [...key, 'lab links', account_id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/org/{org_id}/lab_link/{env}/{region}/{account_id}', { params: { path }, signal })),
    select: ({ lab_link }) => lab_link,
  })
}

/** What can be done with the link of a lab account. After a change the links are read again. */
export function useLinkChanges(account_id: string) {
  const { api, key } = useTeam()
  const queryClient = useQueryClient()
  const params = { path: { ...useLinkScope(), account_id } }
  const refresh = () => queryClient.invalidateQueries({ queryKey: [...key, 'lab links'] })
  return {
    /** The profile as a file, with masks in place of secrets. */
    exportProfile: () => dataOf(api.GET('/v1/org/{org_id}/lab_link/{env}/{region}/{account_id}/profile', { params })),
    async importProfile(body: ProfileFile): Promise<void> {
      await api.PUT('/v1/org/{org_id}/lab_link/{env}/{region}/{account_id}', { params, body })
      await refresh()
    },
    async setMode(mode: LabLink['mode'], team_id: string | undefined): Promise<void> {
      await api.PUT('/v1/org/{org_id}/lab_link/{env}/{region}/{account_id}/mode', {
        params,
        body: { mode, ...(team_id !== undefined && { team_id }) },
      })
      await refresh()
    },
  }
}

/** A lab account in words: its laboratory, and its number there. */
export const accountWords = ({ lab, account_number }: { lab: string; account_number: string }): string =>
  `${lab} · ${account_number}`
