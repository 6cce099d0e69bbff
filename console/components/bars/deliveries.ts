import { useQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useTeam } from '../../session/team.ts'
import type { DayCounts } from './DailySection.tsx'

export type Outcome = 'success' | 'failure'
type Metric = components['schemas']['PrometheusQueryResponse']

const DAYS = 30
const DAY_MS = 86_400_000

/** Attempts to deliver events in 30 days, by day and outcome. */
export function useDeliveriesByDay() {
  const { api, key, org_id, team, environment } = useTeam()
  return useQuery({
    queryKey: [...key, 'deliveries-by-day'],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/v1/org/{org_id}/team/{team_id}/{environment}/event_delivery_metric', {
          params: { path: { org_id, team_id: team.id, environment }, query: { interval: '1d' } },
          signal,
        }),
      ),
    select: toDays,
  })
}

/** The counts of the last 30 days. The metric leaves out days without attempts. */
function toDays({ data }: Metric): DayCounts<Outcome>[] {
  const today_ms = Math.floor(Date.now() / DAY_MS) * DAY_MS
  return Array.from({ length: DAYS }, (_, index) => {
    const start_ms = today_ms - (DAYS - 1 - index) * DAY_MS
    const count = (outcome: Outcome): number =>
      data.result
        .filter(({ metric }) => metric.outcome === outcome)
        .flatMap(({ values }) => values)
        .filter(([at_s]) => Math.floor((Number(at_s) * 1000) / DAY_MS) * DAY_MS === start_ms)
        .reduce((sum, [, value]) => sum + Number(value), 0)
    return {
      date: new Date(start_ms).toISOString().slice(0, 10),
      counts: { success: count('success'), failure: count('failure') },
    }
  })
}
