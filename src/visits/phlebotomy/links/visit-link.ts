// A visit link: the adapter between appointments and one mobile phlebotomy provider. It receives a visit, never an order. A link works in
// the transaction of the appointment; a link to an outside company would queue a job there.
import type { UsAddress } from '../../appointments/schema.ts'
import type { Tx } from '../../../platform/db/transaction.ts'
import { badRequest } from '../../../platform/http/errors.ts'
import type { ProviderName, ServiceType } from '../staff-schema.ts'
import type { VisitLocation } from '../visit-location.ts'
import type { OpenWindow, Span } from '../time-windows.ts'

/** The details that the phlebotomist receives, again after every booking and rescheduling. */
export interface VisitDetails {
  patient: { first_name: string | null; last_name: string | null; phone_number: string | null }
  /** Includes the access notes. */
  address: UsAddress
  appointment_notes: string | null
}

export interface PendingVisit {
  appointment_id: string
  order_id: string
  user_id: string
  where: VisitLocation
  details: VisitDetails
}

/** A window as it was offered. */
export interface RequestedWindow extends Span {
  price_cents: number
}

/** `confirmed`: the date is set. `requested`: the date is set later. */
type BookingOutcome = 'confirmed' | 'requested'

export interface VisitLink {
  provider: ProviderName
  /** Without `appointment-ready` nothing is available or can be booked; without `appointment-request` nothing can be requested. */
  service_types: readonly ServiceType[]
  /** The service types at a location; empty where the provider does not serve. */
  services(tx: Tx, where: VisitLocation): Promise<ServiceType[]>
  /** Why a served address cannot be visited; undefined if it can be. */
  unavailableReason(address: UsAddress): string | undefined
  /** Open windows that begin within `range`, one list per staff; undefined where the provider does not serve. */
  availability(tx: Tx, where: VisitLocation, range: Span): Promise<OpenWindow[][] | undefined>
  /** Reserves capacity of a window. Throws the error for the caller if there is none. */
  book(tx: Tx, visit: PendingVisit, window: RequestedWindow): Promise<BookingOutcome>
  request(tx: Tx, visit: PendingVisit): Promise<BookingOutcome>
  /** Reserves capacity of another window and releases that of the first. Throws like `book`; then the first stays reserved. */
  reschedule(tx: Tx, visit: PendingVisit, window: RequestedWindow): Promise<BookingOutcome>
  /** Called when the date of a requested visit is set or changed. Absent if the link has nothing to do. */
  onDateChanged?(tx: Tx, visit: Pick<PendingVisit, 'appointment_id' | 'order_id'>, span: Span): void
  /** Releases the visit. Called for every reason for which the appointment has ended. */
  cancel(tx: Tx, appointment_id: string): Promise<void>
}

/** The implementation for a link without this service type. */
export const noRequests = (): never => {
  throw badRequest('This provider does not accept appointment requests.')
}
export const noWindows = (): Promise<undefined> => Promise.resolve(undefined)
export const noBooking = (): never => {
  throw badRequest('Invalid booking key format')
}
export const noRescheduling = (): never => {
  throw badRequest('This appointment cannot be rescheduled.')
}
