import { operation } from '../../platform/http/operation.ts'
import { failDemoConnection, recordDemoSample } from './demo-actions.ts'
import { connectDemo } from './demo-connections.ts'
import {
  DemoConnection,
  DemoConnectionStatus,
  DemoFailure,
  DemoSample,
  FailedDemoConnection,
  RecordedDemoSample,
} from './schema.ts'

const demo = { logsAccess: true, method: 'POST' } as const

export const demoDataRoutes = [
  operation({
    ...demo,
    id: 'connect_demo_provider',
    path: '/v2/link/connect/demo',
    summary: 'Connect a user of a sandbox to a provider whose data is made up',
    description:
      "30 days of history, then more every two hours of the team's clock. Users with the same `client_user_id` and time zone have the same data. A user has demo connections only, or none, and is deleted seven days after the first one.",
    body: DemoConnection,
    reply: DemoConnectionStatus,
    example: { user_id: '01890000-0000-7000-8000-000000000001', provider: 'fitbit' },
    run: (tx, { body }) => connectDemo(tx, body),
  }),
  operation({
    ...demo,
    id: 'record_demo_sample',
    path: '/v1/sandbox/demo/sample',
    summary: 'Record a sample of a demo connection',
    description:
      'Sandbox only. Emits `daily.data.{resource}.created`; the same instant again with another value replaces the sample and emits `.updated`.',
    body: DemoSample,
    reply: RecordedDemoSample,
    example: { user_id: '01890000-0000-7000-8000-000000000001', provider: 'fitbit', resource: 'stress_level', value: 41 },
    run: (tx, { body }) => recordDemoSample(tx, body),
  }),
  operation({
    ...demo,
    id: 'fail_demo_connection',
    path: '/v1/sandbox/demo/error',
    summary: 'End a demo connection in an error',
    description:
      'Sandbox only. Emits `provider.connection.error`, as when a user or the cloud of a provider ends a consent. The user connects again to continue.',
    body: DemoFailure,
    reply: FailedDemoConnection,
    example: {
      user_id: '01890000-0000-7000-8000-000000000001',
      provider: 'fitbit',
      error_type: 'deregistered_per_provider',
    },
    run: (tx, { body }) => failDemoConnection(tx, body),
  }),
]
