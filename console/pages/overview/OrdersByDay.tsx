import { Skeleton, Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { useTeam } from '../../session/team.ts'
import { DailyBars, type Part } from './DailyBars.tsx'

/** The three states of an order that is under way are one part: the list of orders tells them apart. */
type OrderPart = 'open' | 'completed' | 'cancelled' | 'failed'

const PARTS: readonly Part<OrderPart>[] = [
  { name: 'open', label: 'Under way', tone: 'progress' },
  { name: 'completed', label: 'Completed', tone: 'good' },
  { name: 'cancelled', label: 'Cancelled', tone: 'neutral' },
  { name: 'failed', label: 'Failed', tone: 'failed' },
]

/** The orders of 30 days, by the day of their creation and their present state. */
export function OrdersByDay() {
  const { data, error, refetch } = useOrdersByDay()
  return (
    <section aria-labelledby="orders-by-day">
      <Stack gap="sm">
        <Title order={2} id="orders-by-day">
          Orders of 30 days
        </Title>
        {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {!data && !error && (
          <Delayed>
            <Skeleton height={206} />
          </Delayed>
        )}
        {data && <DailyBars label="Orders by day" parts={PARTS} days={data} emptyText="No orders in these days" />}
      </Stack>
    </section>
  )
}

function useOrdersByDay() {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'orders-by-day'],
    queryFn: ({ signal }) => dataOf(api.GET('/console/v1/orders_by_day', { signal })),
    select: ({ data }) =>
      data.map(({ date, received, collecting_sample, sample_with_lab, completed, cancelled, failed }) => ({
        date,
        counts: { open: received + collecting_sample + sample_with_lab, completed, cancelled, failed },
      })),
  })
}
