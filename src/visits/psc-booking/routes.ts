import {
  Appointment,
  AvailableSlots,
  BookAppointment,
  CancellationReason,
  RescheduleAppointment,
} from '../appointments/schema.ts'
import { operation } from '../../platform/http/operation.ts'
import { Fields, T, Uuid } from '../../platform/schema/schema.ts'
import { pscScheduling } from './features.ts'
import { availability, type SchedulingDependencies } from './psc-availability.ts'
import { bookPsc, cancelPsc, reschedulePsc, readPsc, pscReasons } from './bookings.ts'
import { AvailabilityBody, AvailabilityQuery, CancelPscAppointment } from './schema.ts'

const orderParams = Fields({ order_id: Uuid })
const feature = pscScheduling
const booking_key = 'bk1.a-key-from-the-availability'

const ofOrder = { feature, logsAccess: true, params: orderParams, reply: Appointment } as const

export const pscBookingRoutes = (means: SchedulingDependencies) => [
  operation({
    id: 'get_psc_appointment_availability',
    logsAccess: false,
    method: 'POST',
    path: '/v3/order/psc/appointment/availability',
    summary: 'List appointment availability of patient service centers',
    description:
      'Fourteen days from `start_date`, one entry for each site and day. Parameters are read from the query, and from a JSON body.',
    reads: true,
    feature,
    query: AvailabilityQuery,
    body: AvailabilityBody,
    body_optional: true,
    reply: AvailableSlots,
    example: { lab: 'quest', zip_code: '85004' },
    run: (tx, { query, body }) => availability(tx, means, { ...(body as object | undefined), ...query }),
  }),
  operation({
    ...ofOrder,
    id: 'book_psc_appointment',
    method: 'POST',
    path: '/v3/order/{order_id}/psc/appointment/book',
    summary: 'Book an appointment at a patient service center',
    body: BookAppointment,
    idempotency: { scope: 'book_psc_appointment', retention_s: 14 * 86_400 },
    example: { booking_key },
    run: (tx, { params, body }) => bookPsc(tx, means.vault, params.order_id, body),
  }),
  operation({
    ...ofOrder,
    id: 'get_psc_appointment',
    method: 'GET',
    path: '/v3/order/{order_id}/psc/appointment',
    summary: 'Read the appointment of an order at a patient service center',
    run: (tx, { params }) => readPsc(tx, params.order_id),
  }),
  operation({
    ...ofOrder,
    id: 'reschedule_psc_appointment',
    method: 'PATCH',
    path: '/v3/order/{order_id}/psc/appointment/reschedule',
    summary: 'Reschedule a PSC appointment',
    body: RescheduleAppointment,
    example: { booking_key },
    run: (tx, { params, body }) => reschedulePsc(tx, means.vault, params.order_id, body),
  }),
  operation({
    ...ofOrder,
    id: 'cancel_psc_appointment',
    method: 'PATCH',
    path: '/v3/order/{order_id}/psc/appointment/cancel',
    summary: 'Cancel an appointment at a patient service center',
    body: CancelPscAppointment,
    example: { cancellationReasonId: pscReasons[0]!.id },
    run: (tx, { params, body }) => cancelPsc(tx, params.order_id, body),
  }),
  operation({
    ...ofOrder,
    id: 'cancel_psc_appointment_stale',
    method: 'DELETE',
    path: '/v3/order/{order_id}/appointment/psc/cancel',
    summary: 'Cancel an appointment at a patient service center (an old path)',
    deprecated: true,
    run: (tx, { params }) => cancelPsc(tx, params.order_id),
  }),
  operation({
    id: 'get_psc_appointment_cancellation_reason',
    logsAccess: false,
    method: 'GET',
    path: '/v3/order/psc/appointment/cancellation-reasons',
    summary: 'List reasons to cancel an appointment at a patient service center',
    feature,
    reply: T.Array(CancellationReason),
    run: () => Promise.resolve(pscReasons),
  }),
]
