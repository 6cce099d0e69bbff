import { operation, type Operation } from '../../platform/http/operation.ts'
import { Fields, Uuid } from '../../platform/schema/schema.ts'
import { unmatchedResultTests } from './features.ts'
import { assertSandbox } from '../clock/team-clock.ts'
import { listCases } from './cases.ts'
import { CreateUnmatchedResultTest, UnmatchedResultTest, UnmatchedResultTestCases, UnmatchedResultTestStarted } from './schema.ts'
import { getUnmatchedResultTest, startUnmatchedResultTest } from './unmatched-result-tests.ts'

export const unmatchedResultsRoutes: Operation[] = [
  operation({
    id: 'list_unmatched_result_test_case_catalog',
    logsAccess: false,
    method: 'GET',
    path: '/v3/unmatched_result_test/case',
    summary: 'List unmatched-result test cases',
    description: 'Sandbox only.',
    feature: unmatchedResultTests,
    reply: UnmatchedResultTestCases,
    run: async (tx) => {
      assertSandbox(tx.tenant)
      return listCases()
    },
  }),
  operation({
    id: 'create_unmatched_result_test',
    logsAccess: true,
    method: 'POST',
    path: '/v3/unmatched_result_test',
    summary: 'Start an unmatched-result test',
    description: 'Sandbox only. Orders, result and review follow in the background.',
    feature: unmatchedResultTests,
    body: CreateUnmatchedResultTest,
    reply: UnmatchedResultTestStarted,
    success: 202,
    idempotency: { scope: 'unmatched_result_test', retention_s: 14 * 86_400, required: true, bindsToBody: true },
    example: { case: 'match_completed', order_source: 'managed' },
    run: (tx, { body }) => startUnmatchedResultTest(tx, body),
  }),
  operation({
    id: 'get_unmatched_result_test',
    logsAccess: true,
    method: 'GET',
    path: '/v3/unmatched_result_test/{run_id}',
    summary: 'Get an unmatched-result test run',
    description: 'Sandbox only.',
    feature: unmatchedResultTests,
    params: Fields({ run_id: Uuid }),
    reply: UnmatchedResultTest,
    run: (tx, { params }) => getUnmatchedResultTest(tx, params.run_id),
  }),
]
