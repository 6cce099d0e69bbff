import { operation, multiTransactionOperation, type Operation } from '../../platform/http/operation.ts'
import { advanceClock, assertSandbox, readClock, type ClockDependencies } from './clock.ts'
import { AdvanceClock, AdvancedClock, Clock } from './schema.ts'

export const clockRoutes = (dependencies: ClockDependencies): Operation[] => [
  operation({
    id: 'get_sandbox_clock',
    logsAccess: false,
    method: 'GET',
    path: '/v1/sandbox/clock',
    summary: "Read the team's clock",
    description: 'Sandbox only.',
    reply: Clock,
    run: async (tx) => {
      assertSandbox(tx.tenant)
      return readClock(tx.tenant)
    },
  }),
  multiTransactionOperation({
    id: 'advance_sandbox_clock',
    logsAccess: false,
    method: 'POST',
    path: '/v1/sandbox/clock/advance',
    summary: "Advance the team's clock",
    description: 'Sandbox only. Jobs due within the interval run in order at their scheduled times.',
    body: AdvanceClock,
    reply: AdvancedClock,
    example: { seconds: 86400 },
    run: ({ tenant, cells }, { body }) => advanceClock(dependencies, cells, tenant, body),
  }),
]
