import type { Administration } from '../management/administration.ts'
import type { CellName } from '../platform/db.ts'
import { managementOperation, type Operation } from '../platform/operation.ts'
import { examplePdf } from './example-pdf.ts'
import { acceptOrder, pickKit, refuseOrder, resolveProblem, writeNotes } from './acceptance.ts'
import { recordScan, recordTracking } from './parcels.ts'
import { replaceOrder } from './replacing.ts'
import { enterReport, uploadPdf } from './reporting.ts'
import { recordDraw, recordVisit, setSample } from './samples.ts'
import * as shapes from './schema.ts'
import { listWork, readWork } from './work-list.ts'

const ORDER = '/v1/org/{org_id}/team/{team_id}/{environment}/fulfilment/{order_id}' as const
const ofOrder = { place: 'team', reach: 'bound', params: shapes.OfOrder } as const
/** One thing done to an order. */
const act = { ...ofOrder, method: 'POST', reply: shapes.WorkDone } as const

export const routes = (admin: Administration): Operation[] => [
  managementOperation({
    id: 'list_fulfilment_work',
    method: 'GET',
    path: '/v1/org/{org_id}/fulfilment/{env}/{region}',
    place: 'cell',
    reach: 'bound',
    summary: 'List the orders that wait for somebody, oldest first',
    description:
      'Of laboratories whose orders are worked through by hand. A key that is bound to teams sees the orders of its teams. Orders scheduled for a later day are not listed.',
    params: shapes.InCell,
    query: shapes.WorkQuery,
    reply: shapes.WorkPage,
    run: (tx, { manager, params, query }) =>
      listWork(tx, admin.cells.control.queries, manager, `${params.env}-${params.region}` as CellName, query),
  }),
  managementOperation({
    ...ofOrder,
    id: 'get_fulfilment_work',
    method: 'GET',
    path: ORDER,
    reveals: true,
    summary: 'Read what the work on an order needs',
    description: 'Of the patient only what is needed for what is to be done now. Reading it leaves a line in the audit log.',
    reply: shapes.WorkDetails,
    run: (tx, { params }) => readWork(tx, params.order_id),
  }),
  managementOperation({
    ...act,
    id: 'accept_order',
    path: `${ORDER}/accept`,
    summary: 'Take an order on, and give it its number at the laboratory',
    description:
      'Without a number one is made. A scheduled order can be accepted from its day on. Kits that are registered later are picked instead.',
    body: shapes.AcceptOrder,
    body_optional: true,
    example: { sample_id: 'FICTIONAL-0001', has_abn: false },
    run: (tx, { params, body }) => acceptOrder(tx, params.order_id, body ?? {}),
  }),
  managementOperation({
    ...act,
    id: 'pick_order_kit',
    path: `${ORDER}/kit`,
    summary: 'Say which kit is sent for an order that its patient will register',
    description: 'Until it is sent another one can be picked.',
    body: shapes.PickKit,
    example: { sample_id: 'FICTIONAL-0001' },
    run: (tx, { params, body }) => pickKit(tx, params.order_id, body.sample_id),
  }),
  managementOperation({
    ...act,
    id: 'refuse_order',
    path: `${ORDER}/refuse`,
    summary: 'Say that an order cannot be fulfilled as it is',
    description: 'It keeps its status, with the detail `fulfillment_error`, and can be resolved, accepted or cancelled.',
    run: (tx, { params }) => refuseOrder(tx, params.order_id),
  }),
  managementOperation({
    ...act,
    id: 'resolve_order_problem',
    path: `${ORDER}/resolve`,
    summary: 'Say that nothing stands in the way of an order any more',
    description: 'After `refuse` it waits as before; after `block` its sample is with the laboratory again.',
    run: (tx, { params }) => resolveProblem(tx, params.order_id),
  }),
  managementOperation({
    ...ofOrder,
    id: 'replace_order_notes',
    method: 'PUT',
    path: `${ORDER}/notes`,
    summary: 'Replace the notes that an order shows',
    body: shapes.OrderNotes,
    reply: shapes.WorkDone,
    example: { notes: 'The box was dented; the tube is whole.' },
    run: (tx, { params, body }) => writeNotes(tx, params.order_id, body.notes),
  }),
  managementOperation({
    ...act,
    id: 'replace_order',
    path: `${ORDER}/replace`,
    summary: 'Place an order of another lab test instead of a wrong one',
    description:
      'Of any laboratory. The wrong order is cancelled where that is still possible, or has been cancelled or has failed; otherwise nothing is done. The new one is for the same patient, by the same way of collecting, in the same transaction.',
    body: shapes.ReplaceOrder,
    reply: shapes.OrderReplaced,
    example: { lab_test_id: '00000000-0000-7000-8000-000000000002' },
    run: (tx, { params, body }) => replaceOrder(tx, params.order_id, body),
  }),
  managementOperation({
    ...act,
    id: 'record_order_tracking',
    path: `${ORDER}/tracking`,
    summary: "Record under which number a kit's parcel travels",
    body: shapes.RecordTracking,
    example: { direction: 'outbound', tracking_number: '9400000000000000000001', courier: 'usps' },
    run: (tx, { params, body }) => recordTracking(tx, params.order_id, body),
  }),
  managementOperation({
    ...act,
    id: 'record_order_scan',
    path: `${ORDER}/scan`,
    summary: "Record what a carrier says of a kit's parcel",
    description: 'Missed scans are made up for. What is repeated or comes too late changes nothing.',
    body: shapes.RecordScan,
    example: { direction: 'outbound', event: 'picked_up' },
    run: (tx, { params, body }) => recordScan(tx, params.order_id, body),
  }),
  managementOperation({
    ...act,
    id: 'record_order_visit',
    path: `${ORDER}/visit`,
    summary: 'Record a visit that was arranged by people',
    body: shapes.RecordVisit,
    example: { status: 'appointment_scheduled' },
    run: (tx, { params, body }) => recordVisit(tx, params.order_id, body.status),
  }),
  managementOperation({
    ...act,
    id: 'record_order_draw',
    path: `${ORDER}/draw`,
    summary: 'Record that the sample was taken',
    description: 'Of an order whose patient walks in the status stays; it waits for the report from then on.',
    body: shapes.RecordDraw,
    body_optional: true,
    run: (tx, { params, body }) => recordDraw(tx, params.order_id, body?.collected_at),
    example: {},
  }),
  managementOperation({
    ...act,
    id: 'reject_order_sample',
    path: `${ORDER}/reject`,
    summary: 'Say that the laboratory cannot test the sample',
    body: shapes.RejectSample,
    body_optional: true,
    example: { status_detail: 'sample_hemolyzed' },
    run: (tx, { params, body }) => setSample(tx, params.order_id, 'sample_error', body?.status_detail),
  }),
  managementOperation({
    ...act,
    id: 'block_order_processing',
    path: `${ORDER}/block`,
    summary: 'Say that the laboratory lacks something to go on',
    description: '`resolve` takes it back.',
    body: shapes.BlockProcessing,
    body_optional: true,
    example: { status_detail: 'date_of_collection_unspecified' },
    run: (tx, { params, body }) => setSample(tx, params.order_id, 'lab_processing_blocked', body?.status_detail),
  }),
  managementOperation({
    ...act,
    id: 'stop_order_processing',
    path: `${ORDER}/do_not_process`,
    summary: 'Say that a kit is not to be processed',
    run: (tx, { params }) => setSample(tx, params.order_id, 'do_not_process'),
  }),
  managementOperation({
    ...act,
    id: 'lose_order_sample',
    path: `${ORDER}/lost`,
    summary: 'Say that a kit was lost on its way',
    run: (tx, { params }) => setSample(tx, params.order_id, 'lost'),
  }),
  managementOperation({
    ...act,
    id: 'enter_order_result',
    path: `${ORDER}/result`,
    summary: "Enter the laboratory's findings",
    description:
      'A final report completes the order; what it does not mention of what is required counts as missing. A final report is changed by an amended one.',
    body: shapes.EnterReport,
    body_bytes_max: 2_000_000,
    example: { status: 'final', results: [{ analyte: 'hemoglobin-a1c', value: '5.4', unit: '%', reference_range: '4.0-5.6' }] },
    run: (tx, { params, body }) => enterReport(tx, params.order_id, body),
  }),
  managementOperation({
    ...ofOrder,
    id: 'upload_order_result_pdf',
    method: 'PUT',
    path: `${ORDER}/result/pdf`,
    summary: "Give the laboratory's own document of a result",
    description:
      'A PDF of at most 10 MB. It is shown instead of a drawn one as soon as there is a report, and until another report replaces that.',
    body: shapes.UploadPdf,
    body_bytes_max: shapes.UPLOAD_BYTES_MAX,
    reply: shapes.WorkDone,
    example: { pdf: examplePdf },
    run: (tx, { params, body }) => uploadPdf(tx, params.order_id, body.pdf),
  }),
]
