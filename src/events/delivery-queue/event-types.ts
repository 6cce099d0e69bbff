// The types of operational messages, with samples; sent only to endpoints that subscribe to them by name. Source: events.md 6.8.
import type { EventType, SampleContext } from '../../platform/queue/event-type.ts'

const SAMPLE_ID = '0'.repeat(32)

const attemptReport = ({ team_id, at_text }: SampleContext) => ({
  appId: team_id,
  appUid: null,
  endpointId: `ep_${SAMPLE_ID}`,
  msgId: `msg_${SAMPLE_ID}`,
  msgEventId: null,
  lastAttempt: { id: `atmpt_${SAMPLE_ID}`, responseStatusCode: 500, timestamp: at_text },
})

export const eventTypes: readonly EventType[] = [
  { name: 'message.attempt.exhausted', family: 'operational', sample: attemptReport },
  { name: 'message.attempt.failing', family: 'operational', sample: attemptReport },
  { name: 'message.attempt.recovered', family: 'operational', sample: attemptReport },
  {
    name: 'endpoint.disabled',
    family: 'operational',
    sample: ({ team_id, at_text }) => ({
      appId: team_id,
      appUid: null,
      endpointId: `ep_${SAMPLE_ID}`,
      endpointUid: null,
      failSince: at_text,
    }),
  },
]
