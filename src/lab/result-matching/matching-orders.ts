// The orders that a result could belong to, as found by the laboratory's number and by the patient. Only reads.
import type { OpenOrder } from '../orders/open-order.ts'
import type { Order } from '../orders/schema.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Delivery } from './incoming-result.ts'
import { compare, type Likeness } from './patient-comparison.ts'
import { stateOf, type OrderState } from './order-states.ts'

/** Orders of one date of birth that are looked at, newest first. */
const LOOKED_AT_MAX = 200

const Row = T.Object({ document: T.String(), lifecycle: T.String(), low_status: T.String() })

export interface FoundOrder {
  order: Order
  low_status: string
  state: OrderState
  patient: Likeness
}

const found = (order: Order, lifecycle: string, low_status: string, delivery: Delivery): FoundOrder => ({
  order,
  low_status,
  state: stateOf(lifecycle, low_status),
  patient: compare(delivery.patient, order.patient_details),
})

/** An order that is held open, as a result sees it. */
export const asFound = ({ order, lifecycle, lowStatus }: OpenOrder, delivery: Delivery): FoundOrder =>
  found(order, lifecycle, lowStatus, delivery)

const Id = T.Object({ id: T.String() })

/** The id of the order that has the delivery's number at the laboratory. */
export async function orderOfSample(tx: Tx, lab_id: number, sample_id: string | null): Promise<string | undefined> {
  if (!sample_id) return undefined
  const row = await tx.maybe(
    Id,
    sql`select id from lab_order where sample_id = ${sample_id} and lab_id = ${lab_id} and team_id = ${tx.team}`,
  )
  return row?.id
}

/** The orders of the same patient, newest first. */
export async function ordersOfPatient(tx: Tx, delivery: Delivery): Promise<FoundOrder[]> {
  const { dob } = delivery.patient ?? {}
  if (!dob) return []
  const rows = await tx.many(
    Row,
    sql`
    select document, lifecycle, low_status from lab_order
    where team_id = ${tx.team} and patient_dob = ${dob} order by created_at desc, id desc limit ${LOOKED_AT_MAX}`,
  )
  return rows
    .map((row) => found(JSON.parse(row.document) as Order, row.lifecycle, row.low_status, delivery))
    .filter(({ patient }) => patient === 'same')
}
