import { managementOperation, type Operation } from '../../platform/http/operation.ts'
import { readRetention, setRetention, type ProviderLimits } from './retention-rules.ts'
import { previewRetention } from './retention-preview.ts'
import { DataRetention, RetentionPreview, Rules, TeamScopeParams } from './schema.ts'

const PATH = '/v1/org/{org_id}/team/{team_id}/{environment}/data_retention' as const
const ofTeam = { scope: 'team', keyScope: 'bound', params: TeamScopeParams, path: PATH, logsAccess: false } as const

export const retentionRoutes = (limits: ProviderLimits): Operation[] => [
  managementOperation({
    ...ofTeam,
    id: 'get_data_retention',
    method: 'GET',
    summary: 'Show how long health data is kept',
    description: 'Without a rule for its resource, a rule for all resources or a limit of its provider, data is kept.',
    reply: DataRetention,
    run: (tx) => readRetention(tx, limits),
  }),
  managementOperation({
    ...ofTeam,
    id: 'set_data_retention',
    method: 'PUT',
    summary: 'Set how long health data is kept',
    description:
      'Replaces all rules. Summaries and samples that are older are deleted within about an hour, without events; such data is dropped when it arrives.',
    body: Rules,
    reply: DataRetention,
    example: {
      rules: [
        { resource: null, days: 1095 },
        { resource: 'heartrate', days: 365 },
      ],
    },
    run: (tx, { body }) => setRetention(tx, body, limits),
  }),
  managementOperation({
    ...ofTeam,
    id: 'preview_data_retention',
    reads: true,
    method: 'POST',
    path: `${PATH}/preview`,
    summary: 'Count what rules of retention would delete',
    description: 'By the clock of the team. Nothing is set or deleted.',
    body: Rules,
    reply: RetentionPreview,
    example: { rules: [{ resource: 'heartrate', days: 365 }] },
    run: (tx, { body }) => previewRetention(tx, body, limits),
  }),
]
