// What tests of appointments stand on: bookings as a provider makes them, and what must be true of every appointment and its order.
import assert from 'node:assert/strict'
import { bookAppointment, type Reply } from '../../src/visits/appointments/appointments.ts'
import { statusByEvent, type EventStatus } from '../../src/visits/appointments/status-machine.ts'
import { findAppointment, type Booking, type LockedAppointment } from '../../src/visits/appointments/locked-appointment.ts'
import type { Appointment, InternalData } from '../../src/visits/appointments/schema.ts'
import { updateOrder } from '../../src/lab/orders/change-order.ts'
import type { LockedOrder } from '../../src/lab/orders/locked-order.ts'
import type { Order } from '../../src/lab/orders/schema.ts'
import { iso, addSeconds } from '../../src/platform/runtime/clock.ts'
import { teamNow } from '../../src/platform/db/database.ts'
import type { Tx } from '../../src/platform/db/transaction.ts'
import { T } from '../../src/platform/schema/schema.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { createOrder, tenantOf, advanceTo } from './orders.ts'
import type { TestTeam } from './server.ts'

export type Method = 'walk_in_test' | 'at_home_phlebotomy'

/** Creates an order; with its requisition by default. */
export async function appointmentOrder(team: TestTeam, method: Method, requisition = true): Promise<string> {
  const { id } = await createOrder(team, { lab_test_id: await team.test(method) })
  if (requisition) await advanceTo(team, id, 'requisition_created')
  return id
}

/** A booking at the only service center there is, or of a visit, so many hours ahead. */
export function createBooking(now: Date, method: Method, hours = 72): Booking {
  const start = addSeconds(now, hours * 3600)
  const isVisit = method === 'at_home_phlebotomy'
  return {
    type: isVisit ? 'phlebotomy' : 'patient_service_center',
    provider: isVisit ? 'getlabs' : 'quest',
    site_code: isVisit ? null : 'S1',
    address: {
      first_line: '1 Sample Way',
      second_line: null,
      city: 'Phoenix',
      state: 'AZ',
      zip_code: '85004',
      unit: null,
      access_notes: null,
    },
    location: { lng: -112, lat: 33.4 },
    iana_timezone: 'America/Phoenix',
    start_at: iso(start),
    end_at: iso(addSeconds(start, 1200)),
    internalData: { movable: true, tier: isVisit ? 'appointment-ready' : null, price: 0 },
  }
}

/** Books an appointment for an order without the checks of the API. */
export async function bookDirectly(
  team: TestTeam,
  order_id: string,
  method: Method,
  reply: Reply = 'confirmed',
  hours = 72,
): Promise<string> {
  const tenant = await tenantOf(team)
  let id = ''
  await team.db.tx(tenant, (tx) =>
    updateOrder(tx, order_id, async (lockedOrder) => {
      id = (await bookAppointment(tx, lockedOrder, createBooking(teamNow(tenant), method, hours), reply)).appointment.id
    }),
  )
  return id
}

/** Let something happen to the appointment that an order has. */
export async function applyAppointmentEvent(
  team: TestTeam,
  order_id: string,
  change: (tx: Tx, lockedOrder: LockedOrder, lockedAppointment: LockedAppointment) => void | Promise<void>,
): Promise<void> {
  await team.db.tx(await tenantOf(team), (tx) =>
    updateOrder(tx, order_id, async (lockedOrder) => change(tx, lockedOrder, (await findAppointment(tx, lockedOrder))!)),
  )
}

const Row = T.Object({ document: T.String(), internal_data: T.String(), event_status: T.String() })

/** Every appointment of an order, oldest first. */
export async function listAppointments(
  { db, team }: TestTeam,
  order_id: string,
): Promise<(Appointment & { internalData: InternalData })[]> {
  const rows = await db.queries.many(
    Row,
    sql`
    select document, internal_data, event_status from appointment where order_id = ${order_id} and team_id = ${team} order by created_at, id`,
  )
  return rows.map((row) => {
    const appointment = JSON.parse(row.document) as Appointment
    assert.equal(appointment.event_status, row.event_status)
    return { ...appointment, internalData: JSON.parse(row.internal_data) as InternalData }
  })
}

const Orders = T.Object({ document: T.String() })
const OF_APPOINTMENTS = new Set(['appointment_pending', 'appointment_scheduled'])
const READY = /\.requisition_(created|bypassed)$/

/** What must be true after every commit of each order of a team and its appointments. */
export async function assertAgreement(team: TestTeam): Promise<void> {
  const rows = await team.db.queries.many(
    Orders,
    sql`select document from lab_order where team_id = ${team.team} and method in ('walk_in_test', 'at_home_phlebotomy')`,
  )
  for (const row of rows) {
    const order = JSON.parse(row.document) as Order
    const all = await listAppointments(team, order.id)
    const [active, ...others] = all.filter(({ event_status }) => event_status !== 'cancelled')
    assert.equal(others.length, 0, 'two appointments at a time')
    const { data } = order.details as { data: { appointment_id: string | null } }
    assert.equal(data.appointment_id, active?.id ?? null)
    for (const { events, event_status, event_data, status } of all) {
      assert.deepEqual(
        [events.at(-1)!.status, events.at(-1)!.data, status],
        [event_status, event_data, statusByEvent[event_status]],
      )
    }
    assert.deepEqual(expectedStatuses(order, active), [])
  }
}

/** What is wrong with an order whose appointment stands so. */
function expectedStatuses(order: Order, active: (Appointment & { internalData: InternalData }) | undefined): string[] {
  const lowLevelStatus = order.last_event.status.split('.').at(-1)!
  const isReady = order.events.some(({ status }) => READY.test(status))
  const over = order.status === 'cancelled' && order.details.type === 'walk_in_test'
  const expectedStatus = (good: boolean): string[] =>
    good || over ? [] : [`${lowLevelStatus} beside ${active?.event_status ?? 'none'}`]
  if (!active || active.internalData.awaits_provider) return expectedStatus(!OF_APPOINTMENTS.has(lowLevelStatus))
  const expected: Record<EventStatus, () => boolean> = {
    pending: () => lowLevelStatus === (isReady ? 'appointment_pending' : 'ordered'),
    reserved: () => lowLevelStatus === 'ordered',
    scheduled: () => lowLevelStatus === 'appointment_scheduled',
    in_progress: () => lowLevelStatus === 'appointment_scheduled',
    completed: () => active.type === 'patient_service_center' || !OF_APPOINTMENTS.has(lowLevelStatus),
    cancelled: () => false,
  }
  return expectedStatus(expected[active.event_status]())
}
