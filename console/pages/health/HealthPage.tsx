import { Text } from '@mantine/core'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { DeliveriesByDay } from '../../components/bars/DeliveriesByDay.tsx'
import { ClockOffsetContext } from '../../components/now.ts'
import { Page } from '../../components/Page.tsx'
import { usePermissions } from '../../session/permissions.ts'
import { EndpointStates } from './EndpointStates.tsx'
import { FailingConnections } from './FailingConnections.tsx'
import { ServerSection } from './ServerSection.tsx'
import { TeamJobs } from './TeamJobs.tsx'

/** Jobs, deliveries and the server go by the system clock; connections fail by the clock of the team. */
const SERVER_CLOCK = 0

/** Whether everything runs: jobs, deliveries and connections of the team, and for administrators of the organization the server. */
export function HealthPage() {
  const isPermitted = usePermissions()
  return (
    <Page title="Health" actions={<CodeSamples request={{ method: 'GET', path: '/console/v1/attention' }} />}>
      <ClockOffsetContext value={SERVER_CLOCK}>
        {isPermitted('count_team_jobs') && <TeamJobs />}
        <DeliveriesByDay />
        {isPermitted('list_endpoint_health') && <EndpointStates />}
      </ClockOffsetContext>
      {isPermitted('list_failing_connections') && <FailingConnections />}
      <ClockOffsetContext value={SERVER_CLOCK}>
        {isPermitted('get_server_health') ? (
          <ServerSection />
        ) : (
          <Text size="sm" c="dimmed">
            Administrators of the organization see the server here too: its database, backups and versions.
          </Text>
        )}
      </ClockOffsetContext>
    </Page>
  )
}
