// What a message can say besides that something happened: when a kit arrives. Never of whom or of what.
import type { OpenOrder } from '../orders/open-order.ts'
import { day } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import type { Help } from './texts.ts'

/** What helps the patient with a step of the order. */
export const helpWith = (tx: Tx, open: OpenOrder, low: string): Help => (low === 'transit_customer' ? arrivalOf(tx, open) : {})

/** An order without a shipment, such as one made in place of another, has the day of the other's; a day that is past helps nobody. */
function arrivalOf(tx: Tx, { order: { details }, intake: { arrives_on } }: OpenOrder): Help {
  const isExpected = details.type === 'testkit' && details.data.shipment && arrives_on !== undefined && arrives_on >= day(tx.now)
  return isExpected ? { arrives_on } : {}
}
