// Redacts the secrets of destinations, and restores redacted secrets that a client sends back. Pure.
//
// A secret is kept only if the whole text equals the redacted one: a key is never sent to another address than its own.
import { badRequest } from '../../platform/http/errors.ts'
import { isRedacted, redactConnectionString, redactUri } from './broker-addresses.ts'
import type { Configured, Matcher, UpsertPipelines } from './schema.ts'

/** The destinations without passwords and keys. */
export function redactDestinations(settings: Configured): Configured {
  const { rabbitmq, azure_amqp } = settings
  return {
    ...settings,
    rabbitmq: rabbitmq && { ...rabbitmq, uri: redactUri(rabbitmq.uri) },
    azure_amqp: azure_amqp && {
      ...azure_amqp,
      connection_string: redactConnectionString(azure_amqp.connection_string),
      event_hub_matchers: azure_amqp.event_hub_matchers.map((matcher) => ({
        ...matcher,
        blob_storage: matcher.blob_storage && {
          ...matcher.blob_storage,
          connection_string: redactConnectionString(matcher.blob_storage.connection_string),
        },
      })),
    },
  }
}

/** @param candidates of the original text, the likeliest first */
function resolveRedacted(
  sentText: string,
  candidates: (string | undefined)[],
  redact: (text: string) => string,
  name: string,
): string {
  if (!isRedacted(sentText)) return sentText
  const found = candidates.find((text) => text !== undefined && redact(text) === sentText)
  if (found === undefined) throw badRequest(`${name} contains a redacted secret (***) and does not match the stored value`)
  return found
}

/**
 * Destinations after a change: omitted ones stay, the others are replaced as a whole, except for secrets that were sent back
 * redacted. 400: a redacted text that matches no stored secret.
 */
export function mergeDestinations(settings: Configured | undefined, request: UpsertPipelines): Configured {
  const { cloud_pubsub, rabbitmq, svix, azure_amqp: azure } = request
  return {
    cloud_pubsub: cloud_pubsub ?? settings?.cloud_pubsub ?? null,
    rabbitmq: rabbitmq
      ? { ...rabbitmq, uri: resolveRedacted(rabbitmq.uri, [settings?.rabbitmq?.uri], redactUri, 'rabbitmq.uri') }
      : (settings?.rabbitmq ?? null),
    svix: svix ? { regional: true } : (settings?.svix ?? null),
    azure_amqp: azure
      ? {
          connection_string: resolveRedacted(
            azure.connection_string,
            [settings?.azure_amqp?.connection_string],
            redactConnectionString,
            'azure_amqp.connection_string',
          ),
          default_event_hub: azure.default_event_hub,
          event_hub_matchers: (azure.event_hub_matchers ?? []).map((matcher) =>
            mergeMatcher(settings?.azure_amqp?.event_hub_matchers ?? [], matcher),
          ),
          compression: azure.compression ?? 'auto',
        }
      : (settings?.azure_amqp ?? null),
  }
}

type GivenMatcher = NonNullable<NonNullable<UpsertPipelines['azure_amqp']>['event_hub_matchers']>[number]

function mergeMatcher(
  matchers: Matcher[],
  { event_type_prefix, event_type_regex, event_hub, blob_storage }: GivenMatcher,
): Matcher {
  const storages = matchers.flatMap((matcher) => matcher.blob_storage ?? [])
  const { container_name } = blob_storage ?? {}
  const likely = [
    ...storages.filter((storage) => storage.container_name === container_name),
    ...storages.filter((storage) => storage.container_name !== container_name),
  ].map((storage) => storage.connection_string)
  return {
    event_type_prefix: event_type_prefix ?? null,
    event_type_regex: event_type_regex ?? null,
    event_hub: event_hub ?? null,
    blob_storage: blob_storage
      ? {
          ...blob_storage,
          connection_string: resolveRedacted(
            blob_storage.connection_string,
            likely,
            redactConnectionString,
            'blob_storage.connection_string',
          ),
        }
      : null,
  }
}
