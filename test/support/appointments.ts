// What tests of appointments stand on: bookings as a provider makes them, and what must be true of every appointment and its order.
import assert from 'node:assert/strict'
import { bookAppointment, type Reply } from '../../src/visits/appointments/appointments.ts'
import { statusOf, type EventStatus } from '../../src/visits/appointments/status-machine.ts'
import { findAppointment, type Booking, type OpenAppointment } from '../../src/visits/appointments/open-appointment.ts'
import type { Appointment, Facts } from '../../src/visits/appointments/schema.ts'
import { changeOrder } from '../../src/lab/orders/change-order.ts'
import type { OpenOrder } from '../../src/lab/orders/open-order.ts'
import type { Order } from '../../src/lab/orders/schema.ts'
import { iso, plusSeconds } from '../../src/platform/runtime/clock.ts'
import { teamNow } from '../../src/platform/db/database.ts'
import type { Tx } from '../../src/platform/db/transaction.ts'
import { T } from '../../src/platform/schema/schema.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { placed, tenantOf, walk } from './orders.ts'
import type { Given } from './server.ts'

export type Method = 'walk_in_test' | 'at_home_phlebotomy'

/** An order, with its requisition unless said otherwise. */
export async function appointmentOrder(team: Given, method: Method, requisition = true): Promise<string> {
  const { id } = await placed(team, { lab_test_id: await team.test(method) })
  if (requisition) await walk(team, id, 'requisition_created')
  return id
}

/** A booking at the only service center there is, or of a visit, so many hours ahead. */
export function bookingOf(now: Date, method: Method, hours = 72): Booking {
  const start = plusSeconds(now, hours * 3600)
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
    end_at: iso(plusSeconds(start, 1200)),
    facts: { movable: true, tier: isVisit ? 'appointment-ready' : null, price: 0 },
  }
}

/** Book for an order, whatever the interface would say. */
export async function booked(
  team: Given,
  order_id: string,
  method: Method,
  reply: Reply = 'confirmed',
  hours = 72,
): Promise<string> {
  const tenant = await tenantOf(team)
  let id = ''
  await team.db.tx(tenant, (tx) =>
    changeOrder(tx, order_id, async (open) => {
      id = (await bookAppointment(tx, open, bookingOf(teamNow(tenant), method, hours), reply)).appointment.id
    }),
  )
  return id
}

/** Let something happen to the appointment that an order has. */
export async function happen(
  team: Given,
  order_id: string,
  what: (tx: Tx, open: OpenOrder, held: OpenAppointment) => void | Promise<void>,
): Promise<void> {
  await team.db.tx(await tenantOf(team), (tx) =>
    changeOrder(tx, order_id, async (open) => what(tx, open, (await findAppointment(tx, open))!)),
  )
}

const Row = T.Object({ document: T.String(), facts: T.String(), event_status: T.String() })

/** Every appointment of an order, oldest first. */
export async function appointmentsOf({ db, team }: Given, order_id: string): Promise<(Appointment & { facts: Facts })[]> {
  const rows = await db.queries.many(
    Row,
    sql`
    select document, facts, event_status from appointment where order_id = ${order_id} and team_id = ${team} order by created_at, id`,
  )
  return rows.map((row) => {
    const appointment = JSON.parse(row.document) as Appointment
    assert.equal(appointment.event_status, row.event_status)
    return { ...appointment, facts: JSON.parse(row.facts) as Facts }
  })
}

const Orders = T.Object({ document: T.String() })
const OF_APPOINTMENTS = new Set(['appointment_pending', 'appointment_scheduled'])
const READY = /\.requisition_(created|bypassed)$/

/** What must be true after every commit of each order of a team and its appointments. */
export async function assertAgreement(team: Given): Promise<void> {
  const rows = await team.db.queries.many(
    Orders,
    sql`select document from lab_order where team_id = ${team.team} and method in ('walk_in_test', 'at_home_phlebotomy')`,
  )
  for (const row of rows) {
    const order = JSON.parse(row.document) as Order
    const all = await appointmentsOf(team, order.id)
    const [active, ...others] = all.filter(({ event_status }) => event_status !== 'cancelled')
    assert.equal(others.length, 0, 'two appointments at a time')
    const { data } = order.details as { data: { appointment_id: string | null } }
    assert.equal(data.appointment_id, active?.id ?? null)
    for (const { events, event_status, event_data, status } of all) {
      assert.deepEqual([events.at(-1)!.status, events.at(-1)!.data, status], [event_status, event_data, statusOf[event_status]])
    }
    assert.deepEqual(expectedOf(order, active), [])
  }
}

/** What is wrong with an order whose appointment stands so. */
function expectedOf(order: Order, active: (Appointment & { facts: Facts }) | undefined): string[] {
  const low = order.last_event.status.split('.').at(-1)!
  const isReady = order.events.some(({ status }) => READY.test(status))
  const over = order.status === 'cancelled' && order.details.type === 'walk_in_test'
  const must = (good: boolean): string[] => (good || over ? [] : [`${low} beside ${active?.event_status ?? 'none'}`])
  if (!active || active.facts.awaits_provider) return must(!OF_APPOINTMENTS.has(low))
  const expected: Record<EventStatus, () => boolean> = {
    pending: () => low === (isReady ? 'appointment_pending' : 'ordered'),
    reserved: () => low === 'ordered',
    scheduled: () => low === 'appointment_scheduled',
    in_progress: () => low === 'appointment_scheduled',
    completed: () => active.type === 'patient_service_center' || !OF_APPOINTMENTS.has(low),
    cancelled: () => false,
  }
  return must(expected[active.event_status]())
}
