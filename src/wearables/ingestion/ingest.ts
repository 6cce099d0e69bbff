// The one way in for samples: the user's bounds, units, identity, merge, events. Source: users-wearables.md 6, 7; events.md 4.2, 4.11.
import { dailyEvent } from '../resources/event-types.ts'
import type { User } from '../../people/users/schema.ts'
import { hookPoint } from '../../platform/db/hooks.ts'
import { adoptFallbacks } from '../../people/users/fallbacks.ts'
import { birthDateChanged, type UserIdentity } from '../../people/users/users.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { emit, emitEach, type Event } from '../../platform/queue/outbox.ts'
import { areRawEventsWanted } from '../../platform/queue/raw-events.ts'
import type { Resource } from '../resources/resources.ts'
import { isTimeseries, resourceNameOf, timeseriesOf, type SourceType, type TimeseriesName } from '../resources/timeseries.ts'
import { deviceKey, recordDevices, type IncomingDevice, type SeenDevice } from '../devices/devices.ts'
import { mergeSamples, type Sample, type SampleSource, type SeriesSamples, type MergedSamples } from '../timeseries/chunks.ts'
import { writeQueryValues } from '../summaries/query-values.ts'
import { withDays, writeSummaries, type IncomingSummary, type WrittenSummary } from '../summaries/summaries.ts'
import type { SummaryKind } from '../summaries/schema.ts'
import type { IncomingStream } from '../streams/workout-streams.ts'
import { daysBetween, localDayOf, recordDays, type DayNumber } from './day-records.ts'
import { finishPull, type HistoryRange } from './historical-pulls.ts'
import { checkStream, checkSummary, sampleFault } from './plausible.ts'
import { recordRejected } from './rejected-posts.ts'
import { recordPost } from './resource-states.ts'
import { lockHeartRates, updateZones, updateZonesAt } from './workout-zones.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'
import { flatMapInSlices, yieldIfLong } from '../../platform/runtime/loop-work.ts'
import { wireSourceId } from '../resources/data-source.ts'
import { servesLegacy } from '../resources/legacy.ts'
import { sampleFormatter, sampleSource } from '../timeseries/samples.ts'
import { wireTime } from '../../platform/runtime/clock.ts'

/** Sources, which are apps and kinds of devices, in one post. */
const SOURCES_MAX = 200

export interface IncomingSample extends Sample {
  source_type: SourceType
  app_id: string | null
  /** Absent or null: unknown. */
  device?: IncomingDevice | null
  /** For samples of a workout: its id, and the slug of its sport. */
  workout_id?: string | null
  sport?: string | null
}

export interface Ingested {
  accepted: number
  created: number
  updated: number
  /** Outside of the user's bounds of ingestion, or older than data is kept. */
  dropped: number
  /** Samples, records and fields that cannot be, and are not stored. */
  rejected: number
  /** Why the first one is rejected, without data of patients; null if none is. */
  fault: string | null
}

/** How many days data of a resource and provider is kept; undefined: for ever. */
export interface Retained {
  readonly resource: Resource
  readonly provider: string
  days: number | undefined
}

/** Asks how long arriving data is kept: hooks lower `days`. */
export const dataArrives = hookPoint<[Retained]>('data.arrives')

/**
 * Data of a user has changed.
 * @param days between which instants or days; null: anything may have
 */
export const dataChanged =
  hookPoint<[user_id: string, resource: Resource, days: { from_ms: number; to_ms: number } | null]>('data.changed')

/** Whether data of an instant is within the user's bounds and its retention. */
async function isWanted(tx: Tx, user: User, resource: Resource, provider: string): Promise<(at_ms: number) => boolean> {
  const retained: Retained = { resource, provider, days: undefined }
  await tx.notify(dataArrives, retained)
  const from_ms = retained.days === undefined ? -Infinity : tx.now.getTime() - retained.days * DAY_MS
  const isInBounds = isWithinBounds(user)
  return (at_ms) => at_ms >= from_ms && isInBounds(at_ms)
}

/** Between which instants a user's data may lie: the bounds are dates, so a day is added at either end for time zones. */
export const ingestionBounds = ({ ingestion_start, ingestion_end }: User): { from_ms: number; to_ms: number } => ({
  from_ms: ingestion_start === null ? -Infinity : Date.parse(ingestion_start) - DAY_MS,
  to_ms: ingestion_end === null ? Infinity : Date.parse(ingestion_end) + 2 * DAY_MS,
})

function isWithinBounds(user: User): (at_ms: number) => boolean {
  const { from_ms, to_ms } = ingestionBounds(user)
  return (at_ms) => at_ms >= from_ms && at_ms < to_ms
}

/**
 * Stores summaries of one kind of a user. Writes summary, device, "user" (from a profile), resource_state, day_record. Emits daily.data.{kind}.created and .updated, with the summary
 * as it is read, and raw.{provider}.{kind} for pipelines that ask for it; records that say nothing new change nothing. Zones of heart rate of workouts are computed if their source sends none.
 * Errors: 422 a record whose document has more than 256 kB.
 * @param streams of the workouts, which are stored after them
 */
export async function ingestSummaries(
  tx: Tx,
  user: User,
  kind: SummaryKind,
  {
    provider,
    records: incoming,
    streams = [],
    historical,
  }: { provider: string; records: IncomingSummary[]; streams?: IncomingStream[] | undefined; historical: boolean },
): Promise<Ingested> {
  const { user_id } = user
  const checks = await flatMapInSlices(incoming, (record) => checkSummary(kind, record, tx.now.getTime()))
  const possible = checks.flatMap(({ record }) => record ?? [])
  const records = await withDays(tx, user, kind, provider, possible)
  if (kind === 'workouts') await lockHeartRates(tx, user_id)
  const isKept = await isWanted(tx, user, kind, provider)
  const wanted = records.filter(({ calendar_date }) => calendar_date === null || isKept(Date.parse(calendar_date) + DAY_MS / 2))
  const written = await writeSummaries(tx, user_id, kind, provider, await addDevices(tx, user, provider, wanted))
  const areValuesChanged = await writeQueryValues(tx, user_id, kind, provider, wanted)
  if (kind === 'profile') await adoptProfiles(tx, user_id, provider, wanted as IncomingSummary<'profile'>[])
  if (kind === 'profile' && written.length) await tx.notify(birthDateChanged, user_id)
  const stored = kind === 'workouts' ? await addZones(tx, user, provider, written, streams) : written
  await emitEach(tx, summaryEvents(user, kind, stored, historical))
  if (written.length && (await areRawEventsWanted(tx)))
    await emitEach(tx, rawEvents(user, { kind, provider, records: wanted, writtenSummaries: written, historical }))
  const key = { user_id, provider, resource: kind }
  if (wanted.length < records.length) recordDays(tx, { ...key, outcome: 'received', days: dayNumbers(records) })
  recordDays(tx, { ...key, outcome: 'stored', days: dayNumbers(wanted) })
  const faults = checks.flatMap((check) => check.faults)
  const fault = faults[0] ? `${faults[0].field} ${faults[0].text}` : null
  if (fault !== null) {
    const days = dayNumbers(incoming.filter((_, i) => checks[i]!.faults.length))
    await recordRejected(tx, { ...key, count: faults.length, days, message: fault })
  }
  const range = rangeOf(dayNumbers(wanted))
  recordPost(tx, { ...key, oldest_ms: range?.from_ms ?? null, newest_ms: range?.to_ms ?? null, changed: written.length })
  if (written.length || areValuesChanged) await tx.notify(dataChanged, user_id, kind, range)
  const created = written.filter(({ is_new }) => is_new).length
  const dropped = records.length - wanted.length
  return { accepted: wanted.length, created, updated: written.length - created, dropped, rejected: faults.length, fault }
}

/** Records the devices of summaries, and adds their ids in place of the devices. Writes device. */
async function addDevices(tx: Tx, user: User, provider: string, records: IncomingSummary[]) {
  const ids = await recordDevices(
    tx,
    user,
    provider,
    records.flatMap(({ device, calendar_date }) =>
      device ? [{ device, at_ms: calendar_date === null ? tx.now.getTime() : Date.parse(calendar_date) }] : [],
    ),
  )
  return records.map(({ device, time_zone: _zone, ...record }) => ({
    ...record,
    device_id: device ? ids.get(deviceKey(device))! : null,
  }))
}

/** Takes the time zone and the birth date of profiles for a user without them. Writes "user". */
async function adoptProfiles(tx: Tx, user_id: string, provider: string, profiles: IncomingSummary<'profile'>[]): Promise<void> {
  for (const { document, time_zone = null } of profiles) {
    const birth_date = (document.birth_date as string | null | undefined) ?? null
    await adoptFallbacks(tx, user_id, provider, { time_zone, birth_date })
  }
}

/** Computes the zones of heart rate of written workouts. Writes summary. Returns the workouts with their zones. */
async function addZones(
  tx: Tx,
  user: User,
  provider: string,
  workouts: WrittenSummary[],
  streams: IncomingStream[],
): Promise<WrittenSummary[]> {
  const keys = workouts.map(({ key }) => key)
  const zoned = await updateZones(
    tx,
    user,
    provider,
    keys,
    await flatMapInSlices(streams, (stream) => checkStream(stream).stream),
  )
  return workouts.map((workout) => ({ ...workout, summary: zoned.get(workout.key) ?? workout.summary }))
}

/** The events daily.data.{kind}.created and .updated. */
function* summaryEvents(
  { user_id, client_user_id }: User,
  kind: SummaryKind,
  summaries: WrittenSummary[],
  historical: boolean,
): Generator<Event> {
  for (const { is_new, summary } of summaries) {
    const type = dailyEvent(kind, is_new ? 'created' : 'updated')
    yield { type, object_id: summary.id, user_id, client_user_id, data: JSON.stringify(summary), historical }
  }
}

/** The days of summaries; those without one are left out. */
const dayNumbers = (records: IncomingSummary[]): DayNumber[] =>
  records.flatMap(({ calendar_date }) => (calendar_date === null ? [] : [Date.parse(calendar_date) / DAY_MS]))

/** The first and the last of some days; null without days. */
const rangeOf = (days: DayNumber[]): { from_ms: number; to_ms: number } | null =>
  days.length ? { from_ms: Math.min(...days) * DAY_MS, to_ms: Math.max(...days) * DAY_MS } : null

interface WrittenRecords {
  kind: SummaryKind
  provider: string
  records: IncomingSummary[]
  writtenSummaries: WrittenSummary[]
  historical: boolean
}

/** The events raw.{provider}.{kind} with the records that are new or have changed, as they were sent. */
function* rawEvents(
  { user_id, client_user_id }: User,
  { kind, provider, records, writtenSummaries: written, historical }: WrittenRecords,
): Generator<Event> {
  const sent = new Map(records.map(({ key, raw }) => [key, raw]))
  for (const { key, summary } of written) {
    const raw = sent.get(key)
    if (!raw) continue
    const data = JSON.stringify(raw)
    yield { type: `raw.${provider}.${kind}`, object_id: summary.id, user_id, client_user_id, data, historical }
  }
}

/**
 * Stores samples of one resource of a user. Writes series, chunk, device, resource_state, day_record. Emits daily.data.{resource}.created for
 * samples that were not there and .updated for those that have another value; samples that are there already change nothing. Events about history go only to pipelines
 * that ask for them. Heart rates may change the zones of workouts: writes summary, emits daily.data.workouts.updated.
 */
export async function ingestSamples(
  tx: Tx,
  user: User,
  resource: TimeseriesName,
  { provider, samples, historical }: { provider: string; samples: IncomingSample[]; historical: boolean },
): Promise<Ingested> {
  const name = resourceNameOf(resource)
  if (resource === 'heartrate') await lockHeartRates(tx, user.user_id)
  const isKept = await isWanted(tx, user, name, provider)
  const sorted = await sortSamples(samples, { resource, provider, now_ms: tx.now.getTime(), isKept })
  const { sources, acceptedCount, rejectedCount, fault, oldest_ms, newest_ms } = sorted
  const merged = await mergeSamples(tx, user.user_id, resource, await createSeries(tx, user, provider, sources))
  await emitEach(tx, batchEvents(tx, user, resource, merged, { historical }))
  const total = (kind: 'createdSamples' | 'updatedSamples') => merged.reduce((sum, series) => sum + series[kind].length, 0)
  const [created, updated] = [total('createdSamples'), total('updatedSamples')]
  const key = { user_id: user.user_id, provider, resource: name }
  recordDays(tx, { ...key, outcome: 'received', days: sorted.droppedDays })
  recordDays(tx, { ...key, outcome: 'stored', days: sorted.storedDays })
  if (fault !== null) await recordRejected(tx, { ...key, count: rejectedCount, days: sorted.rejectedDays, message: fault })
  recordPost(tx, {
    ...key,
    oldest_ms: acceptedCount ? oldest_ms : null,
    newest_ms: acceptedCount ? newest_ms : null,
    changed: created + updated,
  })
  if (created + updated) await tx.notify(dataChanged, user.user_id, name, { from_ms: oldest_ms, to_ms: newest_ms })
  if (resource === 'heartrate')
    await notifyZones(tx, user.user_id, await updateZonesAt(tx, user, provider, merged, { historical }))
  const dropped = samples.length - acceptedCount - rejectedCount
  return { accepted: acceptedCount, created, updated, dropped, rejected: rejectedCount, fault }
}

/** The samples of a post by source, and the days of stored, dropped and rejected ones. */
interface SortedSamples {
  sources: SourceSamples[]
  acceptedCount: number
  rejectedCount: number
  /** Why the first sample is rejected; null if none is. */
  fault: string | null
  /** The instants of the first and last accepted sample; infinite without one. */
  oldest_ms: number
  newest_ms: number
  storedDays: DayNumber[]
  droppedDays: DayNumber[]
  rejectedDays: DayNumber[]
}

/** The samples of one source in a post. */
interface SourceSamples {
  source: Omit<SampleSource, 'device_id'>
  /** The device, as its newest sample names it. */
  seenDevice: SeenDevice | null
  samples: IncomingSample[]
}

/** Sorts out impossible samples and samples that are not stored; groups the others by source. In slices. Errors: 422 too many sources. */
async function sortSamples(
  samples: IncomingSample[],
  post: { resource: TimeseriesName; provider: string; now_ms: number; isKept: (at_ms: number) => boolean },
): Promise<SortedSamples> {
  const { resource, now_ms, isKept } = post
  const groups = new SampleGroups(post.provider)
  const [storedDays, droppedDays, rejectedDays]: [DayNumber[], DayNumber[], DayNumber[]] = [[], [], []]
  let [acceptedCount, rejectedCount] = [0, 0]
  let [oldest_ms, newest_ms] = [Infinity, -Infinity]
  let fault: string | null = null
  for (const sample of samples) {
    const turn = yieldIfLong()
    if (turn) await turn
    const day = localDayOf(sample)
    const wrong = sampleFault(resource, sample, now_ms)
    if (wrong !== undefined) {
      rejectedCount++
      fault ??= `${wrong.field} ${wrong.text}`
      if (day !== rejectedDays.at(-1)) rejectedDays.push(day)
      continue
    }
    if (!isKept(sample.at_ms)) {
      if (day !== droppedDays.at(-1)) droppedDays.push(day)
      continue
    }
    acceptedCount++
    if (day !== storedDays.at(-1)) storedDays.push(day)
    if (sample.at_ms < oldest_ms) oldest_ms = sample.at_ms
    if (sample.at_ms > newest_ms) newest_ms = sample.at_ms
    groups.add(sample)
  }
  const sources = groups.list()
  return { sources, acceptedCount, rejectedCount, fault, oldest_ms, newest_ms, storedDays, droppedDays, rejectedDays }
}

/** Groups samples by their app, device, workout and sport. */
class SampleGroups {
  readonly #provider: string
  readonly #groups = new Map<string, SourceSamples>()
  #lastGroup: SourceSamples | undefined

  constructor(provider: string) {
    this.#provider = provider
  }

  list(): SourceSamples[] {
    return [...this.#groups.values()]
  }

  /** Errors: 422 too many sources. */
  add(sample: IncomingSample): void {
    const group = this.#groupOf(sample)
    const { device, at_ms } = sample
    if (device && (!group.seenDevice || group.seenDevice.at_ms < at_ms)) group.seenDevice = { device, at_ms }
    group.samples.push(sample)
    this.#lastGroup = group
  }

  #groupOf({ source_type, app_id, device = null, workout_id = null, sport = null }: IncomingSample): SourceSamples {
    // Most samples have the source of the one before, and neither device, workout nor sport.
    const last = this.#lastGroup
    const isPlain = !device && !workout_id && !sport
    if (last && isPlain && isPlainGroup(last) && last.source.source_type === source_type && last.source.app_id === app_id)
      return last
    const key = JSON.stringify([source_type, app_id, device && deviceKey(device), workout_id, sport])
    let group = this.#groups.get(key)
    if (group) return group
    const provider = this.#provider
    group = { source: { provider, source_type, app_id, workout_id, sport }, seenDevice: null, samples: [] }
    this.#groups.set(key, group)
    if (this.#groups.size > SOURCES_MAX) throw invalidField(['body', 'data'], `has samples of more than ${SOURCES_MAX} sources`)
    return group
  }
}

const isPlainGroup = ({ seenDevice, source }: SourceSamples): boolean => !seenDevice && !source.workout_id && !source.sport

/** Records the devices of sources, and returns the samples with their ids. Writes device. */
async function createSeries(tx: Tx, user: User, provider: string, sources: SourceSamples[]): Promise<SeriesSamples[]> {
  const devices = sources.flatMap(({ seenDevice }) => seenDevice ?? [])
  const ids = await recordDevices(tx, user, provider, devices)
  return sources.map(({ source, seenDevice, samples }) => ({
    source: { ...source, device_id: seenDevice && ids.get(deviceKey(seenDevice.device))! },
    samples,
  }))
}

/** Notifies that workouts of some days have changed. */
export const notifyZones = async (tx: Tx, user_id: string, days: number[]): Promise<void> => {
  if (days.length) await tx.notify(dataChanged, user_id, 'workouts', { from_ms: Math.min(...days), to_ms: Math.max(...days) })
}

/**
 * Records that the history of a resource is complete. Writes historical_pull, day_record. Emits historical.data.{resource}.created, unless a complete
 * history with this range was recorded before.
 */
export async function completeHistory(
  tx: Tx,
  user: User,
  resource: TimeseriesName | SummaryKind | 'workout_stream',
  { provider, ...range }: { provider: string } & HistoryRange,
): Promise<void> {
  const finished = await finishPull(tx, { user_id: user.user_id, provider, resource }, range)
  const event = isTimeseries(resource) ? timeseriesOf(resource).event : resource
  if (!range.is_empty) {
    const name = isTimeseries(resource) ? resourceNameOf(resource) : resource
    const days = daysBetween(range.from_ms, range.to_ms)
    recordDays(tx, { user_id: user.user_id, provider, resource: name, outcome: 'answered', days })
  }
  if (finished && event !== null) emitHistoryComplete(tx, user, event, { provider, ...finished })
}

// Events about samples: batches of one source. Source: events.md 2, 4.2 P10-P12, 4.11.

const BATCH_MAX = 10_000
/** The smallest limit of a destination is 1 MiB; the rest of an event takes less than 2 kB. */
const BATCH_BYTES_MAX = 1024 * 1024 - 2048

/** What of the samples was new and what was changed, in batches, in slices: the events daily.data.{resource}.created and .updated. */
async function* batchEvents(
  tx: Tx,
  { user_id, client_user_id }: UserIdentity,
  resource: TimeseriesName,
  mergedSeries: MergedSamples[],
  { historical }: { historical: boolean },
): AsyncGenerator<Event> {
  const { event } = timeseriesOf(resource)
  if (event === null) return
  const format = sampleFormatter(resource)
  for (const { source, createdSamples, updatedSamples } of mergedSeries) {
    const around = `"source":${JSON.stringify(sampleSource(tx, source))},"source_id":${wireSourceId(source.provider)},"user_id":"${user_id}"`
    for (const [kind, samples] of Object.entries({ created: createdSamples, updated: updatedSamples }))
      for await (const batch of splitBatches(samples, (sample) => format(sample, source))) {
        const type = `daily.data.${event}.${kind}`
        yield { type, object_id: user_id, user_id, client_user_id, data: `{"data":[${batch}],${around}}`, historical }
      }
  }
}

/** Samples whose size is measured at once. */
const SLICE = 100

/** Samples in batches, each as the JSON text of its samples with their commas. In slices. */
async function* splitBatches(samples: Sample[], format: (sample: Sample) => object): AsyncGenerator<string> {
  let texts: string[] = []
  let bytes = 0
  for (let from = 0; from < samples.length; from += SLICE) {
    const turn = yieldIfLong()
    if (turn) await turn
    const text = JSON.stringify(samples.slice(from, from + SLICE).map(format)).slice(1, -1)
    const size = Buffer.byteLength(text) + 1
    if (texts.length === BATCH_MAX / SLICE || bytes + size > BATCH_BYTES_MAX) {
      yield texts.join()
      texts = []
      bytes = 0
    }
    texts.push(text)
    bytes += size
  }
  if (texts.length) yield texts.join()
}

/** Emits that the history of a resource is complete. Emits historical.data.{resource}.created. */
function emitHistoryComplete(
  tx: Tx,
  { user_id, client_user_id }: UserIdentity,
  event: string,
  { provider, from_ms, to_ms }: { provider: string; from_ms: number; to_ms: number },
): void {
  const range = { start_date: wireTime(from_ms), end_date: wireTime(to_ms) }
  const data = { user_id, ...range, provider, ...(servesLegacy(tx) && { is_final: true }) }
  emit(tx, { type: `historical.data.${event}.created`, object_id: user_id, user_id, client_user_id, data: JSON.stringify(data) })
}
