// Shapes of PSC appointments. Source: lab-testing.md 18.
import { DateOnly, Fields, Maybe, OpenEnum, T, Text, Uuid, Clearable, type Static } from '../../platform/schema/schema.ts'
import { ZipCode } from '../psc/schema.ts'

/** Labs that always take appointments, also while they have no site to book. Others do once one of their sites can be booked. */
export const bookableLabs: readonly string[] = ['quest', 'sonora_quest']

const radii = ['10', '20', '25', '50', '100'] as const

const availabilityFields = {
  lab: Maybe(
    Text({
      minLength: 1,
      maxLength: 100,
      description: 'Slug of a lab with sites to book. Required, here or in the body.',
      example: 'quest',
    }),
  ),
  start_date: Maybe(DateOnly),
  site_codes: Maybe(T.Array(Text({ minLength: 1, maxLength: 100 }), { maxItems: 100, description: 'At most 3.' })),
  zip_code: Maybe(ZipCode),
  allow_stale: Maybe(T.Boolean({ description: 'Accepted for compatibility; responses are never stale.' })),
}

export const AvailabilityQuery = Fields({
  ...availabilityFields,
  radius: Maybe(
    OpenEnum([...radii, ''], { description: 'Miles; default 25. An empty value is not allowed together with `zip_code`.' }),
  ),
})

/** The same parameters, for clients that send a body. */
export const AvailabilityBody = Fields(
  {
    ...availabilityFields,
    radius: Clearable(OpenEnum(radii, { description: 'Miles; null is not allowed together with `zip_code`.' })),
  },
  { title: 'PscAvailabilityRequest' },
)

export type AvailabilityRequest = Partial<Omit<Static<typeof AvailabilityBody>, 'radius'>> & { radius?: string | null }

export const CancelPscAppointment = Fields(
  { cancellationReasonId: Uuid, note: Maybe(Text({ maxLength: 1000 })) },
  { title: 'PscAppointmentCancelRequest', aliases: { cancellation_reason_id: 'cancellationReasonId', notes: 'note' } },
)
export type CancelPscAppointment = Static<typeof CancelPscAppointment>
