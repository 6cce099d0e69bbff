import { operation, multiTransactionOperation, type Operation } from '../../platform/http/operation.ts'
import { advanceClock, assertSandbox, readClock, type ClockDependencies } from './team-clock.ts'
import { previewClock } from './preview.ts'
import { AdvanceClock, AdvancedClock, Clock, ClockPreview, ClockPreviewQuery } from './schema.ts'

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
  operation({
    id: 'preview_sandbox_clock',
    isUnlisted: true,
    logsAccess: false,
    method: 'GET',
    path: '/v1/sandbox/clock/preview',
    summary: 'List what advancing the clock will do',
    description:
      'Sandbox only. Changes nothing. The jobs that become due after `seconds`, or until `to`, by name; without either until the next one.',
    query: ClockPreviewQuery,
    reply: ClockPreview,
    run: (tx, { query }) => previewClock(tx, query),
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
