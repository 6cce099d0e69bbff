// The values of the form of a broker, and what they become in requests.
import type { components } from '../../api/schema.d.ts'
import type { BrokerKind, Pipeline } from './broker-queries.ts'

export interface BrokerForm {
  kind: BrokerKind
  uri: string
  exchange: string
  connection_string: string
  default_event_hub: string
  project: string
  topic: string
  message_ordering: boolean
}

type Body = components['schemas']['UpsertTeamETLPipelinesBody']
type Matcher = components['schemas']['EventDestinationEventHubMatcher']

/** The broker as it is, with its secrets redacted; empty values for one that is not set. */
export const toForm = (pipeline: Pipeline | null, kind: BrokerKind): BrokerForm => ({
  kind,
  uri: pipeline?.rabbitmq?.uri ?? '',
  exchange: pipeline?.rabbitmq?.exchange ?? '',
  connection_string: pipeline?.azure_amqp?.connection_string ?? '',
  default_event_hub: pipeline?.azure_amqp?.default_event_hub ?? '',
  project: pipeline?.cloud_pubsub?.project ?? '',
  topic: pipeline?.cloud_pubsub?.topic ?? '',
  message_ordering: pipeline?.cloud_pubsub?.message_ordering ?? false,
})

/** The request that sets the broker and enables it. What else the pipeline has stays; a new one goes on sending to endpoints. */
export const toBody = (form: BrokerForm, pipeline: Pipeline | null): Body => ({
  ...toConnection(form, pipeline),
  preferences: enable(pipeline, form.kind),
})

function toConnection(form: BrokerForm, pipeline: Pipeline | null): Body {
  const { kind, uri, exchange, connection_string, default_event_hub, project, topic, message_ordering } = form
  if (kind === 'rabbitmq') return { rabbitmq: { uri: uri.trim(), exchange: exchange.trim() } }
  if (kind === 'cloud_pubsub') return { cloud_pubsub: { project: project.trim(), topic: topic.trim(), message_ordering } }
  const before = pipeline?.azure_amqp
  return {
    azure_amqp: {
      connection_string: connection_string.trim(),
      default_event_hub: default_event_hub.trim(),
      // Both are set by the API, and stay.
      event_hub_matchers: before?.event_hub_matchers.map(withoutNulls) ?? [],
      compression: before?.compression ?? 'auto',
    },
  }
}

const withoutNulls = (matcher: Matcher) => Object.fromEntries(Object.entries(matcher).filter(([, value]) => value !== null))

/** The preferences with the broker enabled. */
export function enable(pipeline: Pipeline | null, kind: BrokerKind): Pipeline['preferences'] {
  const { preferred, enabled } = pipeline?.preferences ?? { preferred: 'svix' as const, enabled: ['svix' as const] }
  return { preferred, enabled: [...new Set([...enabled, kind])] }
}

/** The preferences with the broker disabled; undefined if nothing would be left. */
export function disable(
  { preferences: { preferred, enabled } }: Pipeline,
  kind: BrokerKind,
): Pipeline['preferences'] | undefined {
  const others = enabled.filter((name) => name !== kind)
  const [first] = others
  return first && { preferred: preferred === kind ? first : preferred, enabled: others }
}

/** Where a broker is, without its secrets; undefined if it is not set. */
export function findAddress({ rabbitmq, azure_amqp, cloud_pubsub }: Pipeline, kind: BrokerKind): string | undefined {
  if (kind === 'rabbitmq') return rabbitmq ? `${rabbitmq.uri} · exchange ${rabbitmq.exchange || '(default)'}` : undefined
  if (kind === 'azure_amqp') return azure_amqp ? `${azure_amqp.connection_string} · ${azure_amqp.default_event_hub}` : undefined
  return cloud_pubsub ? `${cloud_pubsub.project} · topic ${cloud_pubsub.topic}` : undefined
}
