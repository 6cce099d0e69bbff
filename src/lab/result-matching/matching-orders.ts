// The orders that a result could belong to, found by sample id and by patient. Only reads.
import type { LockedOrder } from '../orders/locked-order.ts'
import type { Order } from '../orders/schema.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { IncomingResult } from './incoming-result.ts'
import { comparePatients, type PatientMatch } from './patient-comparison.ts'
import { lifecycleOf, type LifecycleName } from '../orders/lifecycle.ts'
import { nextStatuses, isFinal, shortestPath } from '../orders/status-machine.ts'

/** Maximum number of orders of one date of birth to compare, newest first. */
const ORDERS_COMPARED_MAX = 200

const Row = T.Object({ document: T.String(), lifecycle_name: T.String(), low_level_status: T.String() })

export interface FoundOrder {
  order: Order
  lowLevelStatus: string
  state: OrderState
  patient: PatientMatch
}

const foundOrder = (order: Order, lifecycle: string, lowLevelStatus: string, delivery: IncomingResult): FoundOrder => ({
  order,
  lowLevelStatus,
  state: orderState(lifecycle, lowLevelStatus),
  patient: comparePatients(delivery.patient, order.patient_details),
})

/** A locked order in the form used for matching. */
export const toFoundOrder = ({ order, lifecycle, lowLevelStatus }: LockedOrder, delivery: IncomingResult): FoundOrder =>
  foundOrder(order, lifecycle, lowLevelStatus, delivery)

const Sampled = T.Object({ id: T.String(), sample_id: T.String() })

/** The numbers of a message that may be the sample id of its order, in the order in which they are searched. */
export const sampleIdsOf = ({ sample_id, numbers }: IncomingResult): string[] => [
  ...new Set([
    ...(sample_id ? [sample_id] : []),
    ...numbers.flatMap(({ kind, number }) => (kind === 'placer' || kind === 'specimen' ? [number] : [])),
  ]),
]

/** The id of the order with a sample id of the result at the laboratory. */
export async function findOrderBySample(tx: Tx, lab_id: number, delivery: IncomingResult): Promise<string | undefined> {
  const sampleIds = sampleIdsOf(delivery)
  if (sampleIds.length === 0) return undefined
  const rows = await tx.many(
    Sampled,
    sql`
    select id, sample_id from lab_order
    where sample_id = any (${sampleIds}::text[]) and lab_id = ${lab_id} and team_id = ${tx.team} limit 200`,
  )
  return sampleIds.map((id) => rows.find(({ sample_id }) => sample_id === id)).find((row) => row !== undefined)?.id
}

/** The orders of the same patient, newest first. */
export async function findOrdersOfPatient(tx: Tx, delivery: IncomingResult): Promise<FoundOrder[]> {
  const { dob } = delivery.patient ?? {}
  if (!dob) return []
  const rows = await tx.many(
    Row,
    sql`
    select document, lifecycle_name, low_level_status from lab_order
    where team_id = ${tx.team} and patient_dob = ${dob} order by created_at desc, id desc limit ${ORDERS_COMPARED_MAX}`,
  )
  return rows
    .map((row) => foundOrder(JSON.parse(row.document) as Order, row.lifecycle_name, row.low_level_status, delivery))
    .filter(({ patient }) => patient === 'same')
}

/**
 * The state of an order for matching: what an incoming result may do with it. `awaiting`: the sample is at the laboratory or in transit to it. `early`: no draw has been reported. `completed`: the order has its final
 * result. `cancelled`. `over`: the order failed.
 */
export type OrderState = 'awaiting' | 'early' | 'completed' | 'cancelled' | 'over'

const COMPLETED = new Set(['completed', 'corrected', 'redraw_available'])
const CANCELLED = new Set(['cancelled', 'do_not_process'])
/** The sample has left the patient; its arrival may not have been reported. */
const IN_TRANSIT = new Set(['transit_lab', 'problem_in_transit_lab'])

export function orderState(lifecycle: string, lowLevelStatus: string): OrderState {
  if (COMPLETED.has(lowLevelStatus)) return 'completed'
  if (CANCELLED.has(lowLevelStatus)) return 'cancelled'
  const cycle = lifecycleOf(lifecycle)
  if (isFinal(cycle, lowLevelStatus)) return 'over'
  return IN_TRANSIT.has(lowLevelStatus) || nextStatuses(cycle, lowLevelStatus).includes('completed') ? 'awaiting' : 'early'
}

/** The unreported steps up to the status in which a result can be applied; undefined if there is no path. */
export function stepsToResult(lifecycle: LifecycleName, lowLevelStatus: string): string[] | undefined {
  const cycle = lifecycleOf(lifecycle)
  if (COMPLETED.has(lowLevelStatus) || nextStatuses(cycle, lowLevelStatus).includes('completed')) return []
  return shortestPath(cycle, lowLevelStatus, 'completed')?.slice(0, -1)
}

/** The unreported steps until the sample is at the laboratory; none if the lifecycle has no such status, or the order has passed it. */
export const stepsToDelivery = ({ lifecycle, lowLevelStatus }: LockedOrder): string[] =>
  lowLevelStatus === 'lab_processing_blocked'
    ? []
    : (shortestPath(lifecycleOf(lifecycle), lowLevelStatus, 'delivered_to_lab') ?? [])
