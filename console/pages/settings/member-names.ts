import { useQuery } from '@tanstack/react-query'
import { dataOf, type Api } from '../../api/client.ts'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'

/** Pages of members that are read at most; further members are shown by their ids. */
const PAGES_MAX = 10
const STALE_MS = 300_000
const NOBODY: ReadonlyMap<string, string> = new Map()

/** Member → name, for logs. Empty for those who may not list the members of the organization, and until they are read. */
export function useMemberNames(): ReadonlyMap<string, string> {
  const { api, key, org_id } = useTeam()
  const isPermitted = usePermission('list_members_in_org')
  const { data } = useQuery({
    queryKey: [...key, 'member names'],
    queryFn: ({ signal }) => readNames(api, org_id, signal),
    enabled: isPermitted,
    staleTime: STALE_MS,
  })
  return data ?? NOBODY
}

async function readNames(api: Api, org_id: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  let next_cursor: string | null | undefined
  for (let page = 0; page < PAGES_MAX && next_cursor !== null; page++) {
    const query = next_cursor === undefined ? {} : { next_cursor }
    const reply = await dataOf(api.GET('/v1/org/{org_id}/member', { params: { path: { org_id }, query }, signal }))
    for (const { id, name } of reply.members) names.set(id, name)
    next_cursor = reply.next_cursor
  }
  return names
}
