import { SimpleGrid } from '@mantine/core'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Page } from '../../components/Page.tsx'
import { useTeam } from '../../session/team.ts'
import { AttentionList } from './AttentionList.tsx'
import { Checklist } from './Checklist.tsx'
import { DeliveriesByDay } from '../../components/bars/DeliveriesByDay.tsx'
import { OrdersByDay } from './OrdersByDay.tsx'
import { useTeamMetrics } from './team-metrics.ts'
import { TeamTotals } from './TeamTotals.tsx'

/** What needs attention, what the team has, and what has happened; in a sandbox also the first steps. */
export function OverviewPage() {
  const { environment } = useTeam()
  const { data, error, refetch } = useTeamMetrics()
  return (
    <Page title="Overview">
      {environment === 'sandbox' && <Checklist />}
      <AttentionList />
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      <TeamTotals metrics={data} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <OrdersByDay />
        <DeliveriesByDay />
      </SimpleGrid>
    </Page>
  )
}
