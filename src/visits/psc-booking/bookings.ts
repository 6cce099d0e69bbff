// Booking, rescheduling and cancelling PSC appointments. Writes no table of its own: the modules of appointments and orders write theirs.
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
import { readAppointment, requireAppointment, type LockedAppointment } from '../appointments/locked-appointment.ts'
import type { Appointment, BookAppointment, RescheduleAppointment, CancellationReason } from '../appointments/schema.ts'
import type { Lab } from '../../lab/catalog/schema.ts'
import { saveOrder, lockOrder } from '../../lab/orders/change-order.ts'
import type { LockedOrder } from '../../lab/orders/locked-order.ts'
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
import { labConfirmedScheduling } from './features.ts'
import { expirePendingBooking } from './pending-bookings.ts'
import { countBookingsLocked } from './capacity.ts'
import { slotsIn, type Slot } from './schedule.ts'
import { selectScheduler } from './schedulers/choose-scheduler.ts'
import type { SitePlan } from './schedulers/scheduler.ts'
import type { CancelPscAppointment } from './schema.ts'
import { addressOf, assertTakesAppointments, findBookableSite, isBookableSite } from './psc-availability.ts'

const CONFIRMATION_TIMEOUT_MS = 900_000
const CODE_LETTERS = 6

type OrderLab = Pick<Lab, 'id' | 'slug'>

/** Returns the lab of a walk-in order. Errors: 400 other collection method. */
function labOf({ order }: LockedOrder): OrderLab {
  if (order.lab_test.method !== 'walk_in_test') throw badRequest('Order is not a walkin phlebotomy order')
  return order.lab_test.lab!
}

/** Returns the lab of a walk-in order that can be booked. Errors: 400 other collection method, or a lab without appointments here. */
async function getBookableLab(tx: Tx, lockedOrder: LockedOrder): Promise<OrderLab> {
  const lab = labOf(lockedOrder)
  await assertTakesAppointments(tx, lab)
  return lab
}

/** Whether a booking key is one of a service center. */
const isOfServiceCenter = ({ provider, lab }: Offer): boolean => lab !== null && provider === lab

interface ReservedSlot {
  site: SiteRecord
  plan: SitePlan
  slot: Slot
}

/**
 * Locks the slot of a booking key until this transaction ends.
 * Errors: 400 invalid or expired key; 400 the site does not exist any more or its plan has changed; 400 the slot is taken (sandbox); 404
 * the slot is taken (production).
 */
async function reserveSlot(tx: Tx, lab: OrderLab, offer: Offer, exceptAppointmentId?: string): Promise<ReservedSlot> {
  if (offer.lab !== lab.slug) throw badRequest(`Location with site code ${offer.site} not found`)
  const site = await findBookableSite(tx, lab.id, offer.site)
  const slot = { start: new Date(offer.start_s * 1000), end: new Date(offer.end_s * 1000) }
  const scheduler = selectScheduler(tx.tenant)
  const plan = isBookableSite(site) ? (await scheduler.loadPlans(tx, lab.id, [site], tx.now)).get(site.site_code) : undefined
  if (!plan || plan.price !== offer.price || !isOffered(plan, slot, tx.now)) throw badRequest(SLOT_UNAVAILABLE)
  if ((await countBookingsLocked(tx, lab.slug, site.site_code, slot, exceptAppointmentId)) >= plan.places)
    throw scheduler.slotTakenError()
  return { site, plan, slot }
}

/** Whether a site still has the slot: its schedule may have changed since the key was made. */
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

/** Generates the code that a patient shows at the desk. */
const generateConfirmationCode = (): string =>
  Array.from({ length: CODE_LETTERS }, () => String.fromCharCode(65 + randomInt(26))).join('')

const toReply = ({ appointment }: LockedAppointment): PreserializedJson<Appointment> =>
  new PreserializedJson(JSON.stringify(appointment))

/**
 * Books a slot at a service center. Emits labtest.appointment.created, labtest.appointment.updated, and the events of the order's
 * transitions. Queues scheduling.expire_booking if the booking needs manual confirmation.
 * Errors: 404 unknown order; 400 as in `bookableLabOf`, `assertBookable` and `reserveSlot`; 502 the booking needs confirmation and the caller does
 * not wait for it; nothing was booked.
 */
export async function bookPsc(
  tx: Tx,
  vault: Vault,
  order_id: string,
  body: BookAppointment,
): Promise<PreserializedJson<Appointment>> {
  const lockedOrder = await lockOrder(tx, order_id)
  const lab = await getBookableLab(tx, lockedOrder)
  const offer = verifyBookingKey(vault, tx.tenant, isOfServiceCenter, body.booking_key, tx.now)
  await assertBookable(tx, lockedOrder)
  const reserved = await reserveSlot(tx, lab, offer)
  const isAutoConfirmed = reserved.plan.confirms === 'at_once'
  if (!isAutoConfirmed && !body.async_confirmation)
    throw new Problem(502, { detail: 'The service center did not confirm the appointment in time.' })
  const isConfirmedByLab = lab.slug === 'sonora_quest' && hasOption(tx.tenant, labConfirmedScheduling)
  const bookedAppointment = await bookAppointment(
    tx,
    lockedOrder,
    {
      type: 'patient_service_center',
      provider: lab.slug,
      external_id: generateConfirmationCode(),
      ...siteAndTime(reserved),
      appointment_notes: body.appointment_notes,
      internalData: {
        movable: isAutoConfirmed && !isConfirmedByLab,
        cancellable: !isConfirmedByLab,
        tier: null,
        price: offer.price,
      },
    },
    isConfirmedByLab ? 'unconfirmed' : isAutoConfirmed ? 'confirmed' : 'unanswered',
  )
  if (!isAutoConfirmed && !isConfirmedByLab) {
    const timeout_ms = body.async_confirmation_timeout_millisecond ?? CONFIRMATION_TIMEOUT_MS
    enqueue(
      tx,
      expirePendingBooking,
      { order_id, appointment_id: bookedAppointment.appointment.id },
      addSeconds(tx.now, Math.ceil(timeout_ms / 1000)),
    )
  }
  await saveOrder(tx, lockedOrder)
  return toReply(bookedAppointment)
}

/**
 * Reschedules an appointment to another site or time. Emits the same events as a booking except `created`. Errors: 400 and 404 as for a
 * booking; 400 it cannot be rescheduled.
 */
export async function reschedulePsc(
  tx: Tx,
  vault: Vault,
  order_id: string,
  body: RescheduleAppointment,
): Promise<PreserializedJson<Appointment>> {
  const lockedOrder = await lockOrder(tx, order_id)
  const lab = await getBookableLab(tx, lockedOrder)
  const moved = await requireAppointment(tx, lockedOrder)
  assertReschedulable(lockedOrder, moved)
  const offer = verifyBookingKey(vault, tx.tenant, isOfServiceCenter, body.booking_key, tx.now)
  const reserved = await reserveSlot(tx, lab, offer, moved.appointment.id)
  // Moving to a site with manual confirmation requires cancelling first: a confirmed appointment is not exchanged for a pending one.
  if (reserved.plan.confirms !== 'at_once') throw badRequest('This appointment cannot be rescheduled.')
  const data = { origin: 'patient', is_reschedule: true }
  await rescheduleAppointment(
    tx,
    lockedOrder,
    moved,
    { ...siteAndTime(reserved), appointment_notes: body.appointment_notes },
    data,
  )
  await saveOrder(tx, lockedOrder)
  return toReply(moved)
}

/**
 * Cancels an appointment; the reason is absent for clients of an old path. Emits labtest.appointment.updated, and labtest.order.updated if
 * the order shows the appointment.
 * Errors: 404 unknown order; 400 no appointment, one that is over or that only the laboratory can cancel; 400 unknown reason.
 */
export async function cancelPsc(tx: Tx, order_id: string, body?: CancelPscAppointment): Promise<PreserializedJson<Appointment>> {
  const lockedOrder = await lockOrder(tx, order_id)
  labOf(lockedOrder)
  if (body) assertReason(body.cancellationReasonId)
  const reserved = await requireAppointment(tx, lockedOrder)
  if (!reserved.internalData.cancellable) throw badRequest('This appointment can only be cancelled with the laboratory.')
  await cancelAppointment(tx, lockedOrder, reserved, {
    reason_id: body?.cancellationReasonId,
    notes: body?.note,
    data: { origin: 'patient' },
  })
  await saveOrder(tx, lockedOrder)
  return toReply(reserved)
}

/** Returns the appointment of an order. Errors: 404 unknown order, other collection method, or no appointment. */
export async function readPsc(tx: Tx, order_id: string): Promise<PreserializedJson<Appointment>> {
  const { lab_test } = await getOrder(tx, order_id)
  if (lab_test.method !== 'walk_in_test') throw notFound('This order is not a walk-in phlebotomy order.')
  const document = await readAppointment(tx, order_id)
  if (document === undefined) throw notFound('Appointment not found.')
  return new PreserializedJson(document)
}

/** Reasons for cancelling PSC appointments. Source: lab-testing.md 18. */
export const pscReasons: CancellationReason[] = [
  { id: '5c0257ef-6fea-4a22-b20a-3ddab573d5c9', name: 'Other', is_refundable: true },
]

/** Errors: 400 unknown reason. */
function assertReason(id: string): void {
  if (!pscReasons.some((reason) => reason.id === id)) throw badRequest('Cancellation reason not found.')
}
