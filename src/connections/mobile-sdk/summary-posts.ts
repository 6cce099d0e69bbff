// Posts of summaries by phones, and of the samples that come with them. Source: users-wearables.md 16.5, 16.6.
import type { Static } from '../../platform/schema/schema.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { noteUnits } from '../../wearables/ingestion/units.ts'
import { summaryIds } from '../../wearables/summaries/summaries.ts'
import type { TimeseriesName } from '../../wearables/resources/timeseries.ts'
import { incoming, PostZones } from './samples.ts'
import type { Envelope, Quantity } from './schema.ts'
import { store, type Batch, type SampleBatch } from './store.ts'
import { streamOf, workoutSamples } from './streams.ts'
import { activityOf, bodiesOf, profileOf, sleepCycleOf, sleepOf, workoutOf, type PhoneContext } from './summaries.ts'
import { RECORDS_MAX } from './summary-schema.ts'
import type { ActivityPost, BodyPost, ProfilePost, SentActivity, SentBody, SleepPost, WorkoutPost } from './summary-schema.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

const contextOf = ({ time_zone }: Envelope): PhoneContext => ({ zone: new PostZones(time_zone).of({}) })

/** Of each record: a phone may send a night or a workout of a trip when it is at home again. */
function contextsOf({ time_zone }: Envelope): (sent: Pick<Quantity, 'metadata'>) => PhoneContext {
  const zones = new PostZones(time_zone)
  return (sent) => ({ zone: zones.of(sent) })
}

/** The timeseries that the lists of samples in a post feed. */
const ofActivity = {
  active_energy_burned: 'calories_active',
  basal_energy_burned: 'calories_basal',
  steps: 'steps',
  floors_climbed: 'floors_climbed',
  distance_walking_running: 'distance',
  vo2_max: 'vo2_max',
} as const satisfies Partial<Record<keyof SentActivity, TimeseriesName>>
const ofBody = {
  body_mass: 'body_weight',
  body_fat_percentage: 'body_fat',
  body_mass_index: 'body_mass_index',
  waist_circumference: 'waist_circumference',
  lean_body_mass: 'lean_body_mass',
} as const satisfies Record<Exclude<keyof SentBody, 'time_zones'>, TimeseriesName>

const ofSleep = {
  heart_rate: 'heartrate',
  heart_rate_variability: 'hrv',
  respiratory_rate: 'respiratory_rate',
} as const satisfies Record<string, TimeseriesName>

type Lists = Partial<Record<string, Quantity[]>>

/** The samples of a post, by timeseries. @param records the objects that hold the lists, with where they stand in the request */
async function batchesOf(
  tx: Tx,
  { time_zone, provider }: Envelope,
  timeseries: Record<string, TimeseriesName>,
  records: [lists: Lists, at: (string | number)[]][],
  zones = new PostZones(time_zone),
): Promise<SampleBatch[]> {
  const now_ms = tx.now.getTime()
  const batches: SampleBatch[] = []
  for (const [list, resource] of Object.entries(timeseries)) {
    for (const [lists] of records) await noteUnits(tx, provider, resource, lists[list] ?? [])
    const samples = records.flatMap(([lists, at]) =>
      (lists[list] ?? []).map((sample, i) => incoming(resource, sample, { zones, now_ms, at: [...at, list] }, i)),
    )
    if (samples.length) batches.push({ resource, samples })
  }
  return batches
}

/** Stores the days of a phone and the samples they are made of. Errors: 404 unknown user; those of `incoming`. */
export async function postActivity(tx: Tx, user_id: string, { data, ...envelope }: Static<typeof ActivityPost>) {
  const context = contextOf(envelope)
  const records = data.flatMap((sent) => activityOf(sent, context) ?? [])
  const samples = await batchesOf(
    tx,
    envelope,
    ofActivity,
    data.map((sent, i) => [sent as Lists, ['body', 'data', i]]),
  )
  return store(tx, user_id, envelope, [{ kind: 'activity', records, derived: Object.values(ofActivity) }, ...samples])
}

/** Stores measurements of the body, as records and as samples. Errors: as `postActivity`. */
export async function postBody(tx: Tx, user_id: string, { data, ...envelope }: Static<typeof BodyPost>) {
  const { time_zones, ...lists } = data
  const zones = new PostZones(envelope.time_zone, time_zones)
  const samples = await batchesOf(tx, envelope, ofBody, [[lists, ['body', 'data']]], zones)
  const records = bodiesOf(data, zones)
  if (records.length > RECORDS_MAX) throw invalidField(['body', 'data'], `has more than ${RECORDS_MAX} instants`)
  return store(tx, user_id, envelope, [{ kind: 'body', records, derived: Object.values(ofBody) }, ...samples])
}

/** Stores the profile that a phone has of its owner. Errors: 404 unknown user. */
export const postProfile = (tx: Tx, user_id: string, { data, ...envelope }: Static<typeof ProfilePost>) =>
  store(tx, user_id, envelope, [{ kind: 'profile', records: [profileOf(data, contextOf(envelope))] }])

/** Seconds of all streams in one post. */
const SECONDS_MAX = 400_000
/** Workouts whose samples are stored together. */
const WORKOUTS_IN_BATCH = 40
const SESSION_MS_MAX = 7 * 86_400_000
const EARLIEST_MS = Date.UTC(1900, 0, 1)

/**
 * Errors: 422 a session that ends before it starts, lasts more than 7 days, or is before 1900 or in the future.
 * @param names how the post names the two instants
 */
export function assertSessions(
  tx: Tx,
  sessions: { start_date: string; end_date: string }[],
  names: { path: string[]; start: string; end: string } = { path: [], start: 'start_date', end: 'end_date' },
): void {
  for (const [i, { start_date, end_date }] of sessions.entries()) {
    const [start, end] = [Date.parse(start_date), Date.parse(end_date)]
    if (start < EARLIEST_MS || end > tx.now.getTime() + DAY_MS)
      throw invalidField(['body', 'data', i, ...names.path, names.start], 'must be after 1900 and not in the future')
    if (end < start || end - start > SESSION_MS_MAX)
      throw invalidField(
        ['body', 'data', i, ...names.path, names.end],
        `must not be before ${names.start}, nor more than 7 days after it`,
      )
  }
}

/** Stores nights and their stages. Errors: 404 unknown user; 422 a session that ends before it starts, or lasts more than 7 days. */
export async function postSleep(tx: Tx, user_id: string, { data, ...envelope }: Static<typeof SleepPost>) {
  assertSessions(tx, data)
  const contextFor = contextsOf(envelope)
  const { provider } = envelope
  // Stages name the night they belong to, whose id is known once it is written.
  const stages = async () => {
    const ids = await summaryIds(
      tx,
      user_id,
      'sleep',
      provider,
      data.map(({ id }) => id),
    )
    const records = data.flatMap((sent) => {
      const id = ids.get(sent.id)
      return (id && sleepCycleOf(sent, id, contextFor(sent))) || []
    })
    return [{ kind: 'sleep_cycle' as const, records }]
  }
  const samples = await batchesOf(
    tx,
    envelope,
    ofSleep,
    data.map((sent, i) => [sent as unknown as Lists, ['body', 'data', i]]),
  )
  return store(tx, user_id, envelope, [
    { kind: 'sleep', records: data.map((sent) => sleepOf(sent, contextFor(sent))), next: stages },
    ...samples.map((batch) => ({ ...batch, isBeside: true as const })),
  ])
}

/** Batches of the same resource as few ones: each workout is a source of its own, and a batch has a limit of sources. */
function joined(batches: SampleBatch[]): SampleBatch[] {
  const all: SampleBatch[] = []
  for (const resource of ['workout_distance', 'workout_swimming_stroke'] as const) {
    const lists = batches.flatMap((one) => (one.resource === resource && one.samples.length ? [one.samples] : []))
    for (let i = 0; i < lists.length; i += WORKOUTS_IN_BATCH)
      all.push({ resource, samples: lists.slice(i, i + WORKOUTS_IN_BATCH).flat(), isBeside: true })
  }
  return all
}

/** Stores workouts, their streams, and the distances and strokes in these. Errors: as `postSleep`; those of `streamOf`. */
export function postWorkouts(tx: Tx, user_id: string, { data, ...envelope }: Static<typeof WorkoutPost>) {
  assertSessions(tx, data)
  const contextFor = contextsOf(envelope)
  const zones = new PostZones(envelope.time_zone)
  const { provider } = envelope
  const at = (i: number) => ['body', 'data', i, 'stream', 'components']
  const streams = data.flatMap((sent, i) => streamOf(sent, at(i)) ?? [])
  const keys = data.filter(({ stream }) => stream).map(({ id }) => id)
  const seconds = streams.reduce((sum, { time }) => sum + time.length, 0)
  if (seconds > SECONDS_MAX) throw invalidField(['body', 'data'], `has streams of more than ${SECONDS_MAX} seconds`)
  // A stream belongs to a workout that is stored, and its samples name it.
  const ofStreams = async (): Promise<Batch[]> => {
    if (!keys.length) return []
    const ids = await summaryIds(tx, user_id, 'workouts', provider, keys)
    const samples = data.flatMap((sent, i): SampleBatch[] => {
      const id = ids.get(sent.id)
      if (!id) return []
      const { workout_distance, workout_swimming_stroke } = workoutSamples(sent, id, zones, at(i))
      return [
        { resource: 'workout_distance', samples: workout_distance, isBeside: true },
        { resource: 'workout_swimming_stroke', samples: workout_swimming_stroke, isBeside: true },
      ]
    })
    return [{ streams }, ...joined(samples)]
  }
  const records = data.map((sent) => workoutOf(sent, contextFor(sent)))
  return store(tx, user_id, envelope, [{ kind: 'workouts', records, streams, derived: ['workout_stream'], next: ofStreams }])
}
