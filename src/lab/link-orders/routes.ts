import { managementOperation, type Operation } from '../../platform/http/operation.ts'
import { AccountParams } from '../accounts/schema.ts'
import { OrderOfLinkParams, SentOrder, UnplacedOrders } from './schema.ts'
import { sendAgain } from './send-orders.ts'
import { listUnplacedOrders } from './unplaced-orders.ts'

export const linkOrdersRoutes = (): Operation[] => [
  managementOperation({
    id: 'list_unplaced_lab_link_orders',
    logsAccess: true,
    method: 'GET',
    path: '/v1/org/{org_id}/lab_link/{env}/{region}/{account_id}/unplaced_order',
    scope: 'cell',
    keyScope: 'org',
    summary: 'List orders that the laboratory of a link does not have, oldest first',
    description:
      'Orders with the detail `fulfillment_error`: the laboratory refused them, they could not be written, or the link was not live when they were due. At most 200.',
    params: AccountParams,
    reply: UnplacedOrders,
    run: (tx, { manager, params }) => listUnplacedOrders(tx, manager.org, params.account_id),
  }),
  managementOperation({
    id: 'send_lab_link_order',
    logsAccess: true,
    method: 'POST',
    path: '/v1/org/{org_id}/team/{team_id}/{environment}/lab_link/order/{order_id}/send',
    scope: 'team',
    keyScope: 'bound',
    summary: 'Send an order to its laboratory again',
    description:
      'An order that the laboratory refused or that could not be sent, as the order and the profile are now, with a new control id. 400 if the link is not live, or the laboratory may have the order.',
    params: OrderOfLinkParams,
    reply: SentOrder,
    run: async (tx, { params: { order_id } }) => {
      await sendAgain(tx, order_id)
      return { order_id }
    },
  }),
]
