import { dataOf } from '../../../api/client.ts'
import { useKeysetList } from '../../../api/keyset-list.ts'
import type { components } from '../../../api/schema.d.ts'
import { useTeam } from '../../../session/team.ts'

export type AuditLine = components['schemas']['AuditLine']

/** Whose changes are listed: of the team in the environment, of all teams in it, or of the organization outside of environments. */
export type AuditScope = 'team' | 'environment' | 'organization'

/** @param operation only lines of this operation */
export function useAudit(scope: AuditScope, operation: string | undefined) {
  const { api, key, org_id, team, environment, region } = useTeam()
  return useKeysetList({
    queryKey: [...key, 'audit', scope, operation ?? ''],
    readPage({ query: page, ...request }) {
      const query = { ...(operation !== undefined && { operation }), ...page }
      if (scope === 'team') {
        const path = { org_id, team_id: team.id, environment }
        return dataOf(api.GET('/v1/org/{org_id}/team/{team_id}/{environment}/audit', { params: { path, query }, ...request }))
      }
      if (scope === 'environment') {
        const path = { org_id, env: environment, region }
        return dataOf(api.GET('/v1/org/{org_id}/audit/{env}/{region}', { params: { path, query }, ...request }))
      }
      return dataOf(api.GET('/v1/org/{org_id}/audit', { params: { path: { org_id }, query }, ...request }))
    },
  })
}
