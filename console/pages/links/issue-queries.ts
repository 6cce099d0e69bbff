// What a person must look at on links.
import { useQueryClient } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import { useKeysetList } from '../../api/keyset-list.ts'
import type { components, operations } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'
import { useLinkScope } from './link-queries.ts'

export type LinkIssue = components['schemas']['LinkIssue']
export type IssueQuery = NonNullable<operations['list_lab_link_issues']['parameters']['query']>

const useIssuesKey = () => [...useTeam().key, 'lab link issues'] as const

/** Issues that match, newest first. They name orders, so each reading is in the access log, and the list is not read by itself. */
export function useIssues(query: IssueQuery) {
  const { api } = useTeam()
  const path = useLinkScope()
  return useKeysetList({
    queryKey: [...useIssuesKey(), query],
    readPage: ({ query: page, ...request }) =>
      dataOf(
        api.GET('/v1/org/{org_id}/lab_link_issue/{env}/{region}', {
          params: { path, query: { ...query, ...page } },
          ...request,
        }),
      ),
  })
}

/** A function that marks an issue as done. */
export function useFinishIssue(): (issue: LinkIssue, comment: string) => Promise<void> {
  const { api, key } = useTeam()
  const path = useLinkScope()
  const queryClient = useQueryClient()
  const issuesKey = useIssuesKey()
  return async ({ id }, comment) => {
    await api.POST('/v1/org/{org_id}/lab_link_issue/{env}/{region}/{issue_id}/done', {
      params: { path: { ...path, issue_id: id } },
      ...(comment && { body: { comment } }),
    })
    await queryClient.invalidateQueries({ queryKey: issuesKey })
    await queryClient.invalidateQueries({ queryKey: [...key, 'lab messages'], refetchType: 'none' })
  }
}
