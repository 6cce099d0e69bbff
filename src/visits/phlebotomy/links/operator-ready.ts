// Own staff whose windows are offered and booked. Concurrent bookings of the last capacity of a window are serialized: each booking locks
// the rows of the staff and counts again.
import type { Tx } from '../../../platform/db/transaction.ts'
import { notFound } from '../../../platform/http/errors.ts'
import { T } from '../../../platform/schema/schema.ts'
import { sql } from '../../../platform/db/sql.ts'
import { SLOT_UNAVAILABLE } from '../../appointments/booking-keys.ts'
import { wallClocks } from '../local-time.ts'
import { scheduleOf, findStaffServing } from '../staff.ts'
import { insertVisit, updateVisit, deleteVisit, bookedTimes, type BookedTime } from '../visits.ts'
import { blockedMinutes, openWindows, remainingCapacity, createWindows, type OpenWindow, type Span } from '../time-windows.ts'
import type { VisitLocation } from '../visit-location.ts'
import { hasStreetAddress, NO_DOOR } from '../visit-location.ts'
import { noRequests, type VisitLink, type RequestedWindow } from './visit-link.ts'
import { MINUTE_MS } from '../../../platform/runtime/durations.ts'

const READY = 'appointment-ready'

/** The earliest instant at which the staff can start a visit. */
const earliestStart = (tx: Tx, notice_min: number): number => tx.now.getTime() + notice_min * MINUTE_MS

async function available(tx: Tx, where: VisitLocation, range: Span): Promise<OpenWindow[][] | undefined> {
  const staff = await findStaffServing(tx, tx.tenant.org, where, READY)
  if (staff.length === 0) return undefined
  const clocks = await wallClocks()
  const taken = await bookedTimes(
    tx,
    staff.map(({ id }) => id),
    range,
  )
  return staff.map((phlebotomist) => {
    const start_ms = Math.max(range.start_ms, earliestStart(tx, phlebotomist.notice_min))
    if (start_ms >= range.end_ms) return []
    return openWindows(clocks, scheduleOf(phlebotomist), { start_ms, end_ms: range.end_ms }, taken.get(phlebotomist.id) ?? [])
  })
}

const Id = T.Object({ id: T.String() })

/** Locks staff for this transaction. @returns the ids that still exist */
async function lockStaff(tx: Tx, ids: string[]): Promise<Set<string>> {
  const rows = await tx.locking.many(
    Id,
    sql`select id from phlebotomist where id = any (${ids}::uuid[]) order by id for no key update`,
  )
  return new Set(rows.map(({ id }) => id))
}

/** Reserves time of the staff with the most remaining capacity in a window. Errors: 404 no staff has any. */
async function reserveTime(
  tx: Tx,
  where: VisitLocation,
  window: RequestedWindow,
  exceptAppointmentId: string | null,
): Promise<BookedTime> {
  const clocks = await wallClocks()
  const staff = await findStaffServing(tx, tx.tenant.org, where, READY)
  const offers = staff.filter((phlebotomist) => {
    if (window.start_ms < earliestStart(tx, phlebotomist.notice_min)) return false
    const windows = createWindows(clocks, scheduleOf(phlebotomist), { start_ms: window.start_ms, end_ms: window.start_ms + 1 })
    return windows.some(({ end_ms, price_cents }) => end_ms === window.end_ms && price_cents === window.price_cents)
  })
  const locked = await lockStaff(
    tx,
    offers.map(({ id }) => id),
  )
  const taken = await bookedTimes(tx, [...locked], window, exceptAppointmentId)
  const [best] = offers
    .filter(({ id }) => locked.has(id))
    .map((phlebotomist) => ({
      one: phlebotomist,
      places: remainingCapacity(scheduleOf(phlebotomist), window, taken.get(phlebotomist.id) ?? []),
    }))
    .filter(({ places }) => places > 0)
    .sort((a, b) => b.places - a.places)
  if (!best) throw notFound(SLOT_UNAVAILABLE)
  const { start_ms, end_ms } = window
  return { staff_id: best.one.id, start_ms, end_ms, blocked_minutes: blockedMinutes(best.one) }
}

export const operatorReadyLink: VisitLink = {
  provider: 'getlabs',
  service_types: [READY],
  services: async (tx, where) => ((await findStaffServing(tx, tx.tenant.org, where, READY)).length ? [READY] : []),
  unavailableReason: (address) => (hasStreetAddress(address) ? undefined : NO_DOOR),
  availability: available,
  async book(tx, visit, window) {
    await insertVisit(tx, 'getlabs', visit, await reserveTime(tx, visit.where, window, null))
    return 'confirmed'
  },
  request: noRequests,
  async reschedule(tx, visit, window) {
    await updateVisit(tx, visit, await reserveTime(tx, visit.where, window, visit.appointment_id))
    return 'confirmed'
  },
  cancel: async (tx, appointment_id) => void (await deleteVisit(tx, appointment_id)),
}
