import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Page } from '../../components/Page.tsx'
import { TeamTotals } from './TeamTotals.tsx'
import { useTeamMetrics } from './team-metrics.ts'

/** What the team has, what needs attention, and what has happened. */
export function OverviewPage() {
  const { data, error, refetch } = useTeamMetrics()
  return (
    <Page title="Overview">
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      <TeamTotals metrics={data} />
    </Page>
  )
}
