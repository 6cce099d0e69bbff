import { skipToken, useQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import { refreshHeaders } from '../../api/refresh.ts'
import type { components } from '../../api/schema.d.ts'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'

export type AttentionCount = components['schemas']['AttentionCount']

/** Counts are read again this often while the page is open. */
const REFRESH_MS = 30_000

/** What needs attention, by kind, with those that count nothing. */
export function useAttention() {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'attention'],
    queryFn: (context) => dataOf(api.GET('/console/v1/attention', { signal: context.signal, headers: refreshHeaders(context) })),
    refetchInterval: REFRESH_MS,
  })
}

/** Open issues of links to laboratories, of the organization; only for those who may see them. */
export function useOpenIssues() {
  const { api, key, org_id, environment, region } = useTeam()
  const isPermitted = usePermission('count_lab_link_issues')
  return useQuery({
    queryKey: [...key, 'lab link issue count'],
    queryFn: isPermitted
      ? (context) =>
          dataOf(
            api.GET('/v1/org/{org_id}/lab_link_issue_count/{env}/{region}', {
              params: { path: { org_id, env: environment, region } },
              signal: context.signal,
              headers: refreshHeaders(context),
            }),
          )
      : skipToken,
    refetchInterval: REFRESH_MS,
  })
}
