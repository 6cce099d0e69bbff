import { operation, type Operation } from '../../platform/http/operation.ts'
import { Fields, Uuid } from '../../platform/schema/schema.ts'
import { SimulateQuery, SimulationFlags, SimulationStarted } from './schema.ts'
import { startSimulation } from './simulate.ts'

export const simulatorRoutes: Operation[] = [
  operation({
    id: 'order_process_simulate',
    logsAccess: true,
    method: 'POST',
    path: '/v3/order/{order_id}/test',
    summary: 'Simulate the lifecycle of an order',
    description: 'Sandbox only. The steps follow in the background, each with its event.',
    params: Fields({ order_id: Uuid }),
    query: SimulateQuery,
    body: SimulationFlags,
    body_optional: true,
    reply: SimulationStarted,
    example: { interpretation: 'normal' },
    run: (tx, { params, query, body }) => startSimulation(tx, params.order_id, query, body ?? {}),
  }),
]
