// What tests of the bench stand on: orders at the laboratory whose orders people work through, and doing things to them.
import assert from 'node:assert/strict'
import type { Order } from '../../src/lab/orders/schema.ts'
import { kit, getOrder, createOrder } from './orders.ts'
import { createTestTeam, type TestTeam, type Reply } from './server.ts'

/** A production team. Its orders change only through staff or the API. */
export const production = () => createTestTeam('production-us')

const environmentOf = ({ cell }: TestTeam): string => cell.split('-')[0]!

/** A lab test at the laboratory, approved. */
export async function createTestWith(team: TestTeam, method: string, ...provider_ids: string[]): Promise<string> {
  const codes = provider_ids.length ? provider_ids : ['MAN-A1C']
  const body = { name: 'Fictional Check', method, description: 'By hand.', lab_slug: 'manual', provider_ids: codes }
  const { id } = assertOk(await team.api.post('/v3/lab_tests', body)).body
  assertOk(await team.manage.post(`/lab_test/${environmentOf(team)}/us/${id}/approve`))
  return id
}

export const createAcceptedOrder = async (
  team: TestTeam,
  method: string,
  changes: Record<string, unknown> = {},
): Promise<Order> => createOrder(team, { lab_test_id: await createTestWith(team, method), ...changes })
export const createKitOrder = async (team: TestTeam): Promise<Order> =>
  kit(team, { lab_test_id: await createTestWith(team, 'testkit') })

export function assertOk(reply: Reply): Reply {
  assert(reply.status < 300, `HTTP ${reply.status}: ${JSON.stringify(reply.body)}`)
  return reply
}

const base = (team: TestTeam, id: string): string => `/team/${team.team}/${environmentOf(team)}/fulfillment/${id}`

/** Do something to an order, as the staff does. */
export const staffAction = (team: TestTeam, { id }: { id: string }, action: string, body?: unknown): Promise<Reply> =>
  action === 'notes' || action === 'result/pdf'
    ? team.manage.put(`${base(team, id)}/${action}`, body)
    : team.manage.post(`${base(team, id)}/${action}`, body)

/** As `act`, of what succeeds. */
export const staffActionOk = async (team: TestTeam, order: { id: string }, action: string, body?: unknown) =>
  assertOk(await staffAction(team, order, action, body)).body as {
    status: string
    status_detail: string | null
    changed: boolean
  }

/** What is needed for the work on an order. */
export const details = async (team: TestTeam, { id }: { id: string }) => assertOk(await team.manage.get(base(team, id))).body

export const list = async (team: TestTeam, query = ''): Promise<{ order_id: string; work_type: string }[]> =>
  assertOk(await team.manage.get(`/fulfillment/${environmentOf(team)}/us${query}`)).body.data

export const lowLevelStatuses = async (team: TestTeam, { id }: { id: string }): Promise<string[]> =>
  (await getOrder(team, id)).events.map(({ status, status_detail }) => status + (status_detail ? ` ${status_detail}` : ''))

export const outbound = { direction: 'outbound', tracking_number: '9400000000000000000001', courier: 'usps' }
export const inbound = { direction: 'inbound', tracking_number: '9200000000000000000001', courier: 'usps' }
export const scan = (direction: string, event: string) => ({ direction, event })
export const a1c = { analyte: 'hemoglobin-a1c', value: '5.4', unit: '%', reference_range: '4.0-5.6' }
export const finalReport = { status: 'final', results: [a1c] }

/** Bring a kit of a known patient to the laboratory. */
export async function orderAtLab(team: TestTeam): Promise<Order> {
  const order = await createAcceptedOrder(team, 'testkit')
  await staffActionOk(team, order, 'accept')
  await staffActionOk(team, order, 'tracking', outbound)
  await staffActionOk(team, order, 'scan', scan('outbound', 'delivered'))
  await staffActionOk(team, order, 'scan', scan('inbound', 'delivered'))
  return order
}
