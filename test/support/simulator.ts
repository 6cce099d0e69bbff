// What the tests of simulations share.
import assert from 'node:assert/strict'
import type { Order, TestkitDetails } from '../../src/lab/orders/schema.ts'
import { registration } from './orders.ts'
import type { TestTeam } from './server.ts'

export const CREATED = 'labtest.order.created'
export const UPDATED = 'labtest.order.updated'
export const CRITICAL = 'labtest.result.critical'
export const updates = (count: number): string[] => Array(count).fill(UPDATED)

export const startedReply = { status: 'success', message: 'Order simulation started' }

export const simulate = (team: TestTeam, id: string, query: Record<string, string> = {}, body?: unknown) =>
  team.api.post(`/v3/order/${id}/test?${new URLSearchParams(query)}`, body)

/** Start a simulation that must be accepted. */
export async function start(team: TestTeam, id: string, query: Record<string, string> = {}, body?: unknown): Promise<void> {
  const reply = await simulate(team, id, query, body)
  assert.deepEqual([reply.status, reply.body], [200, startedReply])
}

export const register = (team: TestTeam, sample_id: string | null) =>
  team.api.post('/v3/order/testkit/register', registration(sample_id))

export const statuses = (order: Order): string[] => order.events.map((event) => event.status)

export const CARRIER = [
  'collecting_sample.testkit.transit_customer',
  'collecting_sample.testkit.out_for_delivery',
  'collecting_sample.testkit.with_customer',
]
export const LABORATORY = [
  'collecting_sample.testkit.transit_lab',
  'sample_with_lab.testkit.delivered_to_lab',
  'completed.testkit.completed',
]
export const REGISTRATION = ['received.testkit.requisition_created', 'received.testkit.testkit_registered']
export const REGISTERED = ['received.testkit.ordered', 'received.testkit.requisition_created', ...CARRIER, ...LABORATORY]
export const UNREGISTERED = ['received.testkit.ordered', 'received.testkit.awaiting_registration', ...CARRIER]

/** The tracking of an order's parcel, the way out and the way back. */
export function tracking(order: Order) {
  assert.equal(order.details.type, 'testkit')
  const { shipment } = order.details.data as TestkitDetails['data']
  if (!shipment) return shipment
  const direction = (name: 'outbound' | 'inbound') => [
    shipment[`${name}_tracking_number`],
    shipment[`${name}_tracking_url`],
    shipment[`${name}_courier`],
  ]
  return { outbound: direction('outbound'), inbound: direction('inbound') }
}
export const NONE = [null, null, null]
