// Booking, rescheduling and cancelling at-home appointments, for patients and their teams. Source: lab-testing.md 19.
import {
  assertBookable,
  assertReschedulable,
  bookAppointment,
  cancelAppointment,
  rescheduleAppointment,
} from '../appointments/appointments.ts'
import { verifyBookingKey, type Offer } from '../appointments/booking-keys.ts'
import {
  appointmentEnded,
  readAppointment,
  requireAppointment,
  type LockedAppointment,
} from '../appointments/locked-appointment.ts'
import { defineHook } from '../../platform/db/hooks.ts'
import { isFinal } from '../appointments/status-machine.ts'
import type {
  Appointment,
  BookAppointment,
  RescheduleAppointment,
  UsAddress,
  CancellationReason,
} from '../appointments/schema.ts'
import { saveOrder, lockOrder } from '../../lab/orders/change-order.ts'
import type { LockedOrder } from '../../lab/orders/locked-order.ts'
import { getOrder } from '../../lab/orders/orders.ts'
import { iso, ageOn } from '../../platform/runtime/clock.ts'
import { dayIn } from '../../platform/runtime/zoned-time.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { PreserializedJson } from '../../platform/http/operation.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { visitLinksFor, visitLinkFor } from './links/links.ts'
import type { VisitDetails, VisitLink, PendingVisit, RequestedWindow } from './links/visit-link.ts'
import type { CancelVisit, RequestAppointment } from './schema.ts'
import type { ServiceType } from './staff-schema.ts'
import { toUsAddress, NOT_SERVED, patientAddress, requireVisitLocation } from './visit-location.ts'

const METHOD = 'at_home_phlebotomy'
const ADULT_YEARS = 18

type Reply = Promise<PreserializedJson<Appointment>>

/** Locks an at-home phlebotomy order. Errors: 404 unknown order; 400 other collection method. */
export async function lockAtHomeOrder(tx: Tx, order_id: string): Promise<LockedOrder> {
  const lockedOrder = await lockOrder(tx, order_id)
  if (lockedOrder.order.lab_test.method !== METHOD) throw badRequest('Order is not an at-home phlebotomy order')
  return lockedOrder
}

/** The details of an order's patient that the phlebotomist receives. */
export function toVisitDetails({ order }: LockedOrder, address: UsAddress, appointment_notes: string | null): VisitDetails {
  const { first_name = null, last_name = null, phone_number = null } = order.patient_details ?? {}
  return { patient: { first_name, last_name, phone_number }, address, appointment_notes }
}

/** Locks the order, runs `work`, saves the order and replies with the appointment that `work` returns. */
async function updateAndReply(tx: Tx, order_id: string, work: (lockedOrder: LockedOrder) => Promise<LockedAppointment>): Reply {
  const lockedOrder = await lockAtHomeOrder(tx, order_id)
  const { appointment } = await work(lockedOrder)
  await saveOrder(tx, lockedOrder)
  return new PreserializedJson(JSON.stringify(appointment))
}

const requestedWindow = ({ start_s, end_s, price }: Offer): RequestedWindow => ({
  start_ms: start_s * 1000,
  end_ms: end_s * 1000,
  price_cents: price,
})

const spanOf = ({ start_s, end_s }: Offer) => ({
  start_at: iso(new Date(start_s * 1000)),
  end_at: iso(new Date(end_s * 1000)),
})

function requireOffer(tx: Tx, vault: Vault, key: string): Offer {
  const links = visitLinksFor(tx.tenant).filter(({ service_types }) => service_types.includes('appointment-ready'))
  const isOfLink = (offer: Offer) => links.some(({ provider }) => provider === offer.provider)
  return verifyBookingKey(vault, tx.tenant, isOfLink, key, tx.now)
}

const ADULTS_ONLY = 'At-home phlebotomy appointments are for patients of 18 years and older.'

/**
 * Creates a visit for an order. Errors: 400 the patient is a minor; 400 no provider serves the address with this service type, or the
 * address was not found.
 */
async function createVisit(
  tx: Tx,
  lockedOrder: LockedOrder,
  link: VisitLink,
  service: ServiceType,
  address: UsAddress,
  notes: string | undefined,
): Promise<PendingVisit> {
  const { id: order_id, user_id, patient_details } = lockedOrder.order
  if (!patient_details) throw badRequest(ADULTS_ONLY)
  const where = await requireVisitLocation(tx, address)
  if (ageOn(patient_details.dob, dayIn(tx.now, where.time_zone)) < ADULT_YEARS) throw badRequest(ADULTS_ONLY)
  if (!(await link.services(tx, where)).includes(service)) throw badRequest(NOT_SERVED)
  const refusal = link.unavailableReason(address)
  if (refusal !== undefined) throw badRequest(refusal)
  return { appointment_id: tx.uuid(), order_id, user_id, where, details: toVisitDetails(lockedOrder, address, notes ?? null) }
}

const toBooking = ({ appointment_id, where, details }: PendingVisit, link: VisitLink) => ({
  id: appointment_id,
  type: 'phlebotomy' as const,
  provider: link.provider,
  site_code: null,
  address: details.address,
  location: { lng: where.lng, lat: where.lat },
  iana_timezone: where.time_zone,
  appointment_notes: details.appointment_notes,
})

/**
 * Books an at-home appointment. Writes appointment, lab_order, phlebotomy_visit. Emits labtest.appointment.created and .updated,
 * labtest.order.updated.
 * Errors: 400 the key, the order, the patient or the address do not allow it; 404 unknown order; 404 the window is taken (production).
 */
export function bookVisit(tx: Tx, vault: Vault, order_id: string, body: BookAppointment): Reply {
  return updateAndReply(tx, order_id, async (lockedOrder) => {
    const offer = requireOffer(tx, vault, body.booking_key)
    await assertBookable(tx, lockedOrder)
    const link = visitLinkFor(tx.tenant, offer.provider)!
    const visit = await createVisit(
      tx,
      lockedOrder,
      link,
      'appointment-ready',
      patientAddress(lockedOrder.order),
      body.appointment_notes,
    )
    const reply = await link.book(tx, visit, requestedWindow(offer))
    const internalData = { movable: true, tier: 'appointment-ready', price: offer.price }
    return bookAppointment(tx, lockedOrder, { ...toBooking(visit, link), ...spanOf(offer), internalData }, reply)
  })
}

/**
 * Requests an at-home appointment from a provider that sets the date later. Writes appointment, lab_order, phlebotomy_visit. Emits
 * labtest.appointment.created and .updated, labtest.order.updated.
 * Errors: 400 the provider takes no requests, or the order, the patient or the address do not allow it; 404 unknown order.
 */
export function requestVisit(tx: Tx, order_id: string, body: RequestAppointment): Reply {
  return updateAndReply(tx, order_id, async (lockedOrder) => {
    const link = visitLinkFor(tx.tenant, body.provider)
    if (!link?.service_types.includes('appointment-request'))
      throw badRequest('This provider does not accept appointment requests.')
    await assertBookable(tx, lockedOrder)
    const given = toUsAddress(body.address)
    const address = { ...given, access_notes: given.access_notes ?? lockedOrder.order.patient_address?.access_notes ?? null }
    const visit = await createVisit(tx, lockedOrder, link, 'appointment-request', address, body.appointment_notes)
    const reply = await link.request(tx, visit)
    const internalData = { movable: false, tier: 'appointment-request', price: 0 }
    return bookAppointment(tx, lockedOrder, { ...toBooking(visit, link), start_at: null, end_at: null, internalData }, reply)
  })
}

/**
 * Reschedules an at-home appointment to another window and updates the notes for the phlebotomist. Writes appointment, lab_order,
 * phlebotomy_visit. Emits labtest.appointment.updated, labtest.order.updated.
 * Errors: 400 the key, the appointment or the order do not allow it; 404 unknown order; 404 the window is taken (production).
 */
export function rescheduleVisit(tx: Tx, vault: Vault, order_id: string, body: RescheduleAppointment): Reply {
  return updateAndReply(tx, order_id, async (lockedOrder) => {
    const lockedAppointment = await requireAppointment(tx, lockedOrder)
    assertReschedulable(lockedOrder, lockedAppointment)
    const { appointment } = lockedAppointment
    const offer = requireOffer(tx, vault, body.booking_key)
    if (offer.provider !== appointment.provider) throw badRequest('Invalid booking key format')
    const notes = body.appointment_notes ?? appointment.appointment_notes
    const address = { ...appointment.address, access_notes: lockedOrder.order.patient_address?.access_notes ?? null }
    const visit = {
      appointment_id: appointment.id,
      order_id,
      user_id: appointment.user_id,
      where: await requireVisitLocation(tx, address),
      details: toVisitDetails(lockedOrder, address, notes),
    }
    await visitLinkFor(tx.tenant, offer.provider)!.reschedule(tx, visit, requestedWindow(offer))
    lockedAppointment.internalData.price = offer.price
    await rescheduleAppointment(
      tx,
      lockedOrder,
      lockedAppointment,
      { ...spanOf(offer), address, appointment_notes: notes },
      RESCHEDULED_BY_PATIENT,
    )
    return lockedAppointment
  })
}

const RESCHEDULED_BY_PATIENT = { origin: 'patient', is_reschedule: true }

/**
 * Cancels an at-home appointment. Writes appointment, lab_order, phlebotomy_visit. Emits labtest.appointment.updated with `refundable`, and
 * labtest.order.updated.
 * Errors: 400 unknown reason, or nothing left to cancel; 404 unknown order.
 */
export function cancelVisit(tx: Tx, order_id: string, body: CancelVisit): Reply {
  return updateAndReply(tx, order_id, async (lockedOrder) => {
    const lockedAppointment = await requireAppointment(tx, lockedOrder)
    if (isFinal(lockedAppointment.appointment.event_status)) throw badRequest('This appointment has been cancelled or completed.')
    assertReason(body.cancellation_reason_id)
    const { cancellation_reason_id: reason_id, notes } = body
    await cancelAppointment(tx, lockedOrder, lockedAppointment, {
      reason_id,
      notes,
      data: { origin: 'patient', cancellation_reason_id: reason_id },
    })
    return lockedAppointment
  })
}

/** Returns the appointment of an order. Errors: 404 unknown order, other collection method, or no appointment. */
export async function readVisit(tx: Tx, order_id: string): Reply {
  const { lab_test } = await getOrder(tx, order_id)
  if (lab_test.method !== METHOD) throw notFound('This order is not an at-home phlebotomy order.')
  const document = await readAppointment(tx, order_id)
  if (document === undefined) throw notFound('Appointment not found.')
  return new PreserializedJson(document)
}

/** Deletes the visit when its appointment has ended, for any reason. */
export const visitEnded = defineHook(appointmentEnded, async (tx, { type, id, provider }) => {
  if (type === 'phlebotomy') await visitLinkFor(tx.tenant, provider)?.cancel(tx, id)
})

/** Reasons for cancelling at-home appointments. Source: lab-testing.md 19.4. */
const reasonNames = {
  '5c0257ef-6fea-4a22-b20a-3ddab573d5c9': 'Did not fast for appointment',
  '448c519c-64b4-4497-ae73-622fa93371b3': 'Do not trust company',
  'd378e152-12d1-433e-9dd1-e0410f9331dc': 'Getlabs cannot deliver to my preferred lab',
  '5330c863-ac80-4316-901b-d305d0df74d5': 'No longer interested',
  '2b9f23fd-163e-4483-bb10-90c74a67e0dc': 'Other',
  '98f861dd-fe61-4817-a9d6-1b99b19cd0fb': 'Provider asked me to cancel',
  '7dfd7da5-ed6e-40bb-a7e4-c8003f0c10a9': 'Scheduled for wrong patient',
  '796da8c8-e654-4347-8ded-1026410c1976': 'Scheduled time no longer works',
  'ba02af35-a34f-4a7a-abe5-5f766e8f6cd1': 'Unable to get lab order from provider',
  '0c9425db-f11e-49c5-b976-3c0d1d4a4ea8': 'Wanted to book in-person appointment',
  '2599a0ea-0b4a-42fe-8df6-d8f7c68182e7': 'Went to lab for appointment',
}

export const reasons: CancellationReason[] = Object.entries(reasonNames).map(([id, name]) => ({ id, name, is_refundable: true }))

/** Errors: 400 unknown reason. */
function assertReason(id: string): void {
  if (!Object.hasOwn(reasonNames, id)) throw badRequest('Cancellation reason not found.')
}
