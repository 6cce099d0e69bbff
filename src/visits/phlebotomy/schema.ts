// Shapes of at-home appointments. Source: lab-testing.md 5.2, 19.
import { appointmentProviders, LngLat, UsAddress } from '../appointments/schema.ts'
import { eventStatuses } from '../appointments/status-machine.ts'
import { teamInEnvironment } from '../../tenancy/organizations/management-shapes.ts'
import { RuleError, type Rule } from '../../platform/schema/request-validation.ts'
import {
  DateOnly,
  Fields,
  Maybe,
  Nullable,
  OpenEnum,
  T,
  Text,
  Timestamp,
  Uuid,
  type Static,
} from '../../platform/schema/schema.ts'
import { addressAliases, street, Zip } from '../../people/person/contact-fields.ts'
import { stateCode } from '../../people/person/countries.ts'
import { Reference } from './staff-schema.ts'

const state: Rule = (text) => stateCode(text) ?? new RuleError('not a US state')

export const UsAddressInput = Fields(
  {
    ...street,
    state: Text({ minLength: 1, maxLength: 80, rule: state, description: 'Two-letter code or name.' }),
    zip_code: Zip('ZIP or ZIP+4.'),
    unit: Maybe(Text({ maxLength: 50, description: 'Deprecated: use `second_line`.' })),
    access_notes: Maybe(Text({ maxLength: 1000, description: 'How to enter the building.' })),
  },
  { title: 'USAddressInput', aliases: { ...addressAliases, zip: 'zip_code' } },
)
export type UsAddressInput = Static<typeof UsAddressInput>

export const AvailabilityQuery = Fields({
  start_date: Maybe(DateOnly),
})

export const RequestAppointment = Fields(
  {
    address: UsAddressInput,
    provider: OpenEnum(appointmentProviders),
    appointment_notes: Maybe(Text({ maxLength: 1000 })),
  },
  { title: 'RequestAppointmentRequest' },
)
export type RequestAppointment = Static<typeof RequestAppointment>

export const CancelVisit = Fields(
  { cancellation_reason_id: Uuid, notes: Maybe(Text({ maxLength: 1000 })) },
  { title: 'AppointmentCancelRequest' },
)
export type CancelVisit = Static<typeof CancelVisit>

export const OrderParams = Fields({ order_id: Uuid })

export const VisitsParams = Fields(teamInEnvironment)
export const VisitParams = Fields({ ...teamInEnvironment, order_id: Uuid })

/** An upcoming or current visit, with the details for the phlebotomist. */
export const Visit = Fields(
  {
    appointment_id: Uuid,
    order_id: Uuid,
    provider: T.String(),
    event_status: OpenEnum(eventStatuses),
    start_at: Nullable(Timestamp),
    end_at: Nullable(Timestamp),
    iana_timezone: T.String(),
    phlebotomist: Nullable(T.String({ description: 'The reference of the phlebotomist; null if none is assigned.' })),
    patient: Fields({ first_name: Nullable(T.String()), last_name: Nullable(T.String()), phone_number: Nullable(T.String()) }),
    address: UsAddress,
    location: LngLat,
    appointment_notes: Nullable(T.String()),
  },
  { title: 'Visit' },
)
export type Visit = Static<typeof Visit>
export const Visits = Fields({ data: T.Array(Visit) }, { title: 'Visits' })

export const SetVisitDate = Fields(
  {
    start_at: Timestamp,
    end_at: Timestamp,
    phlebotomist: Maybe(Reference),
  },
  { title: 'VisitDate' },
)
export type SetVisitDate = Static<typeof SetVisitDate>

export const SetVisitProgress = Fields({ status: OpenEnum(['in_progress', 'completed']) }, { title: 'VisitProgress' })
export type SetVisitProgress = Static<typeof SetVisitProgress>
