import { Text } from '@mantine/core'
import type { components } from '../api/schema.d.ts'
import { StatusBadge } from './StatusBadge.tsx'

/** How many destinations of an event have it, with the worst state deciding the color. */
export function DeliverySummary({ deliveries }: { deliveries: components['schemas']['DeliveryCounts'] }) {
  const { delivered, failed, pending, stopped } = deliveries
  const total = delivered + failed + pending + stopped
  if (total === 0)
    return (
      <Text span size="sm" c="dimmed">
        no endpoint
      </Text>
    )
  return (
    <StatusBadge tone={failed || stopped ? 'failed' : pending ? 'progress' : 'good'}>
      delivered {delivered}/{total}
    </StatusBadge>
  )
}
