import { operation, outsideOperation } from '../../platform/http/operation.ts'
import { Fields, Uuid } from '../../platform/schema/schema.ts'
import { features } from '../../tenancy/teams/features.ts'
import { advanceClock, assertSandbox, readClock, type World } from '../clock/clock.ts'
import { AdvanceClock, AdvancedClock, Clock, SimulateQuery, SimulationFlags, SimulationStarted } from './schema.ts'
import { catalogue } from '../unmatched-results/cases.ts'
import { CreateRehearsal, Rehearsal, RehearsalCases, RehearsalStarted } from '../unmatched-results/schema.ts'
import { getRehearsal, startRehearsal } from '../unmatched-results/unmatched-result-tests.ts'
import { startSimulation } from './simulate.ts'

export const routes = (world: World) => [
  operation({
    id: 'order_process_simulate',
    patients: true,
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
    id: 'list_unmatched_result_test_case_catalog',
    patients: false,
    method: 'GET',
    path: '/v3/unmatched_result_test/case',
    summary: 'List the cases of unmatched results that can be rehearsed',
    description: 'Sandbox only.',
    feature: features.unmatched_result_test,
    reply: RehearsalCases,
    run: async (tx) => {
      assertSandbox(tx.tenant)
      return catalogue()
    },
  }),
  operation({
    id: 'create_unmatched_result_test',
    patients: true,
    method: 'POST',
    path: '/v3/unmatched_result_test',
    summary: 'Bring about a result that cannot be matched',
    description: 'Sandbox only. Orders, result and review follow in the background.',
    feature: features.unmatched_result_test,
    body: CreateRehearsal,
    reply: RehearsalStarted,
    success: 202,
    idempotency: { scope: 'unmatched_result_test', retention_s: 14 * 86_400, required: true, one_body: true },
    example: { case: 'match_completed', order_source: 'managed' },
    run: (tx, { body }) => startRehearsal(tx, body),
  }),
  operation({
    id: 'get_unmatched_result_test',
    patients: true,
    method: 'GET',
    path: '/v3/unmatched_result_test/{run_id}',
    summary: 'Read how far a rehearsal of an unmatched result has come',
    description: 'Sandbox only.',
    feature: features.unmatched_result_test,
    params: Fields({ run_id: Uuid }),
    reply: Rehearsal,
    run: (tx, { params }) => getRehearsal(tx, params.run_id),
  }),
  operation({
    id: 'get_sandbox_clock',
    patients: false,
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
    patients: false,
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
