import { operation, outsideOperation } from '../platform/operation.ts'
import { Fields, Uuid } from '../platform/schema.ts'
import { advanceClock, assertSandbox, readClock, type World } from './clock.ts'
import { AdvanceClock, AdvancedClock, Clock, SimulateQuery, SimulationFlags, SimulationStarted } from './schema.ts'
import { startSimulation } from './simulate.ts'

export const routes = (world: World) => [
  operation({
    id: 'order_process_simulate',
    method: 'POST',
    path: '/v3/order/{order_id}/test',
    summary: 'Simulate the life of an order',
    description: 'Sandbox only. The steps follow in the background, each with its event.',
    params: Fields({ order_id: Uuid }),
    query: SimulateQuery,
    body: SimulationFlags,
    body_optional: true,
    reply: SimulationStarted,
    example: { interpretation: 'normal' },
    run: (tx, { params, query, body }) => startSimulation(tx, params.order_id, query, body ?? {}),
  }),
  operation({
    id: 'get_sandbox_clock',
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
  outsideOperation({
    id: 'advance_sandbox_clock',
    method: 'POST',
    path: '/v1/sandbox/clock/advance',
    summary: "Move the team's clock forward",
    description: 'Sandbox only. What falls due on the way runs in order, each at its own instant.',
    body: AdvanceClock,
    reply: AdvancedClock,
    example: { seconds: 86400 },
    run: ({ tenant, cells }, { body }) => advanceClock(world, cells, tenant, body),
  }),
]
