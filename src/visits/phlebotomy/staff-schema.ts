// Shapes of phlebotomists and teams, as an operator writes them.
import { Environment, Region } from '../../tenancy/organizations/management-shapes.ts'
import { RuleError, type FinalizeObject } from '../../platform/schema/request-validation.ts'
import {
  DateOnly,
  Fields,
  Int,
  Maybe,
  Nullable,
  T,
  Text,
  TimeZone,
  Timestamp,
  Uuid,
  type Static,
  OpenEnum,
} from '../../platform/schema/schema.ts'
import { ZipOfFiveDigits } from '../../people/person/contact-fields.ts'

/** Source: lab-testing.md 2, 19.1. `appointment-ready`: windows are offered and booked. `appointment-request`: a visit is requested, and its date is set later. */
export const serviceTypes = ['appointment-ready', 'appointment-request'] as const
export const ServiceType = OpenEnum(serviceTypes)
export type ServiceType = (typeof serviceTypes)[number]

const providerNames = ['getlabs', 'phlebfinders'] as const
export type ProviderName = (typeof providerNames)[number]

const ZIPS_MAX = 2000
const MINUTES_MAX = 1440

const Clock = Text({
  pattern: '^(([01]\\d|2[0-3]):(00|15|30|45)|24:00)$',
  says: 'be a time of day in quarters of an hour, 00:00 to 24:00',
  description: 'Quarter hours, `00:00` to `24:00`.',
  example: '08:00',
})

/** Minutes since midnight. */
export const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))

const endAfterStart: FinalizeObject = (hours) =>
  minutesOf(hours.from as string) < minutesOf(hours.to as string)
    ? hours
    : { field: 'to', refusal: new RuleError('must be later than from') }

export const StaffHours = Fields({ from: Clock, to: Clock }, { title: 'StaffHours', finish: endAfterStart })
export type StaffHours = Static<typeof StaffHours>

export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const

const DayHours = Maybe(T.Array(StaffHours, { maxItems: 10 }))
const sameEveryDay = {
  monday: DayHours,
  tuesday: DayHours,
  wednesday: DayHours,
  thursday: DayHours,
  friday: DayHours,
  saturday: DayHours,
  sunday: DayHours,
} satisfies Record<(typeof weekdays)[number], unknown>

const inOrder = (hours: StaffHours[]): boolean =>
  hours
    .toSorted((a, b) => minutesOf(a.from) - minutesOf(b.from))
    .every((hour, n, hours) => n === 0 || minutesOf(hour.from) >= minutesOf(hours[n - 1]!.to))

const nonOverlapping: FinalizeObject = (days) => {
  for (const weekday of weekdays)
    if (!inOrder((days[weekday] as StaffHours[] | undefined) ?? []))
      return { field: weekday, refusal: new RuleError('must not have hours that overlap') }
  return days
}

const degrees = (max: number) => T.Number({ minimum: -max, maximum: max })
const center = { lat: degrees(90), lng: degrees(180) }
const radius_miles = T.Number({ minimum: 0.1, maximum: 200 })
const Zips = T.Array(ZipOfFiveDigits(), { maxItems: ZIPS_MAX })

const hasServiceArea: FinalizeObject = (area) => {
  if (!(area.zips as string[] | undefined)?.length && !area.center)
    return { field: 'zips', refusal: new RuleError('must contain ZIP codes if center is not set') }
  if (area.center && area.radius_miles === undefined)
    return { field: 'radius_miles', refusal: new RuleError('is required if center is set') }
  return area
}

const Priority = Fields(
  { price_cents: Int({ minimum: 0, maximum: 10_000_000 }), hours: T.Array(StaffHours, { minItems: 1, maxItems: 10 }) },
  {
    title: 'StaffPriority',
    description: 'Windows that begin in these hours of the day are priority windows and have their own price.',
  },
)

const fitsVisit: FinalizeObject = (staff) => {
  if ((staff.visit_min as number) + (staff.travel_min as number) > (staff.window_min as number))
    return { field: 'window_min', refusal: new RuleError('must be long enough for one visit plus travel time') }
  return staff
}

/** Defaults of absent fields. */
export const defaults = {
  is_active: true,
  service_types: ['appointment-ready'] as ServiceType[],
  price_cents: 0,
  capacity: 1,
  window_min: 120,
  visit_min: 30,
  travel_min: 30,
  notice_min: 120,
}

const minutesSchema = (minimum: number, maximum: number, standard: number, description: string) =>
  Maybe(Int({ minimum, maximum, default: standard, description }))

const facts = {
  name: Text({ minLength: 1, maxLength: 200 }),
  is_active: Maybe(T.Boolean({ default: defaults.is_active })),
  service_types: Maybe(T.Array(ServiceType, { minItems: 1, maxItems: serviceTypes.length, default: defaults.service_types })),
  price_cents: Maybe(Int({ minimum: 0, maximum: 10_000_000, default: defaults.price_cents })),
  capacity: Maybe(
    Int({
      minimum: 1,
      maximum: 500,
      default: defaults.capacity,
      description: 'Number of people; each makes one visit after the other.',
    }),
  ),
  window_min: minutesSchema(
    15,
    MINUTES_MAX,
    defaults.window_min,
    'What a patient is promised; a visit begins and ends within it.',
  ),
  visit_min: minutesSchema(5, MINUTES_MAX, defaults.visit_min, 'How long a visit takes.'),
  travel_min: minutesSchema(0, MINUTES_MAX, defaults.travel_min, 'From each visit to the next.'),
  notice_min: minutesSchema(0, 43_200, defaults.notice_min, 'How far ahead a visit must be booked.'),
}

export const StaffInput = Fields(
  {
    ...facts,
    service_area: Fields(
      { zips: Maybe(Zips), center: Maybe(Fields(center)), radius_miles: Maybe(radius_miles) },
      { title: 'StaffAreaInput', finish: hasServiceArea },
    ),
    time_zone: Maybe(TimeZone),
    hours: Fields(sameEveryDay, { title: 'StaffWeekInput', finish: nonOverlapping }),
    days_off: Maybe(T.Array(DateOnly, { maxItems: 1000 })),
    priority: Maybe(Priority),
  },
  { title: 'StaffInput', finish: fitsVisit },
)
export type StaffInput = Static<typeof StaffInput>

const Priorities = Fields({ price_cents: T.Integer(), hours: T.Array(StaffHours) }, { title: 'StaffPriorityShown' })

/** A phlebotomist as stored and shown: every default is filled in. */
export const StaffRecord = Fields(
  {
    id: Uuid,
    org_id: Nullable(T.String({ format: 'uuid', description: 'Null: staff of the operator, for every team.' })),
    reference: T.String({ description: "The owner's name for it." }),
    name: T.String(),
    is_active: T.Boolean({ description: 'Whether new visits can be booked.' }),
    service_types: T.Array(ServiceType),
    service_area: Fields(
      {
        zips: T.Array(T.String()),
        center: Nullable(Fields({ lat: T.Number(), lng: T.Number() })),
        radius_miles: Nullable(T.Number()),
      },
      { title: 'StaffArea' },
    ),
    time_zone: T.String({ description: 'Time zone of the working hours.' }),
    hours: Fields(
      {
        monday: T.Array(StaffHours),
        tuesday: T.Array(StaffHours),
        wednesday: T.Array(StaffHours),
        thursday: T.Array(StaffHours),
        friday: T.Array(StaffHours),
        saturday: T.Array(StaffHours),
        sunday: T.Array(StaffHours),
      },
      { title: 'StaffWeek' },
    ),
    days_off: T.Array(T.String()),
    window_min: T.Integer(),
    visit_min: T.Integer(),
    travel_min: T.Integer(),
    notice_min: T.Integer(),
    capacity: T.Integer(),
    price_cents: T.Integer(),
    priority: Nullable(Priorities),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Phlebotomist' },
)
export type StaffRecord = Static<typeof StaffRecord>

export const StaffList = Fields({ data: T.Array(StaffRecord) }, { title: 'Phlebotomists' })
export const StaffReply = Fields({ phlebotomist: StaffRecord }, { title: 'PhlebotomistReply' })

/** The owner's reference of a phlebotomist or team; it is part of paths. */
export const Reference = Text({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$',
  says: 'begin with a letter or digit and have up to 100 letters, digits and . _ -',
  example: 'north-team',
})

const cellFields = { org_id: Uuid, env: Environment, region: Region }
export const StaffScopeParams = Fields(cellFields)
export const StaffParams = Fields({ ...cellFields, reference: Reference })

export const staffExample = {
  name: 'North team',
  service_types: ['appointment-ready'],
  service_area: { zips: ['85004', '85006'], center: { lat: 33.45, lng: -112.07 }, radius_miles: 20 },
  hours: { monday: [{ from: '08:00', to: '16:00' }], tuesday: [{ from: '08:00', to: '16:00' }] },
  days_off: ['2030-12-25'],
  capacity: 2,
  price_cents: 3500,
  priority: { price_cents: 7900, hours: [{ from: '06:00', to: '10:00' }] },
}
