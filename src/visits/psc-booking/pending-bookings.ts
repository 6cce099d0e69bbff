// Replies to pending bookings, from staff of a site or from the laboratory. A booking without a reply in time expires, and its order does
// not change. Source: lab-testing.md 18.
import { cancelAppointment, confirmAppointment } from '../appointments/appointments.ts'
import { findAppointment, orderOfAppointment, type LockedAppointment } from '../appointments/locked-appointment.ts'
import { findAndLockOrder, saveOrder } from '../../lab/orders/change-order.ts'
import type { LockedOrder } from '../../lab/orders/locked-order.ts'
import type { Queries, Tx } from '../../platform/db/transaction.ts'
import { defineHandler, defineJob } from '../../platform/queue/outbox.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'

export const expirePendingBooking = defineJob(
  'scheduling.expire_booking',
  T.Object({ order_id: T.String(), appointment_id: T.String() }),
)

type Waiting = { lockedOrder: LockedOrder; lockedAppointment: LockedAppointment }

/** Returns an appointment of an order that waits for a reply. */
async function findPendingBooking(tx: Tx, order_id: string, appointment_id: string): Promise<Waiting | undefined> {
  const lockedOrder = await findAndLockOrder(tx, order_id)
  const lockedAppointment = lockedOrder && (await findAppointment(tx, lockedOrder))
  return lockedAppointment?.internalData.awaits_provider && lockedAppointment.appointment.id === appointment_id
    ? { lockedOrder: lockedOrder!, lockedAppointment }
    : undefined
}

export const expireBookingHandler = defineHandler(expirePendingBooking, (context, { order_id, appointment_id }) =>
  context.tx(async (tx) => {
    const found = await findPendingBooking(tx, order_id, appointment_id)
    if (!found) return
    await cancelAppointment(tx, found.lockedOrder, found.lockedAppointment, {
      data: { origin: 'provider', reason: 'not_confirmed' },
    })
    await saveOrder(tx, found.lockedOrder)
  }),
)

/**
 * Confirms or declines a pending booking. Emits labtest.appointment.updated; after a confirmation also the events of the order's
 * transitions.
 * @returns false if no such booking is pending
 */
export async function resolvePendingBooking(tx: Tx, appointment_id: string, isConfirmed: boolean): Promise<boolean> {
  const order_id = await orderOfAppointment(tx, appointment_id)
  const found = order_id === undefined ? undefined : await findPendingBooking(tx, order_id, appointment_id)
  if (!found) return false
  if (isConfirmed) await confirmAppointment(tx, found.lockedOrder, found.lockedAppointment, {}, { origin: 'provider' })
  else
    await cancelAppointment(tx, found.lockedOrder, found.lockedAppointment, { data: { origin: 'provider', reason: 'refused' } })
  await saveOrder(tx, found.lockedOrder)
  return true
}

const Row = T.Object({
  id: T.String(),
  team_id: T.String(),
  user_id: T.String(),
  provider: T.String(),
  site_code: T.String(),
  start_at: T.String(),
  created_at: T.String(),
})
export type PendingBooking = Static<typeof Row>

/** Lists the pending bookings of all teams of a cell, soonest first. */
export const listPendingBookings = (queries: Pick<Queries, 'many'>, limit: number): Promise<PendingBooking[]> =>
  queries.many(
    Row,
    sql`
    select a.id, a.team_id, o.user_id, a.provider, a.site_code, a.start_at, a.created_at
    from appointment a join team t on a.team_id = t.id join lab_order o on o.team_id = a.team_id and o.id = a.order_id
    where t.deleted_at is null and a.event_status in ('pending', 'reserved') and a.site_code is not null
      and (a.internal_data::jsonb ->> 'awaits_provider')::boolean
    order by a.start_at, a.id limit ${limit}`,
  )

const Team = T.Object({ team_id: T.String() })

/** Returns the team of a booking, of any team: for the operator. */
export const findBookingTeam = async (queries: Pick<Queries, 'maybe'>, appointment_id: string): Promise<string | undefined> =>
  (
    await queries.maybe(
      Team,
      sql`
      select a.team_id from appointment a join team t on a.team_id = t.id
      where a.id = ${appointment_id} and a.site_code is not null and t.deleted_at is null`,
    )
  )?.team_id
