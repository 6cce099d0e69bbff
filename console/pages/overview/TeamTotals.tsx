import { Skeleton } from '@mantine/core'
import { Delayed } from '../../components/Delayed.tsx'
import type { TeamMetrics } from './team-metrics.ts'
import classes from './TeamTotals.module.css'

const TOTALS = [
  ['Users', 'number_of_users'],
  ['Orders', 'number_of_ordered_tests'],
  ['Connected sources', 'number_of_connected_sources'],
  ['Failing sources', 'number_of_errored_connected_sources'],
] as const

/** The totals of the team; skeletons until they are there. */
export const TeamTotals = ({ metrics }: { metrics: TeamMetrics | undefined }) => (
  <dl className={classes.totals}>
    {TOTALS.map(([label, field]) => (
      <div key={field}>
        <dt>{label}</dt>
        <dd>{metrics ? metrics[field].toLocaleString() : <Placeholder />}</dd>
      </div>
    ))}
  </dl>
)

const Placeholder = () => (
  <Delayed>
    <Skeleton width={48} height={26} />
  </Delayed>
)
