// Bookable at-home appointments of a sandbox team: in one street of Phoenix, on every day, with unlimited capacity. Source: lab-testing.md
// 19.3, 24.
import { badRequest } from '../../../platform/http/errors.ts'
import { SLOT_UNAVAILABLE } from '../../appointments/booking-keys.ts'
import type { UsAddress } from '../../appointments/schema.ts'
import { wallClocks } from '../local-time.ts'
import { insertVisit, updateVisit, deleteVisit } from '../visits.ts'
import { hasStreetAddress, NO_DOOR, type VisitLocation } from '../visit-location.ts'
import { openWindows, type Schedule, type Span } from '../time-windows.ts'
import { noRequests, type VisitLink, type RequestedWindow } from './visit-link.ts'
import { playAt } from '../sandbox-visit-job.ts'

const READY = 'appointment-ready'
const ZIP = '85004'
const DAY_HOURS = [{ from_min: 360, to_min: 1080 }]

/** The first and the last window of a day cost more. */
const sandboxSchedule = ({ time_zone }: VisitLocation): Schedule => ({
  time_zone,
  hours: Array.from({ length: 7 }, () => DAY_HOURS),
  days_off: new Set(),
  window_min: 120,
  visit_min: 60,
  travel_min: 60,
  capacity: 1,
  notice_min: 0,
  price_cents: 3500,
  priority: {
    price_cents: 7900,
    hours: [
      { from_min: 360, to_min: 480 },
      { from_min: 960, to_min: 1080 },
    ],
  },
})

/** The street in full and in its usual abbreviations. */
const atStreetAddress = ({ first_line, city, state }: UsAddress): boolean =>
  /\b(west|w)\b\.?\s+lincoln\s+(street|str|st)\b/i.test(first_line) && city.trim().toLowerCase() === 'phoenix' && state === 'AZ'

const windows = async (where: VisitLocation, range: Span, now: Date) => {
  const start_ms = Math.max(range.start_ms, now.getTime() + 1)
  return start_ms < range.end_ms ? openWindows(await wallClocks(), sandboxSchedule(where), { ...range, start_ms }, []) : []
}

async function assertOffered(where: VisitLocation, window: RequestedWindow, now: Date): Promise<void> {
  const offered = await windows(where, { start_ms: window.start_ms, end_ms: window.start_ms + 1 }, now)
  if (!offered.some(({ end_ms, price_cents }) => end_ms === window.end_ms && price_cents === window.price_cents))
    throw badRequest(SLOT_UNAVAILABLE)
}

export const sandboxReadyLink: VisitLink = {
  provider: 'getlabs',
  service_types: [READY],
  services: (_tx, { zip }) => Promise.resolve(zip === ZIP ? [READY] : []),
  unavailableReason: (address) => {
    if (!atStreetAddress(address)) return 'In the sandbox the address must be in West Lincoln Street, Phoenix, AZ 85004.'
    return hasStreetAddress(address) ? undefined : NO_DOOR
  },
  availability: async (tx, where, range) => (where.zip === ZIP ? [await windows(where, range, tx.now)] : undefined),
  async book(tx, visit, window) {
    await assertOffered(visit.where, window, tx.now)
    await insertVisit(tx, 'getlabs', visit)
    playAt(tx, visit, window.start_ms)
    return 'confirmed'
  },
  request: noRequests,
  async reschedule(tx, visit, window) {
    await assertOffered(visit.where, window, tx.now)
    await updateVisit(tx, visit)
    playAt(tx, visit, window.start_ms)
    return 'confirmed'
  },
  cancel: async (tx, appointment_id) => void (await deleteVisit(tx, appointment_id)),
}
