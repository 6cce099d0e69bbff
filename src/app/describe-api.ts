// The OpenAPI document of the program: its operations in groups, and the events that it sends.
import { EventCatalog } from '../events/catalog/event-catalog.ts'
import { buildOpenApi, type OpenApiDocument } from '../platform/http/openapi.ts'
import type { Composition } from './compose.ts'

/** The groups of operations in the order in which the API page shows them: title and description. */
const TAGS: Record<string, readonly [string, string]> = {
  users: ['Users', 'The people whose tests are ordered and whose data is collected.'],
  orders: ['Orders', 'Orders of laboratory tests, from their creation to their result.'],
  catalog: ['Catalog', 'Laboratories, markers, lab tests and order sets.'],
  testkits: ['Test kits', 'Test kits: registration and shipments.'],
  results: ['Results', 'Results of orders as JSON and PDF.'],
  documents: ['Documents', 'Requisitions, labels, ABN forms and instructions of orders.'],
  'lab-reports': ['Lab reports', 'Uploaded laboratory reports, and what they say.'],
  psc: ['Service centers', 'Service centers: search and directory.'],
  scheduling: ['Scheduling', 'Schedules, availability and bookings at service centers.'],
  phlebotomy: ['Phlebotomy', 'Blood draws at the home of the patient.'],
  insurance: ['Insurance', 'Payors, diagnosis codes and the insurances of users.'],
  physicians: ['Physicians', 'The physicians of a team.'],
  labs: ['Lab accounts', 'Lab accounts of a team.'],
  matching: ['Matching of results', 'Incoming results, and their matching with orders.'],
  fulfillment: ['Fulfillment', 'The work queue of staff who process orders manually.'],
  messages: ['Messages', 'Messages to patients: templates, settings, and what was sent.'],
  link: ['Link', 'How a user connects a source: link tokens, the link page, OAuth, demo connections.'],
  connections: ['Connections', 'The connections of users to providers of health data.'],
  'mobile-sdk': ['Mobile SDK', 'What the mobile SDKs send.'],
  'file-imports': ['File imports', 'Files of health data that users bring along.'],
  summaries: ['Summaries', 'Summaries of days, nights, workouts, meals and the body.'],
  timeseries: ['Timeseries', 'Samples over time.'],
  streams: ['Streams', 'Streams of workouts and nights.'],
  devices: ['Devices', 'The devices that recorded the data of users.'],
  wearables: ['Queries and retention', 'The query language, continuous queries and retention of health data.'],
  introspection: ['Introspection', 'What data came in from which source, and what did not.'],
  webhooks: ['Webhooks', 'Events, webhook endpoints, messages and their deliveries.'],
  pipelines: ['Pipelines', 'Events to message brokers.'],
  ehr: ['EHR', 'EHR systems that receive results.'],
  simulator: ['Simulator', 'The sandbox: the clock of a team, simulated orders and results.'],
  management: ['Management', 'Organizations, teams, keys, members, and logs of what was done.'],
  console: ['Console', 'Sign-in of members to the console and their sessions, and what its pages show beside the other groups.'],
}

/** A fictional team, and the instant of the examples. */
const EXAMPLE = { team_id: '00000000-0000-4000-8000-000000000000', at_text: '2026-01-31T09:00:00.000Z' }

/** @throws Error if an operation belongs to a group that has no description */
export async function describeApi(
  { operations, eventTypes }: Pick<Composition, 'operations' | 'eventTypes'>,
  version: string,
): Promise<OpenApiDocument> {
  const used = new Set(operations.map(({ module }) => module))
  for (const tag of used) if (!Object.hasOwn(TAGS, tag)) throw new Error(`the group ${tag} of operations has no description`)
  const catalog = new EventCatalog(() => eventTypes)
  return buildOpenApi(operations, version, {
    tags: Object.entries(TAGS)
      .filter(([name]) => used.has(name))
      .map(([name, [title, description]]) => ({ name, 'x-displayName': title, description })),
    events: catalog.list().map(({ name, family }) => ({
      name,
      isOperational: family === 'operational',
      example: catalog.exampleBody(name, EXAMPLE),
    })),
  })
}
