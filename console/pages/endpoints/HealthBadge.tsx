import { StatusBadge } from '../../components/StatusBadge.tsx'
import type { Tone } from '../../theme.ts'
import type { EndpointHealth } from './endpoint-queries.ts'

const STATES: Record<EndpointHealth['state'], { word: string; tone: Tone }> = {
  ok: { word: 'OK', tone: 'good' },
  failing: { word: 'Failing', tone: 'failed' },
  paused: { word: 'Paused after failures', tone: 'failed' },
  unreadable: { word: 'Unreadable secret', tone: 'failed' },
  disabled: { word: 'Disabled', tone: 'neutral' },
}

/** How an endpoint or a broker is doing, in a word. */
export function HealthBadge({ state }: { state: EndpointHealth['state'] }) {
  const { word, tone } = STATES[state]
  return <StatusBadge tone={tone}>{word}</StatusBadge>
}
