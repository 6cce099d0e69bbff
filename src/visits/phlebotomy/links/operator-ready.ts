// Staff of our own whose windows are offered and booked. Two who want the last place of a window are taken one after the other: whoever
// books holds the row of the staff, and counts again.
import type { Tx } from '../../../platform/db/transaction.ts'
import { notFound } from '../../../platform/http/errors.ts'
import { T } from '../../../platform/schema/schema.ts'
import { sql } from '../../../platform/db/sql.ts'
import { SLOT_GONE } from '../../appointments/booking-keys.ts'
import { MINUTE_MS, wallClocks } from '../local-time.ts'
import { scheduleOf, staffServing } from '../staff.ts'
import { holdVisit, moveVisit, releaseVisit, takenOf, type Taken } from '../visits.ts'
import { busyMinutes, openWindows, placesLeft, windowsOf, type OpenWindow, type Span } from '../time-windows.ts'
import type { Where } from '../visit-location.ts'
import { isReachable, NO_DOOR } from '../visit-location.ts'
import { noRequests, type VisitLink, type Wanted } from './visit-link.ts'

const READY = 'appointment-ready'

/** Before this instant nobody can come any more. */
const noticed = (tx: Tx, notice_min: number): number => tx.now.getTime() + notice_min * MINUTE_MS

async function available(tx: Tx, where: Where, range: Span): Promise<OpenWindow[][] | undefined> {
  const staff = await staffServing(tx, tx.tenant.org, where, READY)
  if (staff.length === 0) return undefined
  const clocks = await wallClocks()
  const taken = await takenOf(
    tx,
    staff.map(({ id }) => id),
    range,
  )
  return staff.map((one) => {
    const start_ms = Math.max(range.start_ms, noticed(tx, one.notice_min))
    if (start_ms >= range.end_ms) return []
    return openWindows(clocks, scheduleOf(one), { start_ms, end_ms: range.end_ms }, taken.get(one.id) ?? [])
  })
}

const Id = T.Object({ id: T.String() })

/** Lock staff for this transaction. @returns those who are still there */
async function hold(tx: Tx, ids: string[]): Promise<Set<string>> {
  const rows = await tx.locking.many(
    Id,
    sql`select id from phlebotomist where id = any (${ids}::uuid[]) order by id for no key update`,
  )
  return new Set(rows.map(({ id }) => id))
}

/** Take the time of whoever has the most of it left in a window. 404: nobody has any. */
async function take(tx: Tx, where: Where, wanted: Wanted, except: string | null): Promise<Taken> {
  const clocks = await wallClocks()
  const staff = await staffServing(tx, tx.tenant.org, where, READY)
  const offers = staff.filter((one) => {
    if (wanted.start_ms < noticed(tx, one.notice_min)) return false
    const windows = windowsOf(clocks, scheduleOf(one), { start_ms: wanted.start_ms, end_ms: wanted.start_ms + 1 })
    return windows.some(({ end_ms, price_cents }) => end_ms === wanted.end_ms && price_cents === wanted.price_cents)
  })
  const held = await hold(
    tx,
    offers.map(({ id }) => id),
  )
  const taken = await takenOf(tx, [...held], wanted, except)
  const [best] = offers
    .filter(({ id }) => held.has(id))
    .map((one) => ({ one, places: placesLeft(scheduleOf(one), wanted, taken.get(one.id) ?? []) }))
    .filter(({ places }) => places > 0)
    .sort((a, b) => b.places - a.places)
  if (!best) throw notFound(SLOT_GONE)
  const { start_ms, end_ms } = wanted
  return { staff_id: best.one.id, start_ms, end_ms, busy_min: busyMinutes(best.one) }
}

export const ownReadyLink: VisitLink = {
  provider: 'getlabs',
  service_types: [READY],
  services: async (tx, where) => ((await staffServing(tx, tx.tenant.org, where, READY)).length ? [READY] : []),
  refusal: (address) => (isReachable(address) ? undefined : NO_DOOR),
  availability: available,
  async book(tx, visit, window) {
    await holdVisit(tx, 'getlabs', visit, await take(tx, visit.where, window, null))
    return 'confirmed'
  },
  request: noRequests,
  async reschedule(tx, visit, window) {
    await moveVisit(tx, visit, await take(tx, visit.where, window, visit.appointment_id))
    return 'confirmed'
  },
  cancel: async (tx, appointment_id) => void (await releaseVisit(tx, appointment_id)),
}
