// A visit link: the adapter between appointments and one way of having a patient visited. It sees a visit, never an order. What a link
// does, it does in the transaction of the appointment; one to a company outside would queue a job there.
import type { UsAddress } from '../../appointments/schema.ts'
import type { Tx } from '../../../platform/db/transaction.ts'
import { badRequest } from '../../../platform/http/errors.ts'
import type { ProviderName, ServiceType } from '../service-types.ts'
import type { VisitLocation } from '../visit-location.ts'
import type { OpenWindow, Span } from '../time-windows.ts'

/** What those who come are told, anew at every booking and change of time. */
export interface VisitDetails {
  patient: { first_name: string | null; last_name: string | null; phone_number: string | null }
  /** With the notes of how to get in. */
  address: UsAddress
  appointment_notes: string | null
}

export interface PendingVisit {
  appointment_id: string
  order_id: string
  user_id: string
  where: VisitLocation
  told: VisitDetails
}

/** A window as it was offered. */
export interface RequestedWindow extends Span {
  price_cents: number
}

/** `confirmed`: the date is fixed. `requested`: it comes later. */
export type BookingOutcome = 'confirmed' | 'requested'

export interface VisitLink {
  provider: ProviderName
  /** Without `appointment-ready` nothing is available and nothing can be booked, without `appointment-request` nothing requested. */
  service_types: readonly ServiceType[]
  /** Ways in which patients there are visited; none where nobody comes. */
  services(tx: Tx, where: VisitLocation): Promise<ServiceType[]>
  /** Why nobody can come to an address that is served; undefined when somebody can. */
  unavailableReason(address: UsAddress): string | undefined
  /** What is free and begins within `range`, by whoever offers it; undefined where nobody comes. */
  availability(tx: Tx, where: VisitLocation, range: Span): Promise<OpenWindow[][] | undefined>
  /** Take a place of a window. Throws what the caller is answered when there is none. */
  book(tx: Tx, visit: PendingVisit, window: RequestedWindow): Promise<BookingOutcome>
  request(tx: Tx, visit: PendingVisit): Promise<BookingOutcome>
  /** Take a place of another window, and give back that of the first. Throws as `book`; then the first is kept. */
  reschedule(tx: Tx, visit: PendingVisit, window: RequestedWindow): Promise<BookingOutcome>
  /** The time of a visit that was requested is fixed, or another one. Left out where that needs nothing done. */
  dated?(tx: Tx, visit: Pick<PendingVisit, 'appointment_id' | 'order_id'>, span: Span): void
  /** Nobody has to come any more. Called however that came about. */
  cancel(tx: Tx, appointment_id: string): Promise<void>
}

/** What a link without the tier does. */
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
