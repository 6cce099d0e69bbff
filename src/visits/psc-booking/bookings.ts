// Booking, moving and cancelling appointments at service centers. Writes no table: appointments and orders are changed by their owners.
// Source: lab-testing.md 18.
import { randomInt } from 'node:crypto'
import {
  assertBookable,
  assertReschedulable,
  bookAppointment,
  cancelAppointment,
  rescheduleAppointment,
} from '../appointments/appointments.ts'
import { verifyBookingKey, SLOT_UNAVAILABLE, type Offer } from '../appointments/booking-keys.ts'
import {
  findAppointment,
  hasEndedAppointment,
  readAppointment,
  type LockedAppointment,
} from '../appointments/open-appointment.ts'
import type { Appointment, BookAppointment, RescheduleAppointment } from '../appointments/schema.ts'
import { saveOrder, lockOrder } from '../../lab/orders/change-order.ts'
import type { LockedOrder } from '../../lab/orders/open-order.ts'
import { getOrder } from '../../lab/orders/orders.ts'
import { iso, addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { hasOption } from '../../platform/http/feature-flags.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import { enqueue } from '../../platform/queue/outbox.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import type { SiteRecord } from '../psc/sites.ts'
import { options } from '../../tenancy/teams/features.ts'
import { expirePendingBooking } from './booking-answers.ts'
import { countBookingsLocked } from './capacity.ts'
import { assertReason } from './cancellation-reasons.ts'
import { slotsIn, type Slot } from './schedule.ts'
import { selectScheduler } from './schedulers/choose-scheduler.ts'
import type { SitePlan } from './schedulers/scheduler.ts'
import { bookableLabs, type BookableLab, type CancelPscAppointment } from './schema.ts'
import { addressOf, isBookableSite, findBookableSite } from './bookable-sites.ts'

const CONFIRMATION_TIMEOUT_MS = 900_000
const CODE_LETTERS = 6

interface Lab {
  id: number
  slug: BookableLab
}

/** The lab of a walk-in order. 400: another kind of order, or a lab that takes no appointments here. */
function labOf({ order }: LockedOrder): Lab {
  if (order.lab_test.method !== 'walk_in_test') throw badRequest('Order is not a walkin phlebotomy order')
  const { lab } = order.lab_test
  const slug = bookableLabs.find((known) => known === lab?.slug)
  if (!slug) throw badRequest('This lab is not supported.')
  return { id: lab!.id, slug }
}

interface ReservedSlot {
  site: SiteRecord
  plan: SitePlan
  slot: Slot
}

/**
 * Hold the place that a key offers, until this transaction ends. 400: no key, or one that has expired; its site is not there any more or
 * not as it was; in a sandbox, the place is taken. 404: the place is taken.
 */
async function reserveSlot(tx: Tx, lab: Lab, offer: Offer, but?: string): Promise<ReservedSlot> {
  if (offer.lab !== lab.slug) throw badRequest(`Location with site code ${offer.site} not found`)
  const site = await findBookableSite(tx, lab.id, offer.site)
  const slot = { start: new Date(offer.start_s * 1000), end: new Date(offer.end_s * 1000) }
  const scheduler = selectScheduler(tx.tenant)
  const plan = isBookableSite(site) ? (await scheduler.loadPlans(tx, lab.id, [site], tx.now)).get(site.site_code) : undefined
  if (!plan || plan.price !== offer.price || !isOffered(plan, slot, tx.now)) throw badRequest(SLOT_UNAVAILABLE)
  if ((await countBookingsLocked(tx, lab.slug, site.site_code, slot, but)) >= plan.places) throw scheduler.slotTakenError()
  return { site, plan, slot }
}

/** Whether a site still has such a time: its schedule may have changed since the key was made. */
const isOffered = (plan: SitePlan, { start, end }: Slot, now: Date): boolean =>
  slotsIn(plan.openings(plan.calendar.dayOf(start)), plan.slot_minutes, now).some(
    (slot) => slot.start.getTime() === start.getTime() && slot.end.getTime() === end.getTime(),
  )

const siteAndTime = ({ site, plan, slot }: ReservedSlot) => ({
  site_code: site.site_code,
  address: addressOf(site),
  location: { lng: site.lng, lat: site.lat },
  iana_timezone: plan.zone,
  start_at: iso(slot.start),
  end_at: iso(slot.end),
})

/** What a patient shows at the desk. */
const generateConfirmationCode = (): string =>
  Array.from({ length: CODE_LETTERS }, () => String.fromCharCode(65 + randomInt(26))).join('')

const shown = ({ appointment }: LockedAppointment): PreserializedJson<Appointment> =>
  new PreserializedJson(JSON.stringify(appointment))

/**
 * Book a place at a service center. Emits labtest.appointment.created, labtest.appointment.updated, and what the order's steps emit.
 * Queues scheduling.give-up where people have to confirm it. 404: no such order. 400: what `labOf`, `assertBookable` and `hold` refuse.
 * 502: it would have to be confirmed, and the caller does not wait; nothing was booked.
 */
export async function bookPsc(
  tx: Tx,
  vault: Vault,
  order_id: string,
  body: BookAppointment,
): Promise<PreserializedJson<Appointment>> {
  const open = await lockOrder(tx, order_id)
  const lab = labOf(open)
  const offer = verifyBookingKey(vault, tx.tenant, bookableLabs, body.booking_key, tx.now)
  await assertBookable(tx, open)
  const reserved = await reserveSlot(tx, lab, offer)
  const isAutoConfirmed = reserved.plan.confirms === 'at_once'
  if (!isAutoConfirmed && !body.async_confirmation)
    throw new Problem(502, { detail: 'The service center did not confirm the appointment in time.' })
  const isConfirmedByLab = lab.slug === 'sonora_quest' && hasOption(tx.tenant, options.lab_confirmed_scheduling)
  const made = await bookAppointment(
    tx,
    open,
    {
      type: 'patient_service_center',
      provider: lab.slug,
      external_id: generateConfirmationCode(),
      ...siteAndTime(reserved),
      appointment_notes: body.appointment_notes,
      facts: { movable: isAutoConfirmed && !isConfirmedByLab, cancellable: !isConfirmedByLab, tier: null, price: offer.price },
    },
    isConfirmedByLab ? 'unconfirmed' : isAutoConfirmed ? 'confirmed' : 'unanswered',
  )
  if (!isAutoConfirmed && !isConfirmedByLab) {
    const timeout_ms = body.async_confirmation_timeout_millisecond ?? CONFIRMATION_TIMEOUT_MS
    enqueue(
      tx,
      expirePendingBooking,
      { order_id, appointment_id: made.appointment.id },
      addSeconds(tx.now, Math.ceil(timeout_ms / 1000)),
    )
  }
  await saveOrder(tx, open)
  return shown(made)
}

/** The appointment that an order has, to be changed. 400: there is none, or it was cancelled. */
async function getCurrentAppointment(tx: Tx, open: LockedOrder): Promise<LockedAppointment> {
  const reserved = await findAppointment(tx, open)
  if (reserved) return reserved
  throw badRequest(
    (await hasEndedAppointment(tx, open.order.id))
      ? 'This appointment has already been cancelled.'
      : "This order doesn't have an appointment yet.",
  )
}

/** Move an appointment to another place or time. Emits as booking does, but `created`. 404, 400: as booking; it cannot be moved. */
export async function reschedulePsc(
  tx: Tx,
  vault: Vault,
  order_id: string,
  body: RescheduleAppointment,
): Promise<PreserializedJson<Appointment>> {
  const open = await lockOrder(tx, order_id)
  const lab = labOf(open)
  const moved = await getCurrentAppointment(tx, open)
  assertReschedulable(open, moved)
  const offer = verifyBookingKey(vault, tx.tenant, bookableLabs, body.booking_key, tx.now)
  const reserved = await reserveSlot(tx, lab, offer, moved.appointment.id)
  // Whoever wants to go where people confirm cancels and books anew: what is confirmed is not given up for what may be.
  if (reserved.plan.confirms !== 'at_once') throw badRequest('This appointment cannot be rescheduled.')
  const data = { origin: 'patient', is_reschedule: true }
  await rescheduleAppointment(tx, open, moved, { ...siteAndTime(reserved), appointment_notes: body.appointment_notes }, data)
  await saveOrder(tx, open)
  return shown(moved)
}

/**
 * Cancel an appointment; without a reason for clients of an old path. Emits labtest.appointment.updated, and labtest.order.updated where
 * the order knows of it.
 * 404: no such order. 400: no appointment, one that is over or that is the laboratory's to cancel; no such reason.
 */
export async function cancelPsc(tx: Tx, order_id: string, body?: CancelPscAppointment): Promise<PreserializedJson<Appointment>> {
  const open = await lockOrder(tx, order_id)
  labOf(open)
  if (body) assertReason(body.cancellationReasonId)
  const reserved = await getCurrentAppointment(tx, open)
  if (!reserved.internalData.cancellable) throw badRequest('This appointment can only be cancelled with the laboratory.')
  await cancelAppointment(tx, open, reserved, {
    reason_id: body?.cancellationReasonId,
    notes: body?.note,
    data: { origin: 'patient' },
  })
  await saveOrder(tx, open)
  return shown(reserved)
}

/** The appointment of an order. 404: no such order, one of another kind, or none. */
export async function readPsc(tx: Tx, order_id: string): Promise<PreserializedJson<Appointment>> {
  const { lab_test } = await getOrder(tx, order_id)
  if (lab_test.method !== 'walk_in_test') throw notFound('This order is not a walk-in phlebotomy order.')
  const document = await readAppointment(tx, order_id)
  if (document === undefined) throw notFound('Appointment not found.')
  return new PreserializedJson(document)
}
