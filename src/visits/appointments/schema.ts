// Shapes of appointments of all providers. Source: lab-testing.md 17.1, 18, 19; sdk-response-required.tsv.
import {
  DateOnly,
  Fields,
  Int,
  Maybe,
  Nullable,
  OpenEnum,
  T,
  Text,
  Timestamp,
  Uuid,
  type Static,
} from '../../platform/schema/schema.ts'
import { labSlugs } from '../../people/users/sources.ts'
import { shownStreet } from '../../people/person/contact-fields.ts'
import { appointmentStatuses, appointmentTypes, eventStatuses } from './status-machine.ts'

export const appointmentProviders = ['getlabs', 'phlebfinders', 'quest', 'sonora_quest'] as const
/** Also the laboratories at whose service centers appointments can be booked. */
const shownProviders: readonly string[] = [...new Set([...appointmentProviders, ...labSlugs])]

export const LngLat = Fields({ lng: T.Number(), lat: T.Number() }, { title: 'LngLat' })
export type LngLat = Static<typeof LngLat>

export const UsAddress = Fields(
  {
    ...shownStreet,
    zip_code: T.String(),
    unit: Nullable(T.String()),
    access_notes: Nullable(T.String()),
  },
  { title: 'USAddress' },
)
export type UsAddress = Static<typeof UsAddress>

const EventData = Nullable(T.Record(T.String(), T.Unknown()))
export type EventData = Record<string, unknown> | null

const AppointmentEvent = Fields(
  { created_at: Timestamp, status: OpenEnum(eventStatuses), data: EventData },
  { title: 'ClientFacingAppointmentEvent' },
)

export const Appointment = Fields(
  {
    id: Uuid,
    user_id: Uuid,
    order_id: Uuid,
    order_transaction_id: Nullable(Uuid),
    address: UsAddress,
    location: LngLat,
    start_at: Nullable(Timestamp),
    end_at: Nullable(Timestamp),
    iana_timezone: Nullable(T.String({ description: 'Time zone of the location; instants are in UTC.' })),
    type: OpenEnum(appointmentTypes),
    provider: OpenEnum(shownProviders),
    status: OpenEnum(appointmentStatuses),
    provider_id: T.String({ description: 'Id of the appointment at the provider.' }),
    external_id: Nullable(T.String({ description: 'The code that a patient shows at the service center.' })),
    can_reschedule: T.Boolean(),
    appointment_notes: Nullable(T.String()),
    event_status: OpenEnum(eventStatuses),
    event_data: EventData,
    events: T.Array(AppointmentEvent, { description: 'Oldest first.' }),
  },
  { title: 'ClientFacingAppointment' },
)
export type Appointment = Static<typeof Appointment>

/** Internal data of an appointment, not shown. */
export const InternalData = Fields({
  /** Whether the provider's reply is pending; until then the order does not change. */
  awaits_provider: T.Boolean(),
  /** Whether the appointment may be rescheduled here if its status allows it. */
  movable: T.Boolean(),
  /** Whether the appointment may be cancelled here. */
  cancellable: T.Boolean(),
  /** The service type of an at-home appointment; null for a PSC appointment. */
  tier: Nullable(T.String()),
  price: T.Number(),
  /** Whether the price of a cancelled appointment is refunded; null if it was not cancelled. */
  refundable: Nullable(T.Boolean()),
  cancellation_reason_id: Nullable(T.String()),
  cancellation_notes: Nullable(T.String()),
})
export type InternalData = Static<typeof InternalData>

const BookingKey = Text({ minLength: 1, maxLength: 2000, description: 'The key of the slot from the availability.' })
const Notes = Maybe(Text({ maxLength: 1000 }))

export const BookAppointment = Fields(
  {
    booking_key: BookingKey,
    appointment_notes: Notes,
    async_confirmation: Maybe(T.Boolean({ default: false })),
    sync_confirmation_timeout_millisecond: Maybe(Int({ minimum: 1000, maximum: 10_000 })),
    async_confirmation_timeout_millisecond: Maybe(Int({ minimum: 60_000, maximum: 172_800_000 })),
  },
  { title: 'AppointmentBookingRequest' },
)
export type BookAppointment = Static<typeof BookAppointment>

export const RescheduleAppointment = Fields(
  { booking_key: BookingKey, appointment_notes: Notes },
  { title: 'AppointmentRescheduleRequest' },
)
export type RescheduleAppointment = Static<typeof RescheduleAppointment>

export const CancellationReason = Fields(
  { id: Uuid, name: T.String(), is_refundable: T.Boolean() },
  { title: 'ClientFacingAppointmentCancellationReason' },
)
export type CancellationReason = Static<typeof CancellationReason>

export const TimeSlot = Fields(
  {
    booking_key: Nullable(T.String()),
    start: Timestamp,
    end: Timestamp,
    expires_at: Nullable(Timestamp),
    price: T.Number({ description: 'In cents.' }),
    is_priority: T.Boolean(),
    num_appointments_available: T.Integer(),
  },
  { title: 'TimeSlot' },
)
export type TimeSlot = Static<typeof TimeSlot>

const AppointmentLocation = Fields(
  {
    location: LngLat,
    distance: Nullable(T.Integer({ description: 'Miles, rounded; null if the request named the sites.' })),
    address: UsAddress,
    code: T.String(),
    name: T.String(),
    iana_timezone: Nullable(T.String()),
  },
  { title: 'AppointmentLocation' },
)
export type AppointmentLocation = Static<typeof AppointmentLocation>

export const AvailableSlots = Fields(
  {
    slots: T.Array(
      Fields({ location: Nullable(AppointmentLocation), date: DateOnly, slots: T.Array(TimeSlot) }, { title: 'DaySlots' }),
    ),
    timezone: Nullable(T.String()),
  },
  { title: 'AppointmentAvailabilitySlots' },
)
export type AvailableSlots = Static<typeof AvailableSlots>
