import type { Part } from './Bars.tsx'
import { DailySection } from './DailySection.tsx'
import { useDeliveriesByDay, type Outcome } from './deliveries.ts'

const PARTS: readonly Part<Outcome>[] = [
  { name: 'success', label: 'Delivered', tone: 'good' },
  { name: 'failure', label: 'Failed', tone: 'failed' },
]

/** Attempts to deliver events in 30 days, by outcome. */
export const DeliveriesByDay = () => (
  <DailySection
    id="deliveries-by-day"
    title="Event deliveries of 30 days"
    label="Attempts to deliver events by day"
    parts={PARTS}
    emptyText="No event was sent to an endpoint in these days"
    query={useDeliveriesByDay()}
  />
)
