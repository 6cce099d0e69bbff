import { operation, type Operation } from '../../platform/http/operation.ts'
import { Fields, Uuid } from '../../platform/schema/schema.ts'
import { features } from '../../tenancy/teams/features.ts'
import { assertSandbox } from '../clock/clock.ts'
import { catalogue } from './cases.ts'
import { CreateRehearsal, Rehearsal, RehearsalCases, RehearsalStarted } from './schema.ts'
import { getRehearsal, startRehearsal } from './unmatched-result-tests.ts'

export const routes: Operation[] = [
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
]
