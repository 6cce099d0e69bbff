import { PreserializedJson, operation } from '../../platform/http/operation.ts'
import { Fields, Uuid } from '../../platform/schema/schema.ts'
import { cancelOrder, readOrder, rescheduleOrder, completeDraw, teamMetrics, type CountConnections } from './orders.ts'
import type { CoversCharacter } from '../../platform/pdf/extra-fonts.ts'
import { createdReply, createOrder, importOrder } from './create-order.ts'
import { createOrderIdempotency, createOrderOnce } from './create-order-once.ts'
import { listOrders } from './list-orders.ts'
import { countOrdersByDay, listOrderRows } from './order-rows.ts'
import { readProgress } from './order-progress.ts'
import { resendEvents } from './resend-events.ts'
import {
  CreateOrder,
  ImportOrder,
  Order,
  OrderPage,
  OrderProgress,
  OrderQuery,
  OrderReply,
  OrderRowPage,
  OrderRowQuery,
  OrdersByDay,
  PatchOrder,
  ResendEvents,
  ResentEvents,
  TeamMetrics,
  TransactionReply,
} from './schema.ts'
import { getTransaction } from './transactions.ts'
import { examplePatient } from '../../people/person/example-patient.ts'
import { onSiteCollection } from './features.ts'
import { BODY_WITH_IMAGES_BYTES_MAX } from '../../people/person/image.ts'

const orderParams = Fields({ order_id: Uuid })

const exampleOrder = {
  user_id: '00000000-0000-7000-8000-000000000001',
  lab_test_id: '00000000-0000-7000-8000-000000000002',
  patient_details: examplePatient,
  patient_address: { first_line: '1 Sample Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' },
}

const change = { logsAccess: true, params: orderParams, reply: OrderReply } as const

export const ordersRoutes = (countConnections: CountConnections, covers: CoversCharacter) => [
  operation({
    id: 'get_orders',
    logsAccess: true,
    method: 'GET',
    path: '/v3/orders',
    aliases: ['/orders'],
    summary: 'List and filter orders',
    query: OrderQuery,
    reply: OrderPage,
    run: (tx, { query }) => listOrders(tx, query),
  }),
  operation({
    id: 'list_order_rows',
    isUnlisted: true,
    logsAccess: true,
    method: 'GET',
    path: '/console/v1/orders',
    summary: 'List orders as rows, page by page',
    description:
      'With the filters of `get_orders`, top-level statuses and the lab test. Newest first, unless `order_direction` is `asc`.',
    query: OrderRowQuery,
    reply: OrderRowPage,
    run: (tx, { query }) => listOrderRows(tx, query),
  }),
  operation({
    id: 'count_orders_by_day',
    isUnlisted: true,
    logsAccess: false,
    method: 'GET',
    path: '/console/v1/orders_by_day',
    summary: 'Count orders by day of creation and present status',
    description: 'The last 30 days of UTC, by the clock of the team.',
    reply: OrdersByDay,
    run: (tx) => countOrdersByDay(tx),
  }),
  operation({
    id: 'get_order_progress',
    isUnlisted: true,
    logsAccess: true,
    method: 'GET',
    path: '/console/v1/orders/{order_id}/progress',
    summary: 'Read how far an order has come in its lifecycle',
    params: orderParams,
    reply: OrderProgress,
    run: (tx, { params }) => readProgress(tx, params.order_id),
  }),
  operation({
    id: 'get_order',
    logsAccess: true,
    method: 'GET',
    path: '/v3/order/{order_id}',
    summary: 'Read an order',
    params: orderParams,
    reply: Order,
    run: async (tx, { params }) => new PreserializedJson(await readOrder(tx, params.order_id)),
  }),
  operation({
    id: 'create_order',
    logsAccess: true,
    method: 'POST',
    path: '/v3/order',
    summary: 'Place an order',
    body: CreateOrder,
    body_bytes_max: BODY_WITH_IMAGES_BYTES_MAX,
    reply: OrderReply,
    idempotency: createOrderIdempotency,
    example: exampleOrder,
    run: async (tx, { body }) => createdReply(await createOrder(tx, body, covers)),
  }),
  operation({
    id: 'create_order_once',
    logsAccess: true,
    method: 'POST',
    path: '/v3/order/create',
    summary: 'Create an order (idempotent by content)',
    description:
      'Without an idempotency key, the same body within a day answers with the same order unless that was cancelled or failed.',
    body: CreateOrder,
    body_bytes_max: BODY_WITH_IMAGES_BYTES_MAX,
    reply: OrderReply,
    idempotency: createOrderIdempotency,
    example: exampleOrder,
    run: async (tx, { body, hasIdempotencyKey }) =>
      hasIdempotencyKey ? createdReply(await createOrder(tx, body, covers)) : createOrderOnce(tx, body, covers),
  }),
  operation({
    id: 'import_order',
    logsAccess: true,
    method: 'POST',
    path: '/v3/order/import',
    summary: 'Import an order that was placed elsewhere',
    body: ImportOrder,
    body_bytes_max: BODY_WITH_IMAGES_BYTES_MAX,
    reply: OrderReply,
    idempotency: { scope: 'import_order', retention_s: createOrderIdempotency.retention_s },
    example: {
      user_id: exampleOrder.user_id,
      billing_type: 'client_bill',
      order_set: { lab_test_ids: [exampleOrder.lab_test_id] },
      collection_method: 'testkit',
      patient_details: examplePatient,
      patient_address: { ...exampleOrder.patient_address, receiver_name: 'Testa Fictional' },
      sample_id: 'FICTIONAL-0001',
    },
    run: async (tx, { body }) => createdReply(await importOrder(tx, body, covers)),
  }),
  operation({
    ...change,
    id: 'update_on_site_collection_order_draw_completed',
    method: 'PATCH',
    path: '/v3/order/{order_id}/draw_completed',
    summary: 'Mark the draw of an on-site order as completed',
    feature: onSiteCollection,
    run: (tx, { params }) => completeDraw(tx, params.order_id),
  }),
  operation({
    ...change,
    id: 'update_order',
    method: 'PATCH',
    path: '/v3/order/{order_id}',
    summary: 'Change or clear the date of a scheduled order',
    body: PatchOrder,
    example: { activate_by: null },
    run: (tx, { params, body }) => rescheduleOrder(tx, params.order_id, body.activate_by),
  }),
  operation({
    ...change,
    id: 'cancel_order',
    method: 'POST',
    path: '/v3/order/{order_id}/cancel',
    summary: 'Cancel an order',
    description:
      'Rejected with `error`, `message` and `status_code` if the status no longer allows cancelling. An order that a laboratory may have got over a link keeps its status until the laboratory confirms the cancellation; `message` says so.',
    run: (tx, { params }) => cancelOrder(tx, params.order_id),
  }),
  operation({
    ...change,
    id: 'cancel_order_stale',
    method: 'DELETE',
    path: '/v3/lab_test/{order_id}/cancel',
    summary: 'Cancel an order (deprecated path)',
    deprecated: true,
    run: (tx, { params }) => cancelOrder(tx, params.order_id),
  }),
  operation({
    id: 'resend_events',
    logsAccess: true,
    method: 'POST',
    path: '/v3/order/resend_events',
    summary: 'Resend the latest event of orders',
    body: ResendEvents,
    reply: ResentEvents,
    example: { order_ids: ['00000000-0000-7000-8000-000000000003'] },
    run: (tx, { body }) => resendEvents(tx, body),
  }),
  operation({
    id: 'get_order_transaction',
    logsAccess: true,
    method: 'GET',
    path: '/v3/order_transaction/{transaction_id}',
    summary: 'Read a transaction and its orders',
    params: Fields({ transaction_id: Uuid }),
    reply: TransactionReply,
    run: (tx, { params }) => getTransaction(tx, params.transaction_id),
  }),
  operation({
    id: 'get_teams_metrics',
    logsAccess: false,
    method: 'GET',
    path: '/v2/user/metrics',
    summary: "Counts of the team's users and orders",
    reply: TeamMetrics,
    run: (tx) => teamMetrics(tx, countConnections),
  }),
]
