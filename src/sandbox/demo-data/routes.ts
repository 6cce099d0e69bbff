import { operation } from '../../platform/http/operation.ts'
import { connectDemo } from './demo-connections.ts'
import { DemoConnection, DemoConnectionStatus } from './schema.ts'

export const routes = [
  operation({
    id: 'connect_demo_provider',
    patients: true,
    method: 'POST',
    path: '/v2/link/connect/demo',
    summary: 'Connect a user of a sandbox to a provider whose data is made up',
    description:
      "30 days of history, then more every two hours of the team's clock. Users with the same `client_user_id` and time zone have the same data. A user has demo connections only, or none, and is deleted seven days after the first one.",
    body: DemoConnection,
    reply: DemoConnectionStatus,
    example: { user_id: '01890000-0000-7000-8000-000000000001', provider: 'fitbit' },
    run: (tx, { body }) => connectDemo(tx, body),
  }),
]
