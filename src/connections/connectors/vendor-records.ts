// What connectors make of a vendor's records: samples and summaries in the units of the API.
import type { IncomingSample } from '../../wearables/ingestion/ingest.ts'
import type { IncomingDevice } from '../../wearables/devices/devices.ts'
import { sportOf } from '../../wearables/resources/sports.ts'
import { timeseriesOf, type SourceType, type TimeseriesName } from '../../wearables/resources/timeseries.ts'
import { validZone, zoneOffset } from '../../wearables/resources/zones.ts'
import type { Document } from '../../wearables/summaries/schema.ts'
import type { IncomingSummary } from '../../wearables/summaries/summaries.ts'
import { wireTime } from '../../platform/runtime/clock.ts'
import { localDay, midnight } from './answers.ts'
import type { Pulled } from './connector.ts'
import { idOf, readText, type Values } from './reading.ts'
import { DAY_MS } from '../../platform/runtime/durations.ts'

/** Samples in one batch: what is held in memory and written in one transaction. */
export const BATCH_MAX = 10_000
/** The longest interval that a chunk can hold. */
const LENGTH_MS_MAX = 24 * 86_400_000
const MG_DL_PER_MMOL_L = 18.0182
export const mmolPerLiter = (mg_dl: number): number => mg_dl / MG_DL_PER_MMOL_L

/** The zone that a vendor or a user names; null for one that this server does not know. */
export const knownZone = (...names: (string | null)[]): string | null => {
  for (const name of names) {
    const zone = name === null ? null : validZone(name)
    if (zone !== null) return zone
  }
  return null
}

/** Seconds east of UTC; null where the zone is not known. */
export const offsetAt = (zone: string | null, at_ms: number): number | null => (zone === null ? null : zoneOffset(zone, at_ms))

/** The offset between a local time, given as if it were in UTC, and its instant: whole quarters of an hour, at most 18 hours; else null. */
export function offsetBetween(local_ms: number | null, at_ms: number): number | null {
  if (local_ms === null) return null
  const seconds = Math.round((local_ms - at_ms) / 900_000) * 900
  return Math.abs(seconds) <= 18 * 3600 ? seconds : null
}

/** The instant of a local time in a zone; of two when clocks go back, the earlier one. A zone that is not known counts as UTC. */
export function instantIn(zone: string | null, local_ms: number): number {
  if (zone === null) return local_ms
  const first = local_ms - zoneOffset(zone, local_ms - DAY_MS / 2) * 1000
  if (first + zoneOffset(zone, first) * 1000 === local_ms) return first
  return local_ms - zoneOffset(zone, local_ms + DAY_MS / 2) * 1000
}

/** What a record names of the device that recorded it; null if it names none. */
export function toDevice(
  source_type: SourceType,
  fields: { manufacturer?: unknown; model?: unknown; version?: unknown; device_id?: unknown },
): IncomingDevice | null {
  const [manufacturer, model, version] = [readText(fields.manufacturer), readText(fields.model), readText(fields.version)]
  const device_id = idOf(fields.device_id)
  return model === null && device_id === null ? null : { source_type, manufacturer, model, version, device_id }
}

/** What samples and records of one kind of source share. */
interface Recorder {
  source_type: SourceType
  device?: IncomingDevice | null
  app_id?: string | null
}

/** What a summary has in addition to its document. */
const commonFields = ({ source_type, device, app_id, raw }: Recorder & { raw?: Values | undefined }) => ({
  source_type,
  app_id: app_id ?? null,
  device: device ?? null,
  ...(raw && { raw }),
})

export interface Measured extends Recorder {
  at_ms: number
  value: number
  /** The diastolic blood pressure. */
  second?: number
  end_ms?: number | null
  offset_s: number | null
  type?: string | null
}

/** A sample as it is stored. An interval without an end has no length. */
function toSample(resource: TimeseriesName, measurement: Measured): IncomingSample {
  const { at_ms, value, second, end_ms, offset_s, source_type, type, app_id, device } = measurement
  const length = Math.min(LENGTH_MS_MAX, Math.max(0, (end_ms ?? at_ms) - at_ms))
  return {
    at_ms,
    value,
    second: second ?? null,
    length_ms: timeseriesOf(resource).isInterval || length > 0 ? length : null,
    zone_s: offset_s,
    type: type ?? null,
    source_type,
    app_id: app_id ?? null,
    ...(device && { device }),
  }
}

/** Samples by timeseries, in batches. */
export class SampleBatches {
  readonly #samples = new Map<TimeseriesName, IncomingSample[]>()

  /** Adds a sample unless it has no value. */
  add(resource: TimeseriesName, { value, ...measured }: Omit<Measured, 'value'> & { value: number | null }): void {
    if (value === null) return
    const batch = this.#samples.get(resource)
    const sample = toSample(resource, { value, ...measured })
    if (batch) batch.push(sample)
    else this.#samples.set(resource, [sample])
  }

  /** What was added since the last call. */
  *take(): Generator<Pulled> {
    for (const [resource, samples] of this.#samples)
      for (let i = 0; i < samples.length; i += BATCH_MAX) yield { resource, samples: samples.slice(i, i + BATCH_MAX) }
    this.#samples.clear()
  }
}

/** Stages as they are shown: -1 unknown, 1 deep, 2 light, 3 REM, 4 awake. */
export type StageType = -1 | 1 | 2 | 3 | 4
export interface Stage {
  type: StageType
  start_ms: number
  end_ms: number
}

export interface Night extends Recorder {
  key: string
  /** The record as the vendor sent it, by `rawValues`. */
  raw?: Values | undefined
  start_ms: number
  end_ms: number
  offset_s: number | null
  zone: string | null
  /** The day by which the vendor files the night, if it is the local day of its end. */
  seconds: { awake: number; light: number; rem: number; deep: number }
  is_nap?: boolean
  /** It has not ended yet: what it comes to is not known. */
  is_recording?: boolean
  extraFields?: Partial<Document<'sleep'>>
}

const LONG_SLEEP_S = 3 * 3600

function sleepType({ is_nap, is_recording }: Pick<Night, 'is_nap' | 'is_recording'>, duration_s: number): string {
  if (is_recording) return 'unknown'
  if (is_nap) return 'acknowledged_nap'
  return duration_s >= LONG_SLEEP_S ? 'long_sleep' : 'short_sleep'
}

/** A night. It belongs to the local day on which it ends. */
export function sleepOf({ seconds, start_ms, end_ms, offset_s, ...night }: Night): IncomingSummary<'sleep'> {
  const calendar_date = localDay(end_ms, offset_s)
  const duration = Math.round((end_ms - start_ms) / 1000)
  const total = seconds.rem + seconds.light + seconds.deep
  return {
    key: night.key,
    ...commonFields(night),
    calendar_date,
    document: {
      date: midnight(calendar_date),
      calendar_date,
      bedtime_start: wireTime(start_ms),
      bedtime_stop: wireTime(end_ms),
      type: sleepType(night, duration),
      timezone_offset: offset_s,
      duration,
      total,
      ...seconds,
      efficiency: duration > 0 ? Math.min(100, (total / duration) * 100) : null,
      ...night.extraFields,
    },
  }
}

/** The stages of a night, with the key of the night; undefined if there are none. Its `sleep_id` is known once the night is stored. */
export function toSleepCycle(
  { raw: _ofNight, ...night }: Omit<Night, 'seconds'>,
  stages: Stage[],
): IncomingSummary<'sleep_cycle'> | undefined {
  if (!stages.length) return undefined
  const { key, start_ms, end_ms, offset_s, zone } = night
  const sorted = stages.toSorted((a, b) => a.start_ms - b.start_ms || a.end_ms - b.end_ms)
  const second = (ms: number) => Math.round((ms - start_ms) / 1000)
  return {
    key,
    ...commonFields(night),
    calendar_date: localDay(end_ms, offset_s),
    document: {
      session_start: wireTime(start_ms),
      session_end: wireTime(end_ms),
      stage_start_offset_second: sorted.map((stage) => second(stage.start_ms)),
      stage_end_offset_second: sorted.map((stage) => second(stage.end_ms)),
      stage_type: sorted.map(({ type }) => type),
      time_zone: zone,
    },
  }
}

/** The seconds of each stage within a night. */
export function secondsByStage(stages: Stage[], night: { start_ms: number; end_ms: number }): Night['seconds'] {
  const lengthOf = ({ start_ms, end_ms }: Stage) =>
    Math.max(0, Math.min(end_ms, night.end_ms) - Math.max(start_ms, night.start_ms))
  const of = (type: StageType) =>
    Math.round(stages.reduce((sum, stage) => sum + (stage.type === type ? lengthOf(stage) : 0), 0) / 1000)
  return { awake: of(4), light: of(2), rem: of(3), deep: of(1) }
}

/** What a user has told a vendor who says no time of it. */
export const undatedRecord = <K extends 'profile' | 'body'>(
  source_type: SourceType,
  document: Document<K>,
  raw: Values | undefined,
): IncomingSummary<K> => ({ key: '', ...commonFields({ source_type, raw }), calendar_date: null, document })

export interface WorkoutRecord extends Recorder {
  key: string
  raw?: Values | undefined
  sport: string
  start_ms: number
  end_ms: number
  offset_s: number | null
  extraFields?: Partial<Document<'workouts'>>
}

/** A workout. It belongs to the local day on which it starts. */
export function workoutOf({
  key,
  sport,
  start_ms,
  end_ms,
  offset_s,
  extraFields,
  ...recorder
}: WorkoutRecord): IncomingSummary<'workouts'> {
  const calendar_date = localDay(start_ms, offset_s)
  return {
    key,
    ...commonFields(recorder),
    calendar_date,
    document: {
      title: sport,
      timezone_offset: offset_s,
      calendar_date,
      time_start: wireTime(start_ms),
      time_end: wireTime(end_ms),
      sport: sportOf(sport),
      provider_id: key,
      ...extraFields,
    },
  }
}
