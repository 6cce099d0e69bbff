// Shapes of orders that wait for their laboratory, in the Management API.
import { Fields, T, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { teamInEnvironment } from '../../tenancy/organizations/management-shapes.ts'

export const OrderOfLinkParams = Fields({ ...teamInEnvironment, order_id: Uuid })

export const UnplacedOrder = Fields(
  {
    order_id: Uuid,
    team_id: Uuid,
    status: T.String({ description: 'Low-level status, such as `ordered`.' }),
    failed_at: T.String({ format: 'date-time', description: 'Since when the order shows `fulfillment_error`.' }),
    created_at: Timestamp,
  },
  { title: 'UnplacedLabOrder' },
)

export const UnplacedOrders = Fields({ data: T.Array(UnplacedOrder) }, { title: 'UnplacedLabOrders' })
export type UnplacedOrders = Static<typeof UnplacedOrders>

export const SentOrder = Fields({ order_id: Uuid }, { title: 'SentLabOrder' })
