// What phones send. Source: users-wearables.md 16.5, 16.6.
import { Fields, Maybe, OpenEnum, T, Text, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { postedTimeseries, sourceTypes, type TimeseriesName } from '../../wearables/resources/timeseries.ts'
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
export const resourceOf = (sent: SentTimeseries): TimeseriesName =>
  sent === 'heartrate_variability' || sent === 'temperature' ? postedUnder[sent] : sent

const quantity = {
  value: T.Number(),
  unit: Text({ maxLength: 60 }),
  start_date: Timestamp,
  end_date: Timestamp,
  source_bundle: Maybe(Text({ maxLength: 300 })),
  product_type: Maybe(Text({ maxLength: 100 })),
  type: Maybe(Text({ maxLength: 60 })),
  metadata: Maybe(T.Record(T.String(), T.Unknown(), { maxProperties: 100 })),
}
export const Quantity = Fields(quantity, { title: 'QuantitySample' })
export type Quantity = Static<typeof Quantity>

const BloodPressure = Fields(
  { systolic: Quantity, diastolic: Quantity, pulse: Maybe(Quantity) },
  { title: 'BloodPressureSample' },
)
export type BloodPressure = Static<typeof BloodPressure>

export const envelope = {
  stage: OpenEnum(['daily', 'historical']),
  start_date: Maybe(Timestamp),
  end_date: Maybe(Timestamp),
  time_zone: Maybe(Text({ maxLength: 100 })),
  provider: ManualProviderSlug,
  is_final_chunk: Maybe(T.Boolean()),
}

export const SamplePost = Fields(
  { ...envelope, data: T.Array(Quantity, { maxItems: SAMPLES_MAX }) },
  { title: 'SamplePost', description: 'A missing `is_final_chunk` means that the post is the last one of its history.' },
)
export type SamplePost = Static<typeof SamplePost>
export const BloodPressurePost = Fields(
  { ...envelope, data: T.Array(BloodPressure, { maxItems: SAMPLES_MAX }) },
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
  },
  { title: 'PostReply', description: '`dropped` lie outside of the bounds of ingestion, or the connection is paused.' },
)

export const PostParams = Fields({
  user_id: Uuid,
  resource: OpenEnum(
    sentTimeseries.filter((name) => name !== 'blood_pressure'),
    { example: 'heartrate' },
  ),
})
export const UserParams = Fields({ user_id: Uuid })
export const isSourceType = (text: string): text is (typeof sourceTypes)[number] =>
  (sourceTypes as readonly string[]).includes(text)
