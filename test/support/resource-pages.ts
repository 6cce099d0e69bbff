// The pages of docs/wearables: for each family of resources its fields, units, events, operations, and the providers that have it.
import type { OpenApiDocument } from '../../src/platform/http/openapi.ts'
import type { EventType } from '../../src/platform/queue/event-type.ts'
import { providerName } from '../../src/people/users/sources.ts'
import { connectors } from '../../src/connections/connectors/connectors.ts'
import { families, type Family } from './resource-families.ts'
import type { Resource } from '../../src/wearables/resources/resources.ts'
import { exampleSample } from '../../src/wearables/resources/sample-timeseries.ts'
import {
  isTimeseries,
  postedTimeseries,
  resourceNameOf,
  timeseriesOf,
  type TimeseriesName,
} from '../../src/wearables/resources/timeseries.ts'

interface Schema {
  type?: string | string[]
  format?: string
  enum?: unknown[]
  description?: string
  $ref?: string
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
}

const titles: Record<string, string> = {
  activity: 'Activity',
  sleep: 'Sleep',
  sleep_cycle: 'SleepCycle',
  workouts: 'Workout',
  body: 'Body',
  profile: 'Profile',
  meal: 'Meal',
  menstrual_cycle: 'MenstrualCycle',
  electrocardiogram: 'Electrocardiogram',
}
/** Fields that every summary has, or that describe its source. */
const COMMON = /^(id|user_id|source|source_.*|created_at|updated_at)$/

const code = (text: string): string => `\`${text}\``

function typeOf(schema: Schema): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1)!
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.enum) return schema.enum.map((value) => code(String(value))).join(', ')
  const types = [schema.type ?? 'object']
    .flat()
    .map((type) => (type === 'array' ? `list of ${typeOf(schema.items ?? {})}` : type))
  return types.map((type) => (type === 'string' ? (schema.format ?? type) : type)).join(' or ')
}

/** "number?" for "number or null". */
const shortTypeOf = (schema: Schema): string => typeOf(schema).replace(/^(\S+) or null$/, '$1?')

/** What no connector, phone or file brings: laboratories and providers without a connector have it. Reads of it are empty. */
const withoutSource: readonly string[] = ['cholesterol', 'ige', 'igg']

function providersOf(name: string): string {
  const resource = (isTimeseries(name) ? resourceNameOf(name) : name) as Resource
  const clouds = connectors.filter(({ resources }) => resources.includes(resource)).map(({ provider }) => providerName(provider))
  const isOfPhones = !isTimeseries(name) || (postedTimeseries as readonly string[]).includes(name)
  const sources = [...(isOfPhones ? ['phones'] : []), ...clouds]
  if (!withoutSource.includes(name)) return sources.join(', ') || 'with summaries and files'
  if (sources.length) throw new Error(`${name} has a source: ${sources.join(', ')}`)
  return 'no source yet'
}

const describeEvents = (name: TimeseriesName, eventTypes: readonly EventType[]): string => {
  const { event } = timeseriesOf(name)
  return eventTypes.some(({ resource }) => resource === event) ? code(`daily.data.${event}.*`) : 'none'
}

/** The fields of a sample that not every timeseries has. */
function moreOf(name: TimeseriesName): string {
  if (name === 'hypnogram') return ''
  const always = new Set(['timestamp', 'timezone_offset', 'id', 'type', 'unit', 'value', 'start', 'end'])
  return Object.keys(exampleSample(resourceNameOf(name), ''))
    .filter((field) => !always.has(field))
    .map(code)
    .join(', ')
}

function summarySection(name: string, { components }: OpenApiDocument, eventTypes: readonly EventType[]): string {
  const { properties = {} } = (components.schemas as Record<string, Schema>)[titles[name]!]!
  const rows = Object.entries(properties)
    .filter(([field]) => !COMMON.test(field))
    .map(([field, schema]) => `- ${code(field)} (${shortTypeOf(schema)})${schema.description ? `: ${schema.description}` : ''}`)
  const events = eventTypes.some(({ resource }) => resource === name) ? '' : ' Events: none.'
  return [`## ${code(name)}`, '', `Sources: ${providersOf(name)}.${events}`, '', ...rows, ''].join('\n')
}

function timeseriesSection(names: readonly TimeseriesName[], eventTypes: readonly EventType[]): string {
  const rows = names.map((name) => {
    const { unit, isInterval } = timeseriesOf(name)
    const fields = [unit, ...(isInterval ? ['interval'] : []), moreOf(name)].filter(Boolean).join(', ')
    return `- ${code(name)} (${fields}): ${providersOf(name)}`
  })
  const exceptions = names
    .map((name) => [code(name), describeEvents(name, eventTypes)] as const)
    .filter(([name, events]) => events !== `\`daily.data.${name.slice(1, -1)}.*\``)
    .map(([name, events]) => ` of ${name}: ${events}`)
    .join(';')
  return ['## Timeseries', '', ...(exceptions ? [`Events${exceptions}.`, ''] : []), ...rows, ''].join('\n')
}

function page(family: Family, document: OpenApiDocument, eventTypes: readonly EventType[]): string {
  return [
    `# ${family.title}`,
    '',
    'Generated; see [WEARABLES.md](../WEARABLES.md#resources).',
    '',
    ...family.summaries.map((name) => summarySection(name, document, eventTypes)),
    ...(family.timeseries.length ? [timeseriesSection(family.timeseries, eventTypes)] : []),
  ].join('\n')
}

/** Path → text. */
export const resourcePages = (document: OpenApiDocument, eventTypes: readonly EventType[]): Map<string, string> =>
  new Map(families.map((family) => [`docs/wearables/${family.file}.md`, page(family, document, eventTypes)]))
