import { Skeleton, Stack, Title } from '@mantine/core'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { useDeliveriesByDay, type Outcome } from './deliveries.ts'
import { DailyBars, type Part } from './DailyBars.tsx'

const PARTS: readonly Part<Outcome>[] = [
  { name: 'success', label: 'Delivered', tone: 'good' },
  { name: 'failure', label: 'Failed', tone: 'failed' },
]

/** Attempts to deliver events in 30 days, by outcome. */
export function DeliveriesByDay() {
  const { data, error, refetch } = useDeliveriesByDay()
  return (
    <section aria-labelledby="deliveries-by-day">
      <Stack gap="sm">
        <Title order={2} id="deliveries-by-day">
          Event deliveries of 30 days
        </Title>
        {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {!data && !error && (
          <Delayed>
            <Skeleton height={206} />
          </Delayed>
        )}
        {data && (
          <DailyBars
            label="Attempts to deliver events by day"
            parts={PARTS}
            days={data}
            emptyText="No event was sent to an endpoint in these days"
          />
        )}
      </Stack>
    </section>
  )
}
