// Posts of summaries by phones, and of the samples that come with them. Source: users-wearables.md 16.5, 16.6.
import { withZone, goodSamples, incomingList, PostZones, type ExampleContext } from './phone-samples.ts'
import type { Static } from '../../platform/schema/schema.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { flatMapInSlices } from '../../platform/runtime/loop-work.ts'
import { sameLeftOut } from '../../platform/schema/request-validation.ts'
import { fieldBounds, isWithin } from '../../wearables/ingestion/bounds.ts'
import { noteUnits, toCanonicalUnit } from '../../wearables/ingestion/phone-units.ts'
import { storedZones, deleteSummaries, summaryIds } from '../../wearables/summaries/summaries.ts'
import type { IncomingSample } from '../../wearables/ingestion/ingest.ts'
import type { IncomingStream } from '../../wearables/streams/workout-streams.ts'
import type { TimeseriesName } from '../../wearables/resources/timeseries.ts'
import { Faults, placesOf } from './faults.ts'
import type { Envelope, Quantity } from './schema.ts'
import { store, type Batch, type SampleBatch } from './store.ts'
import { buildStream, workoutSamples } from './phone-streams.ts'
import { goodSessions, ofPhone, zonesOfSessions } from './sessions.ts'
import { nightsOfSessions, settleNights } from './stored-nights.ts'
import {
  toActivity,
  toBodies,
  bodyKey,
  toProfile,
  toSleepCycle,
  toSleep,
  toWorkout,
  type BodyList,
  type PhoneContext,
} from './summaries.ts'
import { RECORDS_MAX } from './summary-schema.ts'
import type {
  ActivityPost,
  BodyPost,
  ProfilePost,
  SentActivity,
  SentBody,
  SentSleep,
  SentWorkout,
  SleepPost,
  WorkoutPost,
} from './summary-schema.ts'

const contextOf = ({ time_zone }: Envelope): PhoneContext => ({ zone: new PostZones(time_zone).zoneAt({}) })

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

/** What all samples of a post have in common. */
const sampleContext = (tx: Tx, { provider, time_zone }: Envelope, faults: Faults, zones = new PostZones(time_zone)) => ({
  provider,
  zones,
  now_ms: tx.now.getTime(),
  faults,
})

/** The samples of a post, by timeseries. @param records the objects that hold the lists, with where they are in the request */
async function readBatches(
  tx: Tx,
  context: Omit<ExampleContext, 'location'>,
  timeseries: Record<string, TimeseriesName>,
  records: [lists: Lists, at: (string | number)[]][],
): Promise<SampleBatch[]> {
  const batches: SampleBatch[] = []
  for (const [list, resource] of Object.entries(timeseries)) {
    for (const [lists] of records) await noteUnits(tx, context.provider, resource, lists[list] ?? [])
    const samples: IncomingSample[] = []
    for (const [lists, at] of records) {
      if (!lists[list]) continue
      const found = await incomingList(resource, lists[list], { ...context, location: [...at, list] })
      for (const sample of found) samples.push(sample)
    }
    if (samples.length) batches.push({ resource, samples })
  }
  return batches
}

/**
 * Stores the days of a phone and the samples they are made of. Faulty parts of posts of this file are left out and counted. Errors: 404
 * unknown user; 422 nothing is good.
 */
export async function postActivity(tx: Tx, user_id: string, { data, ...post }: Static<typeof ActivityPost>) {
  const envelope = await withZone(tx, user_id, post)
  const faults = new Faults()
  await faults.addLeftOut('activity', data)
  const placeOf = placesOf(data)
  const context = contextOf(envelope)
  const records = await flatMapInSlices(data, (record) => toActivity(record, context) ?? [])
  const samples = await readBatches(
    tx,
    sampleContext(tx, envelope, faults),
    ofActivity,
    data.map((record, i) => [record as Lists, ['body', 'data', placeOf(i)]]),
  )
  const batches = [{ kind: 'activity' as const, records, derivedResources: Object.values(ofActivity) }, ...samples]
  return store(tx, user_id, envelope, batches, faults)
}

/** Stores measurements of the body, as records and as samples. Errors: as `postActivity`; 422 more than 1,000 instants. */
export async function postBody(tx: Tx, user_id: string, { data, ...post }: Static<typeof BodyPost>) {
  const envelope = await withZone(tx, user_id, post)
  const faults = new Faults()
  const zones = new PostZones(envelope.time_zone, data.time_zones)
  const context = sampleContext(tx, envelope, faults, zones)
  const samples: SampleBatch[] = []
  const good: [BodyList, Quantity, number][] = []
  for (const [list, resource] of Object.entries(ofBody) as [BodyList, TimeseriesName][]) {
    const sent = data[list] ?? []
    await noteUnits(tx, envelope.provider, resource, sent)
    const found = await goodSamples(resource, sent, { ...context, location: ['body', 'data', list] })
    for (const one of found) good.push([list, one.quantity, one.sample.value])
    if (found.length) samples.push({ resource, samples: found.map(({ sample }) => sample) })
  }
  const keys = [...new Set(await flatMapInSlices(good, ([, sent]) => bodyKey(sent)))]
  const stored = await storedZones(tx, { user_id, kind: 'body', provider: envelope.provider }, keys)
  const records = await toBodies(good, zones, stored)
  if (records.length > RECORDS_MAX) throw invalidField(['body', 'data'], `has more than ${RECORDS_MAX} instants`)
  return store(tx, user_id, envelope, [{ kind: 'body', records, derivedResources: Object.values(ofBody) }, ...samples], faults)
}

/** Stores the profile that a phone has of its owner. Errors: 404 unknown user. */
export const postProfile = (tx: Tx, user_id: string, { data, ...envelope }: Static<typeof ProfilePost>) =>
  store(tx, user_id, envelope, [{ kind: 'profile', records: [toProfile(data, contextOf(envelope))] }])

/** Seconds of all streams in one post. */
const SECONDS_MAX = 400_000
/** Workouts whose samples are stored together. */
const WORKOUTS_IN_BATCH = 40

/** A night with its samples as samples of its source and zone, unless they name their own, and its temperatures in °C. */
function withOwnSamples(record: SentSleep, { zone }: PhoneContext, provider: string): SentSleep {
  const { source_bundle, product_type, source_type, metadata } = record
  const place = zone === null ? {} : { HKTimeZone: zone }
  const ofNight = {
    ...(source_bundle !== undefined && { source_bundle }),
    ...(product_type !== undefined && { product_type }),
    ...(source_type !== undefined && { type: source_type }),
    metadata: { ...metadata, ...place },
  }
  const owned = (sample: Quantity): Quantity => {
    const isAnonymous =
      sample.source_bundle === undefined && sample.product_type === undefined && sample.type === undefined && !sample.metadata
    if (isAnonymous) return { ...sample, ...ofNight }
    return zone === null ? sample : { ...sample, metadata: sample.metadata ? { ...place, ...sample.metadata } : place }
  }
  const copy = { ...record }
  for (const list of ['heart_rate', 'heart_rate_variability', 'respiratory_rate'] as const)
    if (record[list]) copy[list] = sameLeftOut(record[list], record[list].map(owned))
  if (record.wrist_temperature)
    copy.wrist_temperature = record.wrist_temperature.flatMap((temperature) => {
      const value = toCanonicalUnit(provider, 'body_temperature', temperature.value, temperature.unit)
      return value === undefined || !isWithin(value, fieldBounds.sleep.skin_temperature!) ? [] : [{ ...temperature, value }]
    })
  return copy
}

/**
 * Stores nights and their stages. Sessions that are parts of one night, in this post or with stored ones, become one. A night
 * that comes without stages has none any more. Writes and deletes summary; locks the user. Errors: 404 unknown user; 422 each session ends
 * before it starts, or lasts more than 7 days.
 */
export async function postSleep(tx: Tx, user_id: string, { data, ...post }: Static<typeof SleepPost>) {
  const envelope = await withZone(tx, user_id, post)
  const faults = new Faults()
  const { provider } = envelope
  const sessions = await goodSessions(tx, faults, 'sleep', data, ofPhone)
  const zoneOf = await zonesOfSessions(
    tx,
    user_id,
    envelope,
    'sleep',
    sessions.map(({ record: sent }) => sent.id),
  )
  const parts = await flatMapInSlices(sessions, ({ record: sent, place }) => ({
    sent: withOwnSamples(sent, zoneOf(sent), provider),
    place,
  }))
  const whose = { user_id, provider }
  const merged = await nightsOfSessions(
    tx,
    whose,
    parts.map(({ sent }) => sent),
    zoneOf,
  )
  const nights = merged.changedNights
  const keys = nights.map(({ session: sent }) => sent.id)
  // Stages name the night they belong to, whose id is known once it is written.
  const stages = async () => {
    const ids = await summaryIds(tx, user_id, 'sleep', provider, keys)
    await settleNights(tx, whose, merged, (id) => ids.has(id))
    const records = await flatMapInSlices(nights, ({ session: sent, zone }) => {
      const id = ids.get(sent.id)
      return (id && toSleepCycle(sent, id, { zone })) || []
    })
    const staged = new Set(records.map(({ key }) => key))
    const unstaged = keys.filter((key) => ids.has(key) && !staged.has(key))
    if (unstaged.length) await deleteSummaries(tx, user_id, ['sleep_cycle'], provider, unstaged)
    return [{ kind: 'sleep_cycle' as const, records }]
  }
  const summaries = await flatMapInSlices(nights, ({ session: sent, zone }) => toSleep(sent, { zone }))
  const samples = await readBatches(
    tx,
    sampleContext(tx, envelope, faults),
    ofSleep,
    parts.map(({ sent, place }) => [sent as unknown as Lists, ['body', 'data', place]]),
  )
  const batches = [
    { kind: 'sleep' as const, records: summaries, next: stages },
    ...samples.map((batch) => ({ ...batch, isBeside: true as const })),
  ]
  return store(tx, user_id, envelope, batches, faults)
}

/** Batches of the same resource as few ones: each workout is a source of its own, and a batch has a limit of sources. */
function joinBatches(batches: SampleBatch[]): SampleBatch[] {
  const all: SampleBatch[] = []
  for (const resource of ['workout_distance', 'workout_swimming_stroke'] as const) {
    const lists = batches.flatMap((batch) => (batch.resource === resource && batch.samples.length ? [batch.samples] : []))
    for (let i = 0; i < lists.length; i += WORKOUTS_IN_BATCH)
      all.push({ resource, samples: lists.slice(i, i + WORKOUTS_IN_BATCH).flat(), isBeside: true })
  }
  return all
}

/** Stores workouts, their streams, and the distances and strokes in these. Errors: as `postSleep`; 422 streams of too many seconds. */
export async function postWorkouts(tx: Tx, user_id: string, { data, ...post }: Static<typeof WorkoutPost>) {
  const envelope = await withZone(tx, user_id, post)
  const faults = new Faults()
  const { provider } = envelope
  const workouts = await goodSessions(tx, faults, 'workouts', data, ofPhone)
  const contextFor = await zonesOfSessions(
    tx,
    user_id,
    envelope,
    'workouts',
    workouts.map(({ record: sent }) => sent.id),
  )
  const at = (place: number) => ['body', 'data', place, 'stream', 'components']
  const streamed: { record: SentWorkout; place: number; stream: IncomingStream }[] = []
  for (const { record: sent, place } of workouts) {
    const stream = await goodStream(sent, at(place), faults)
    if (stream) streamed.push({ record: sent, place, stream })
  }
  const streams = streamed.map(({ stream }) => stream)
  const seconds = streams.reduce((sum, { time }) => sum + time.length, 0)
  if (seconds > SECONDS_MAX) throw invalidField(['body', 'data'], `has streams of more than ${SECONDS_MAX} seconds`)
  // A stream belongs to a workout that is stored, and its samples name it.
  const ofStreams = async (): Promise<Batch[]> => {
    const keys = streamed.map(({ record: sent }) => sent.id)
    if (!keys.length) return []
    const ids = await summaryIds(tx, user_id, 'workouts', provider, keys)
    const samples: SampleBatch[] = []
    for (const { record: sent, place } of streamed) {
      const id = ids.get(sent.id)
      if (!id) continue
      const zones = new PostZones(contextFor(sent).zone ?? undefined)
      const { workout_distance, workout_swimming_stroke } = await workoutSamples(sent, id, zones, at(place))
      samples.push(
        { resource: 'workout_distance', samples: workout_distance, isBeside: true },
        { resource: 'workout_swimming_stroke', samples: workout_swimming_stroke, isBeside: true },
      )
    }
    return [{ streams }, ...joinBatches(samples)]
  }
  const records = await flatMapInSlices(workouts, ({ record: sent }) => toWorkout(sent, contextFor(sent)))
  const batches: Batch[] = [{ kind: 'workouts', records, streams, derivedResources: ['workout_stream'], next: ofStreams }]
  return store(tx, user_id, envelope, batches, faults)
}

/** The stream of a workout; undefined without one, and for one with a fault: a distance that lacks a part would be wrong. */
async function goodStream(
  record: SentWorkout,
  location: (string | number)[],
  faults: Faults,
): Promise<IncomingStream | undefined> {
  try {
    return await buildStream(record, location)
  } catch (error) {
    faults.addError('workout_stream', error, Date.parse(record.start_date))
    return undefined
  }
}
