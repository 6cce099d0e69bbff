// Links to laboratories of the organization's accounts, in the environment and region of the page.
import { useQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'

/** The parameters of operations on the lab accounts of the page. */
export function useLinkScope() {
  const { org_id, environment, region } = useTeam()
  return { org_id, env: environment, region }
}

export function useLinks() {
  const { api, key } = useTeam()
  const path = useLinkScope()
  return useQuery({
    queryKey: [...key, 'lab links'],
    queryFn: ({ signal }) => dataOf(api.GET('/v1/org/{org_id}/lab_link/{env}/{region}', { params: { path }, signal })),
    select: ({ data }) => data,
    enabled: usePermission('get_lab_links'),
  })
}

/** A lab account in words: its laboratory, and its number there. */
export const accountWords = ({ lab, account_number }: { lab: string; account_number: string }): string =>
  `${lab} · ${account_number}`
