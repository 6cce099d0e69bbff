// Attempts at a destination over time, as bars.
import type { Bar, Part } from '../../components/bars/Bars.tsx'
import { formatMinute } from '../../components/times.ts'
import type { AttemptCounts } from './endpoint-queries.ts'

export type AttemptOutcome = 'delivered' | 'failed'

export const ATTEMPT_PARTS: readonly Part<AttemptOutcome>[] = [
  { name: 'delivered', label: 'Delivered', tone: 'good' },
  { name: 'failed', label: 'Failed', tone: 'failed' },
]

/** The bars of one destination; empty ones if it had no attempt. */
export function attemptBars({ starts, data }: AttemptCounts, destination_id: string): Bar<AttemptOutcome>[] {
  const own = data.find((counts) => counts.destination_id === destination_id)
  return starts.map((start, i) => ({
    label: formatMinute(new Date(start)),
    counts: { delivered: own?.delivered[i] ?? 0, failed: own?.failed[i] ?? 0 },
  }))
}
