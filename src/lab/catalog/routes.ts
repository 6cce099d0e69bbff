import { managementOperation, operation, type Operation } from '../../platform/http/operation.ts'
import { Fields, Int, T, Text, Uuid } from '../../platform/schema/schema.ts'
import { approveLabTest, createLabTest, updateLabTest } from './lab-test-changes.ts'
import { listLabTestPage, listLabTests } from './lab-test-list.ts'
import { getLabTest } from './lab-tests.ts'
import { listLabs, labFilterFor, listedLabs, type LabAccess } from './labs.ts'
import { getMarker, listLabTestMarkers, listMarkers, listMarkersByIds } from './markers.ts'
import { resolveMembers } from './order-set-members.ts'
import {
  AccountQuery,
  CreateLabTest,
  Lab,
  LabTest,
  LabTestInCell,
  LabTestPage,
  LabTestPageQuery,
  LabTestQuery,
  Marker,
  MarkerPage,
  MarkerPageQuery,
  MarkersQuery,
  OrderSetRequest,
  PageQuery,
  UpdateLabTest,
} from './schema.ts'

const labTestParams = Fields({ lab_test_id: Uuid })

const inCatalog = { logsAccess: false, method: 'GET' } as const

/** `lab_account_id` narrows to the lab of the account. */
export const catalogRoutes = (access: LabAccess): Operation[] => [
  operation({
    ...inCatalog,
    id: 'get_labs',
    path: '/v3/lab_tests/labs',
    summary: 'List the labs that the team can order from',
    description: 'In a sandbox all labs; in production those with an identity at which the team has a lab account.',
    reply: T.Array(Lab),
    run: (tx) => listLabs(tx, access),
  }),
  operation({
    ...inCatalog,
    id: 'get_markers',
    path: '/v3/lab_tests/markers',
    summary: 'List the markers that can be ordered',
    description: '`lab_slug` takes precedence over `lab_id`. `name` searches names and test codes.',
    query: MarkersQuery,
    reply: MarkerPage,
    run: async (tx, { query }) => listMarkers(tx, query, await listedLabs(tx, access, query.lab_account_id)),
  }),
  operation({
    ...inCatalog,
    id: 'get_markers_for_test',
    path: '/v3/lab_tests/{lab_test_id}/markers',
    summary: 'List the markers of a lab test and the reflex markers they can lead to',
    params: labTestParams,
    query: MarkerPageQuery,
    reply: MarkerPage,
    run: async (tx, { params, query }) =>
      listLabTestMarkers(tx, params.lab_test_id, query, await listedLabs(tx, access, query.lab_account_id)),
  }),
  operation({
    id: 'get_markers_for_order_set',
    logsAccess: false,
    method: 'POST',
    path: '/v3/lab_tests/list_order_set_markers',
    summary: 'List the markers that an order set would order',
    description: 'Returns each marker once: those of the lab tests in their order, then the add-ons. Orders and stores nothing.',
    reads: true,
    query: PageQuery,
    body: OrderSetRequest,
    reply: MarkerPage,
    example: { lab_test_ids: ['01890000-0000-7000-8000-000000000001'] },
    run: async (tx, { query, body }) => {
      const { marker_ids } = await resolveMembers(tx, body, await labFilterFor(tx, access, body.lab_account_id))
      return listMarkersByIds(tx, marker_ids, query)
    },
  }),
  operation({
    ...inCatalog,
    id: 'get_markers_by_provider_id',
    path: '/v3/lab_tests/{lab_id}/markers/{provider_id}',
    summary: "Read a lab's marker by the lab's own test code",
    params: Fields({ lab_id: Int({ example: 1 }), provider_id: Text({ maxLength: 200, example: 'AYX-CORT4' }) }),
    query: AccountQuery,
    reply: Marker,
    run: async (tx, { params, query }) =>
      getMarker(tx, params.lab_id, params.provider_id, await listedLabs(tx, access, query.lab_account_id)),
  }),
  operation({
    ...inCatalog,
    id: 'get_paginated_lab_tests_for_team',
    path: '/v3/lab_test',
    summary: 'List lab tests (paginated)',
    description: 'Auto-generated tests for à-la-carte orders are excluded unless `generation_method` includes them.',
    query: LabTestPageQuery,
    reply: LabTestPage,
    run: async (tx, { query }) => listLabTestPage(tx, query, await listedLabs(tx, access, query.lab_account_id)),
  }),
  operation({
    ...inCatalog,
    id: 'get_lab_tests_for_team',
    path: '/v3/lab_tests',
    summary: 'List lab tests',
    description: 'Returns at most 1000; `GET /v3/lab_test` has pages.',
    deprecated: true,
    query: LabTestQuery,
    reply: T.Array(LabTest),
    run: async (tx, { query }) => listLabTests(tx, query, await listedLabs(tx, access)),
  }),
  operation({
    ...inCatalog,
    id: 'get_lab_test_for_team',
    path: '/v3/lab_tests/{lab_test_id}',
    summary: 'Read a lab test',
    params: labTestParams,
    query: AccountQuery,
    reply: LabTest,
    run: async (tx, { params, query }) =>
      getLabTest(tx, params.lab_test_id, await labFilterFor(tx, access, query.lab_account_id)),
  }),
  operation({
    id: 'create_lab_test_for_team',
    logsAccess: false,
    method: 'POST',
    path: '/v3/lab_tests',
    summary: 'Create a lab test from markers',
    description:
      "The price is the sum of the markers' prices. The test can be ordered at once in a sandbox, in production after approval.",
    body: CreateLabTest,
    reply: LabTest,
    example: { name: 'Fictional Check', method: 'walk_in_test', description: 'Two markers.', provider_ids: ['Q55122', 'Q55325'] },
    run: async (tx, { body }) => createLabTest(tx, access, body, await labFilterFor(tx, access, body.lab_account_id)),
  }),
  operation({
    id: 'update_lab_test_for_team',
    logsAccess: false,
    method: 'PATCH',
    path: '/v3/lab_tests/{lab_test_id}',
    summary: 'Rename, deactivate or reactivate a lab test',
    description: 'Existing orders of a deactivated test continue.',
    params: labTestParams,
    body: UpdateLabTest,
    reply: LabTest,
    example: { name: 'Renamed Check' },
    run: (tx, { params, body }) => updateLabTest(tx, params.lab_test_id, body),
  }),
  managementOperation({
    id: 'approve_lab_test',
    idempotency: 'none',
    logsAccess: false,
    method: 'POST',
    path: '/v1/org/{org_id}/lab_test/{env}/{region}/{lab_test_id}/approve',
    scope: 'cell',
    keyScope: 'org',
    summary: 'Approve a lab test',
    description: 'In production, a new lab test requires approval. Idempotent.',
    params: LabTestInCell,
    reply: LabTest,
    run: async (tx, { manager, params, recordAuditSubject }) => {
      const { team_id, test } = await approveLabTest(tx, params.lab_test_id, manager.org)
      recordAuditSubject(team_id, test.id)
      return test
    },
  }),
]
