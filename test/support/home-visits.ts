// What tests of at-home appointments stand on: staff, orders whose patients can be visited, and windows to book.
import assert from 'node:assert/strict'
import type { AvailableSlots, TimeSlot } from '../../src/visits/appointments/schema.ts'
import { createOrder, advanceTo } from './orders.ts'
import { client, createTestTeam, type TestTeam, type Reply } from './server.ts'
import type { CellName } from '../../src/settings/cells.ts'

/** In the one street that is visited in the sandbox. */
export const street = { first_line: '1 West Lincoln Street', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }
/** Where visits are asked for in the sandbox. */
export const avenue = { first_line: '12 Sample Avenue', city: 'Onalaska', state: 'WI', zip: '54650', country: 'US' }

export const usAddress = ({ first_line, city, state, zip }: typeof street) => ({ first_line, city, state, zip_code: zip })

const allDay = [{ from: '08:00', to: '16:00' }]
export const week = {
  monday: allDay,
  tuesday: allDay,
  wednesday: allDay,
  thursday: allDay,
  friday: allDay,
  saturday: allDay,
  sunday: allDay,
}

/** A phlebotomist who works every day from eight to four, with two visits in each window of two hours. */
export const staff = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  name: 'Testa Team',
  service_area: { zips: ['85004'] },
  hours: week,
  price_cents: 4200,
  ...changes,
})

const environmentOf = (cell: CellName): string => cell.replace('-', '/')
export const staffPath = ({ cell }: Pick<TestTeam, 'cell'>, reference = ''): string =>
  `/phlebotomist/${environmentOf(cell)}${reference && `/${reference}`}`

/** Say who visits patients. */
export async function createPhlebotomist(team: TestTeam, reference: string, changes: Record<string, unknown> = {}) {
  const { status, body } = await team.manage.put(staffPath(team, reference), staff(changes))
  assert.equal(status, 200, JSON.stringify(body))
  return body.phlebotomist
}

/** Below `/v1/org/{org_id}/team/{team_id}/{environment}`. */
export const managementHeaders = ({ orgKey, org_id, team, cell }: TestTeam) =>
  client(orgKey, 'x-management-key', `/v1/org/${org_id}/team/${team}/${cell.split('-')[0]}`)

/** A team whose patients are visited. */
export async function createAtHomeTeam(
  cell: CellName = 'production-us',
  changes: Record<string, unknown> = {},
): Promise<TestTeam> {
  const team = await createTestTeam(cell)
  if (cell.startsWith('production'))
    await createPhlebotomist(team, 'north-team', { service_types: ['appointment-ready', 'appointment-request'], ...changes })
  return team
}

/** Creates an at-home phlebotomy order; with its requisition by default. */
export async function homeOrder(team: TestTeam, changes: Record<string, unknown> = {}, requisition = true): Promise<string> {
  const body = { lab_test_id: await team.test('at_home_phlebotomy'), patient_address: street, ...changes }
  const { id } = await createOrder(team, body)
  if (requisition) await advanceTo(team, id, 'requisition_created')
  return id
}

const AT = '/v3/order/phlebotomy/appointment/availability'

export const available = ({ api }: TestTeam, address = street, start_date?: string): Promise<Reply> =>
  api.post(`${AT}${start_date === undefined ? '' : `?start_date=${start_date}`}`, usAddress(address))

/** Every window that is free. */
export async function slots(team: TestTeam, address = street): Promise<TimeSlot[]> {
  const { status, body } = await available(team, address)
  assert.equal(status, 200, JSON.stringify(body))
  return (body as AvailableSlots).slots.flatMap((day) => day.slots)
}

/** What can be done with the appointment of an order. */
export const visitCalls = ({ api }: TestTeam, order_id: string) => {
  const path = `/v3/order/${order_id}/phlebotomy/appointment`
  return {
    book: (booking_key: string | null, overrides: object = {}) => api.post(`${path}/book`, { booking_key, ...overrides }),
    request: (overrides: object = {}) =>
      api.post(`${path}/request`, { address: usAddress(street), provider: 'phlebfinders', ...overrides }),
    move: (booking_key: string | null, overrides: object = {}) => api.patch(`${path}/reschedule`, { booking_key, ...overrides }),
    cancel: (cancellation_reason_id: string = CANCELLATION_REASON, overrides: object = {}) =>
      api.patch(`${path}/cancel`, { cancellation_reason_id, ...overrides }),
    read: () => api.get(path),
  }
}

const CANCELLATION_REASON = '5330c863-ac80-4316-901b-d305d0df74d5'

/** What was answered, when it was a success. */
export function ok({ status, body }: Reply) {
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

export function assertRejected({ status, body }: Reply, expected: number, detail: string): void {
  assert.deepEqual([status, body], [expected, { detail }])
}
