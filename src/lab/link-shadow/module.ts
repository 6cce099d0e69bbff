import { eraseTables } from '../../platform/db/erasure.ts'
import { notFound } from '../../platform/http/errors.ts'
import { managementOperation } from '../../platform/http/operation.ts'
import type { Module } from '../../platform/module/module.ts'
import { usableAccount } from '../accounts/account-selection.ts'
import { ShadowComparison, ShadowParams } from './schema.ts'
import { compareShadowResults } from './shadow-comparison.ts'
import { eraseShadowResults, shadowResultCleanup } from './shadow-results.ts'

export const linkShadow: Module = {
  name: 'lab/link-shadow',
  about: 'results of links that are not live yet, compared with those that staff enter',
  tag: 'labs',
  tables: { ofTeams: ['lab_shadow_result'] },
  operations: [
    managementOperation({
      id: 'get_lab_link_shadow',
      logsAccess: true,
      method: 'GET',
      path: '/v1/org/{org_id}/team/{team_id}/{environment}/lab_link/{account_id}/shadow',
      scope: 'team',
      keyScope: 'bound',
      summary: 'Compare the results of a link in mode shadow with those that staff entered',
      description:
        'Results that came over the link while it was in mode `shadow`, or in `live_for_team` for another team, are matched to orders and shown nowhere else. Of the 200 orders with the newest messages.',
      params: ShadowParams,
      reply: ShadowComparison,
      run: async (tx, { params }) => {
        if (!(await usableAccount(tx, params.account_id))) throw notFound('Lab account not found')
        return compareShadowResults(tx, params.account_id)
      },
    }),
  ],
  periodicTasks: [shadowResultCleanup],
  erasers: { user: eraseShadowResults, team: eraseTables('lab_shadow_result') },
}
