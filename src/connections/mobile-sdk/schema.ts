// What phones send. Source: users-wearables.md 16.5, 16.6.
import { Fields, Maybe, OpenEnum, T, Text, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { usualTimestamp } from '../../platform/schema/usual-timestamps.ts'
import { postedTimeseries, type TimeseriesName } from '../../wearables/resources/timeseries.ts'
import { ManualProviderSlug } from '../connections/schema.ts'

/** Samples in one post. */
export const SAMPLES_MAX = 100_000

/** Names in posts that differ from those of reads. */
const postedUnder = { heartrate_variability: 'hrv', temperature: 'body_temperature' } as const satisfies Record<
  string,
  TimeseriesName
>

export const sentTimeseries = [
  ...postedTimeseries.filter((name) => name !== 'hrv' && name !== 'body_temperature'),
  'heartrate_variability',
  'temperature',
] as const
export type SentTimeseries = (typeof sentTimeseries)[number]
export const resourceOf = (name: SentTimeseries): TimeseriesName =>
  name === 'heartrate_variability' || name === 'temperature' ? postedUnder[name] : name

const UNIT_MAX = 60
const APP_MAX = 300
const PRODUCT_MAX = 100
const TYPE_MAX = 60

const quantity = {
  value: T.Number(),
  unit: Text({ maxLength: UNIT_MAX }),
  start_date: Timestamp,
  end_date: Timestamp,
  source_bundle: Maybe(Text({ maxLength: APP_MAX })),
  product_type: Maybe(Text({ maxLength: PRODUCT_MAX })),
  type: Maybe(Text({ maxLength: TYPE_MAX })),
  metadata: Maybe(T.Record(T.String(), T.Unknown(), { maxProperties: 100 })),
}

const isText = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' && value.length <= maxLength && !value.includes('\0') && value.isWellFormed()
const isMaybeText = (value: unknown, maxLength: number): value is string | undefined =>
  value === undefined || isText(value, maxLength)

function hasNoOthers(fields: Record<string, unknown>): boolean {
  for (const name in fields) if (!Object.hasOwn(quantity, name)) return false
  return true
}

/** Quantities are nearly all of what phones send: reading them by the schema took a quarter of the time of a post. */
function readQuantity(fields: Record<string, unknown>): Record<string, unknown> | undefined {
  const { value, unit, start_date: from, end_date: to, metadata } = fields
  if (!Number.isFinite(value) || !isText(unit, UNIT_MAX) || typeof from !== 'string' || typeof to !== 'string') return undefined
  const { source_bundle, product_type, type } = fields
  if (!isMaybeText(source_bundle, APP_MAX) || !isMaybeText(product_type, PRODUCT_MAX) || !isMaybeText(type, TYPE_MAX))
    return undefined
  if (metadata !== undefined && (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata))) return undefined
  const start_date = usualTimestamp(from)
  const end_date = from === to ? start_date : usualTimestamp(to)
  if (start_date === undefined || end_date === undefined) return undefined
  // Copies would be moved by garbage collections in addition to their originals.
  if (start_date === from && end_date === to && hasNoOthers(fields)) return fields
  return { value, unit, start_date, end_date, source_bundle, product_type, type, metadata }
}
export const Quantity = Fields(quantity, { title: 'QuantitySample', readUsual: readQuantity })
export type Quantity = Static<typeof Quantity>

const BloodPressure = Fields(
  { systolic: Quantity, diastolic: Quantity, pulse: Maybe(Quantity) },
  { title: 'BloodPressureSample' },
)
type BloodPressure = Static<typeof BloodPressure>

export const envelope = {
  stage: OpenEnum(['daily', 'historical']),
  start_date: Maybe(Timestamp),
  end_date: Maybe(Timestamp),
  time_zone: Maybe(Text({ maxLength: 100 })),
  provider: ManualProviderSlug,
  is_final_chunk: Maybe(T.Boolean()),
}

export const SamplePost = Fields(
  { ...envelope, data: T.Array(Quantity, { maxItems: SAMPLES_MAX, leavesOutFaulty: true }) },
  { title: 'SamplePost', description: 'A missing `is_final_chunk` means that the post is the last one of its history.' },
)
export type SamplePost = Static<typeof SamplePost>
export const BloodPressurePost = Fields(
  { ...envelope, data: T.Array(BloodPressure, { maxItems: SAMPLES_MAX, leavesOutFaulty: true }) },
  { title: 'BloodPressurePost' },
)
export type BloodPressurePost = Static<typeof BloodPressurePost>
export type Envelope = Omit<SamplePost, 'data'>

export const PostReply = Fields(
  {
    success: T.Boolean(),
    accepted: T.Integer(),
    created: T.Integer(),
    updated: T.Integer(),
    dropped: T.Integer(),
    rejected: T.Integer(),
  },
  {
    title: 'PostReply',
    description:
      '`dropped` lie outside of the bounds of ingestion, or the connection is paused. `rejected` counts samples, records and fields that are faulty or cannot be; the rest of the post is stored.',
  },
)

export const PostParams = Fields({
  user_id: Uuid,
  resource: OpenEnum(
    sentTimeseries.filter((name) => name !== 'blood_pressure'),
    { example: 'heartrate' },
  ),
})
export const UserParams = Fields({ user_id: Uuid })

/** What neighboring samples of a post have in common. */
export type QuantityKind = Pick<Quantity, 'unit' | 'source_bundle' | 'product_type' | 'type' | 'metadata'>
