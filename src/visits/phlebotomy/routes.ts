import {
  Appointment,
  AvailableSlots,
  BookAppointment,
  CancellationReason,
  RescheduleAppointment,
} from '../appointments/schema.ts'
import { operation, type Operation } from '../../platform/http/operation.ts'
import { T } from '../../platform/schema/schema.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { visitAvailability } from './phlebotomy-availability.ts'
import { bookVisit, cancelVisit, readVisit, requestVisit, rescheduleVisit, reasons } from './booking.ts'
import { AvailabilityQuery, CancelVisit, OrderParams, RequestAppointment, UsAddressInput } from './schema.ts'
import { staffRoutes } from './staff-routes.ts'

const exampleAddress = { first_line: '1 West Lincoln Street', city: 'Phoenix', state: 'AZ', zip_code: '85004' }

const ofOrder = { logsAccess: true, params: OrderParams, reply: Appointment } as const

export const phlebotomyRoutes = (vault: Vault): Operation[] => [
  operation({
    id: 'get_phlebotomy_appointment_availability',
    logsAccess: false,
    method: 'POST',
    path: '/v3/order/phlebotomy/appointment/availability',
    summary: 'List appointment availability for an address',
    description: 'Always 14 days from `start_date`, by default from today; a day without free windows has an empty list.',
    reads: true,
    query: AvailabilityQuery,
    body: UsAddressInput,
    reply: AvailableSlots,
    example: exampleAddress,
    run: (tx, { query, body }) => visitAvailability(tx, vault, body, query.start_date),
  }),
  operation({
    ...ofOrder,
    id: 'book_phlebotomy_appointment',
    method: 'POST',
    path: '/v3/order/{order_id}/phlebotomy/appointment/book',
    summary: 'Book an at-home appointment',
    description: 'The reply is immediate; parameters for asynchronous confirmation have no effect.',
    body: BookAppointment,
    example: { booking_key: 'of a window that is available', appointment_notes: 'The bell does not work' },
    run: (tx, { params, body }) => bookVisit(tx, vault, params.order_id, body),
  }),
  operation({
    ...ofOrder,
    id: 'request_phlebotomy_appointment',
    method: 'POST',
    path: '/v3/order/{order_id}/phlebotomy/appointment/request',
    summary: 'Request an at-home appointment',
    body: RequestAppointment,
    example: {
      address: { first_line: '12 Sample Avenue', city: 'Onalaska', state: 'WI', zip_code: '54650' },
      provider: 'phlebfinders',
    },
    run: (tx, { params, body }) => requestVisit(tx, params.order_id, body),
  }),
  operation({
    ...ofOrder,
    id: 'reschedule_phlebotomy_appointment',
    method: 'PATCH',
    path: '/v3/order/{order_id}/phlebotomy/appointment/reschedule',
    summary: 'Reschedule an at-home appointment',
    description: 'Absent notes keep their value.',
    body: RescheduleAppointment,
    example: { booking_key: 'of a window that is available' },
    run: (tx, { params, body }) => rescheduleVisit(tx, vault, params.order_id, body),
  }),
  operation({
    ...ofOrder,
    id: 'cancel_phlebotomy_appointment',
    method: 'PATCH',
    path: '/v3/order/{order_id}/phlebotomy/appointment/cancel',
    summary: 'Cancel an at-home appointment',
    description: 'Refundable more than 24 hours ahead; see `event_data`.',
    body: CancelVisit,
    example: { cancellation_reason_id: reasons[0]!.id, notes: 'Had breakfast' },
    run: (tx, { params, body }) => cancelVisit(tx, params.order_id, body),
  }),
  operation({
    id: 'get_phlebotomy_appointment_cancellation_reason',
    logsAccess: false,
    method: 'GET',
    path: '/v3/order/phlebotomy/appointment/cancellation-reasons',
    summary: 'List cancellation reasons',
    reply: T.Array(CancellationReason),
    run: () => Promise.resolve(reasons),
  }),
  operation({
    ...ofOrder,
    id: 'get_phlebotomy_appointment',
    method: 'GET',
    path: '/v3/order/{order_id}/phlebotomy/appointment',
    summary: 'Get the at-home appointment of an order',
    run: (tx, { params }) => readVisit(tx, params.order_id),
  }),
  ...staffRoutes,
]
