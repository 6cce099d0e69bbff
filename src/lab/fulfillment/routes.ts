import type { Cells } from '../../platform/db/cells.ts'
import type { CellName } from '../../settings/cells.ts'
import { CellParams } from '../../tenancy/organizations/management-shapes.ts'
import { managementOperation, type Operation } from '../../platform/http/operation.ts'
import { examplePdf } from './schema.ts'
import { acceptOrder, assignKit, rejectOrder, resolveProblem, writeNotes } from './acceptance.ts'
import { recordScan, recordTracking } from './parcels.ts'
import { replaceOrder } from './replace-order.ts'
import { enterManualReport, uploadPdf } from './report-results.ts'
import { recordDraw, recordVisit, reportLostKit, setSampleStatus } from './samples.ts'
import * as shapes from './schema.ts'
import { listWork, readWork } from './work-list.ts'

const ORDER = '/v1/org/{org_id}/team/{team_id}/{environment}/fulfillment/{order_id}' as const
const ofOrder = { logsAccess: true, scope: 'team', keyScope: 'bound', params: shapes.OrderParams } as const
/** A staff action on an order. */
const act = { ...ofOrder, method: 'POST', reply: shapes.WorkDone } as const

export const fulfillmentRoutes = ({ cells }: { cells: Cells }): Operation[] => [
  managementOperation({
    id: 'list_fulfillment_work',
    logsAccess: true,
    method: 'GET',
    path: '/v1/org/{org_id}/fulfillment/{env}/{region}',
    scope: 'cell',
    keyScope: 'bound',
    summary: 'List orders in the work queue, oldest first',
    description:
      'Lists orders of laboratories under manual fulfillment, and kits of laboratories with a link. A key that is bound to teams sees the orders of its teams. Orders scheduled for a later day are not listed.',
    params: CellParams,
    query: shapes.WorkQuery,
    reply: shapes.WorkPage,
    run: (tx, { manager, params, query }) =>
      listWork(tx, cells.control.queries, manager, `${params.env}-${params.region}` as CellName, query),
  }),
  managementOperation({
    ...ofOrder,
    id: 'get_fulfillment_work',
    method: 'GET',
    path: ORDER,
    auditsRead: true,
    summary: 'Get the work details of an order',
    description: 'Returns only the patient data that the next step needs. Reading it writes an audit entry.',
    reply: shapes.WorkDetails,
    run: (tx, { params }) => readWork(tx, params.order_id),
  }),
  managementOperation({
    ...act,
    id: 'accept_order',
    path: `${ORDER}/accept`,
    summary: 'Accept an order and assign its sample id',
    description:
      'Without a sample id, one is generated. A scheduled order can be accepted from its date on. For a kit that is registered later, assign a kit instead.',
    body: shapes.AcceptOrder,
    body_optional: true,
    example: { sample_id: 'FICTIONAL-0001', has_abn: false },
    run: (tx, { params, body }) => acceptOrder(tx, params.order_id, body ?? {}),
  }),
  managementOperation({
    ...act,
    id: 'assign_order_kit',
    path: `${ORDER}/kit`,
    summary: 'Assign a kit to an order',
    description:
      'To one that awaits registration. Another kit can be assigned until the kit is shipped. At a laboratory with a link whose kits staff send, also to one of a known patient: the order is then sent to the laboratory.',
    body: shapes.AssignKit,
    example: { sample_id: 'FICTIONAL-0001' },
    run: (tx, { params, body }) => assignKit(tx, params.order_id, body.sample_id),
  }),
  managementOperation({
    ...act,
    id: 'refuse_order',
    path: `${ORDER}/refuse`,
    summary: 'Report that an order cannot be fulfilled',
    description: 'The order keeps its status, with the detail `fulfillment_error`, and can be resolved, accepted or cancelled.',
    run: (tx, { params }) => rejectOrder(tx, params.order_id),
  }),
  managementOperation({
    ...act,
    id: 'resolve_order_problem',
    path: `${ORDER}/resolve`,
    summary: 'Resolve the problem of an order',
    description: 'After `refuse` the order is in the queue as before; after `block` its sample is at the laboratory again.',
    run: (tx, { params }) => resolveProblem(tx, params.order_id),
  }),
  managementOperation({
    ...ofOrder,
    id: 'replace_order_notes',
    method: 'PUT',
    path: `${ORDER}/notes`,
    summary: 'Replace the notes of an order',
    body: shapes.OrderNotes,
    reply: shapes.WorkDone,
    example: { notes: 'The box was dented; the tube is whole.' },
    run: (tx, { params, body }) => writeNotes(tx, params.order_id, body.notes),
  }),
  managementOperation({
    ...act,
    id: 'replace_order',
    path: `${ORDER}/replace`,
    summary: 'Replace an order with an order for another lab test',
    description:
      'Works for every laboratory. The wrong order is cancelled; if it can no longer be cancelled and is neither cancelled nor failed, the request is rejected. The new order has the same patient, collection method and transaction.',
    body: shapes.ReplaceOrder,
    reply: shapes.OrderReplaced,
    example: { lab_test_id: '00000000-0000-7000-8000-000000000002' },
    run: (tx, { params, body }) => replaceOrder(tx, params.order_id, body),
  }),
  managementOperation({
    ...act,
    id: 'record_order_tracking',
    path: `${ORDER}/tracking`,
    summary: 'Record the tracking number of a parcel',
    body: shapes.RecordTracking,
    example: { direction: 'outbound', tracking_number: '9400000000000000000001', courier: 'usps' },
    run: (tx, { params, body }) => recordTracking(tx, params.order_id, body),
  }),
  managementOperation({
    ...act,
    id: 'record_order_scan',
    path: `${ORDER}/scan`,
    summary: 'Record a carrier scan of a parcel',
    description: 'Missed scans are filled in. Repeated and late scans change nothing.',
    body: shapes.RecordScan,
    example: { direction: 'outbound', event: 'picked_up' },
    run: (tx, { params, body }) => recordScan(tx, params.order_id, body),
  }),
  managementOperation({
    ...act,
    id: 'record_order_visit',
    path: `${ORDER}/visit`,
    summary: 'Record an appointment arranged outside the API',
    body: shapes.RecordVisit,
    example: { status: 'appointment_scheduled' },
    run: (tx, { params, body }) => recordVisit(tx, params.order_id, body.status),
  }),
  managementOperation({
    ...act,
    id: 'record_order_draw',
    path: `${ORDER}/draw`,
    summary: 'Record sample collection',
    description: 'A walk-in order keeps its status and awaits the report from then on.',
    body: shapes.RecordDraw,
    body_optional: true,
    run: (tx, { params, body }) => recordDraw(tx, params.order_id, body?.collected_at),
    example: {},
  }),
  managementOperation({
    ...act,
    id: 'reject_order_sample',
    path: `${ORDER}/reject`,
    summary: 'Reject a sample',
    body: shapes.RejectSample,
    body_optional: true,
    example: { status_detail: 'sample_hemolyzed' },
    run: (tx, { params, body }) => setSampleStatus(tx, params.order_id, 'sample_error', body?.status_detail),
  }),
  managementOperation({
    ...act,
    id: 'block_order_processing',
    path: `${ORDER}/block`,
    summary: 'Block processing of an order',
    description: '`resolve` undoes it.',
    body: shapes.BlockProcessing,
    body_optional: true,
    example: { status_detail: 'date_of_collection_unspecified' },
    run: (tx, { params, body }) => setSampleStatus(tx, params.order_id, 'lab_processing_blocked', body?.status_detail),
  }),
  managementOperation({
    ...act,
    id: 'stop_order_processing',
    path: `${ORDER}/do_not_process`,
    summary: 'Stop processing of a kit',
    run: (tx, { params }) => setSampleStatus(tx, params.order_id, 'do_not_process'),
  }),
  managementOperation({
    ...act,
    id: 'report_order_kit_lost',
    path: `${ORDER}/lost`,
    summary: 'Report a lost kit',
    run: (tx, { params }) => reportLostKit(tx, params.order_id),
  }),
  managementOperation({
    ...act,
    id: 'enter_order_result',
    path: `${ORDER}/result`,
    summary: 'Enter a result',
    description:
      'A final report completes the order; required results that it omits count as missing. Only an amended report can change a final one.',
    body: shapes.EnterReport,
    body_bytes_max: 2_000_000,
    example: { status: 'final', results: [{ analyte: 'hemoglobin-a1c', value: '5.4', unit: '%', reference_range: '4.0-5.6' }] },
    run: (tx, { params, body }) => enterManualReport(tx, params.order_id, body),
  }),
  managementOperation({
    ...ofOrder,
    id: 'upload_order_result_pdf',
    method: 'PUT',
    path: `${ORDER}/result/pdf`,
    summary: "Upload the laboratory's result PDF",
    description:
      'A PDF of at most 10 MB. It is shown instead of the generated one as soon as there is a report, until another report replaces that report.',
    body: shapes.UploadPdf,
    body_bytes_max: shapes.UPLOAD_BYTES_MAX,
    reply: shapes.WorkDone,
    example: { pdf: examplePdf },
    run: (tx, { params, body }) => uploadPdf(tx, params.order_id, body.pdf),
  }),
]
