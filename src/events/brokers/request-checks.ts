// Checks of a request on pipelines beyond its schema: addresses, projects, expressions that are not valid RE2, and packages that are not
// installed.
import { valueFault, type Fault, type Loc } from '../../platform/schema/fault.ts'
import { RuleError } from '../../platform/schema/request-validation.ts'
import { isInstalled } from '../../platform/runtime/optional-packages.ts'
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import { blobAddress, hubsAddress, rabbitAddress } from './broker-addresses.ts'
import type { Broker, UpsertPipelines } from './schema.ts'

/** The packages of a broker. An installation without such brokers need not have them. */
export const packagesOf: Record<Broker, readonly string[]> = {
  rabbitmq: ['amqplib'],
  azure_amqp: ['rhea', '@azure/storage-blob'],
  cloud_pubsub: ['@google-cloud/pubsub'],
}

export interface PipelineChecks {
  targets: TargetPolicy
  sandbox: boolean
  mayPublishTo: (project: string) => boolean
  /** Whether a package of a broker is installed. */
  hasPackage?: (name: string) => boolean
}

/** All field errors, in the order of the schema. Rejected patterns and addresses are not repeated: they hold secrets. */
export async function validatePipeline(
  body: UpsertPipelines,
  { targets, sandbox, mayPublishTo, hasPackage = isInstalled }: PipelineChecks,
): Promise<Fault[]> {
  const faults: Fault[] = []
  const addError = (loc: Loc, text: string) => faults.push(valueFault(['body', ...loc], text))
  const check = (loc: Loc, address: { tls: boolean; host: string } | RuleError) => {
    if (address instanceof RuleError) addError(loc, address.text)
    else if (!address.tls && !sandbox) addError(loc, 'must use TLS')
    else if (!targets.isNameAllowed(address.host, sandbox)) addError(loc, 'must be a public address')
  }
  const { cloud_pubsub, rabbitmq, azure_amqp: azure } = body
  if (cloud_pubsub && !mayPublishTo(cloud_pubsub.project))
    addError(
      ['cloud_pubsub', 'project'],
      'must be a project that the operator allows this organization to publish to (PUBSUB_PROJECTS)',
    )
  for (const broker of Object.keys(packagesOf) as Broker[]) {
    const missing = body[broker] ? packagesOf[broker].filter((name) => !hasPackage(name)) : []
    if (missing.length) addError([broker], `needs packages that the operator has to install: npm install ${missing.join(' ')}`)
  }
  if (rabbitmq) check(['rabbitmq', 'uri'], rabbitAddress(rabbitmq.uri))
  if (!azure) return faults
  check(['azure_amqp', 'connection_string'], hubsAddress(azure.connection_string))
  for (const [i, { event_type_regex, blob_storage }] of (azure.event_hub_matchers ?? []).entries()) {
    const at = ['azure_amqp', 'event_hub_matchers', i]
    if (event_type_regex !== undefined && !(await isRe2(event_type_regex)))
      addError([...at, 'event_type_regex'], 'must be a valid RE2 expression')
    if (blob_storage) check([...at, 'blob_storage', 'connection_string'], blobAddress(blob_storage.connection_string))
  }
  return faults
}

async function isRe2(pattern: string): Promise<boolean> {
  const { RE2JS } = await import('re2js')
  try {
    RE2JS.compile(pattern)
    return true
  } catch {
    return false
  }
}
