// From what a phone sends to samples: units, sources, time zones. Source: users-wearables.md 7, 16.6, 16.7.
import { flatMapInSlices } from '../../platform/runtime/loop-work.ts'
import { usualInstant } from '../../platform/schema/usual-timestamps.ts'
import type { IncomingDevice } from '../../wearables/devices/devices.ts'
import { FUTURE, isPastInstant, sampleFault } from '../../wearables/ingestion/plausible.ts'
import { findConversion, convert } from '../../wearables/ingestion/phone-units.ts'
import type { IncomingSample } from '../../wearables/ingestion/ingest.ts'
import { sensorLocations, typeWithDetails, type SensorLocation } from '../../wearables/resources/sample-details.ts'
import { WHEELCHAIR } from '../../wearables/resources/sports.ts'
import {
  isSourceType,
  resourceNameOf,
  timeseriesOf,
  type SourceType,
  type TimeseriesName,
} from '../../wearables/resources/timeseries.ts'
import { validZone, localDate, QUARTER_MS, zoneOffset } from '../../wearables/resources/zones.ts'
import { placesOf, type Faults } from './faults.ts'
import type { Quantity, QuantityKind, Envelope } from './schema.ts'
import { fallbackZone } from '../../people/users/fallbacks.ts'
import type { Tx } from '../../platform/db/transaction.ts'

/** The longest interval, as a chunk can hold it. */
const LENGTH_MS_MAX = 24 * 86_400_000

/** Resources of instants whose samples have an end as well, where it is known. */
export const withLength = new Set<TimeseriesName>(['water', 'floors_climbed', 'calories_basal'])

/** What recorded a sample, from the app and the product that a phone names. Source: users-wearables.md 7. */
export function sourceTypeOf({
  type,
  source_bundle = '',
  product_type = '',
}: Pick<Quantity, 'type' | 'source_bundle' | 'product_type'>): SourceType {
  if (type && isSourceType(type)) return type
  if (source_bundle === 'com.apple.Health') return 'app'
  if (source_bundle.startsWith('com.apple.health.')) {
    if (product_type.startsWith('Watch')) return 'watch'
    if (product_type.startsWith('iPhone')) return 'phone'
  }
  return 'unknown'
}

/** Different names of zones that one post may have: looking at a name takes as long as storing many samples. */
const ZONES_MAX = 100

/** The zones of the samples of one post: their own, else that of the phone; null if neither is one that this server knows. */
export class PostZones {
  readonly #phone: string | null
  /** By day, if the phone has named them. */
  readonly #days: ReadonlyMap<string, string | null> | undefined
  readonly #known = new Map<string, string | null>()
  #last: { zone: string; quarter: number; offset: number } | undefined

  /** @param days pairs of a day and the zone of the phone on it */
  constructor(phone: string | undefined, days?: readonly (readonly string[])[]) {
    this.#phone = phone === undefined ? null : validZone(phone)
    this.#days = days && new Map(days.map(([day = '', zone = '']) => [day.slice(0, 10), this.#named(zone)]))
  }

  /** @param at_ms when, for zones by day */
  zoneAt({ metadata }: Pick<Quantity, 'metadata'>, at_ms?: number): string | null {
    const own = metadata?.HKTimeZone
    return (typeof own === 'string' ? this.#named(own) : null) ?? this.#onDay(at_ms) ?? this.#phone
  }

  /** The zone of the day on which an instant lies there. */
  #onDay(at_ms: number | undefined): string | null {
    if (!this.#days || at_ms === undefined) return null
    for (const by of [0, -86_400_000, 86_400_000]) {
      const zone = this.#days.get(localDate(this.#phone, at_ms + by)) ?? null
      if (zone !== null && this.#days.get(localDate(zone, at_ms)) === zone) return zone
    }
    return null
  }

  #named(name: string): string | null {
    let zone = this.#known.get(name)
    if (zone === undefined) {
      if (this.#known.size === ZONES_MAX) return null
      zone = validZone(name)
      this.#known.set(name, zone)
    }
    return zone
  }

  /** Whether the zone of a sample is only that of the phone. */
  isAssumed(sample: Pick<Quantity, 'metadata'>, at_ms: number): boolean {
    const own = sample.metadata?.HKTimeZone
    return (typeof own !== 'string' || this.#named(own) === null) && this.#onDay(at_ms) === null
  }

  /** Seconds east of UTC where a sample was taken; null if its zone is not known. */
  offsetAt(sample: Pick<Quantity, 'metadata'>, at_ms: number): number | null {
    const zone = this.zoneAt(sample, at_ms)
    if (zone === null) return null
    const quarter = Math.floor(at_ms / QUARTER_MS)
    // Most samples of a post are of one zone and of the same quarter of an hour as the one before.
    if (this.#last?.zone !== zone || this.#last.quarter !== quarter)
      this.#last = { zone, quarter, offset: zoneOffset(zone, at_ms) }
    return this.#last.offset
  }
}

/** A text that PostgreSQL can store. */
const storableText = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= 60 && value.isWellFormed() && !value.includes('\0') ? value : null

/** By the numbers of Apple Health, `HKBodyTemperatureSensorLocation`. */
const appleLocations = new Map<string, SensorLocation>(sensorLocations.slice(0, -1).map((name, i) => [String(i + 1), name]))

/** Where a temperature was measured, as the metadata of Apple Health says, or by its name; null if that is unknown. */
export function sensorLocationOf(metadata: Readonly<Record<string, unknown>> | undefined): SensorLocation | null {
  const { HKBodyTemperatureSensorLocation: number, sensor_location: name } = metadata ?? {}
  return appleLocations.get(String(number)) ?? sensorLocations.find((location) => location === name) ?? null
}

/** The type that samples are stored with, from their source and their metadata. */
function sampleType(resource: TimeseriesName, source_type: SourceType, metadata: QuantityKind['metadata']): string | null {
  switch (resource) {
    case 'glucose':
      return source_type === 'automatic' || source_type === 'manual_scan' ? source_type : null
    case 'heart_rate_alert':
      return storableText(metadata?.type)
    case 'sleep_breathing_disturbance':
      return storableText(metadata?.category) ?? storableText(metadata?.type)
    case 'body_temperature':
      return typeWithDetails(resource, null, { sensor_location: sensorLocationOf(metadata) })
    default:
      return null
  }
}

/** Phones send distances on foot and by wheelchair in one list, and mark the latter. */
const isByWheelchair = (metadata: QuantityKind['metadata']): boolean => ['1', 'true'].includes(String(metadata?.wheelchair))

const instantOf = (text: string): number => usualInstant(text) ?? Date.parse(text)

/** What is known of all samples of a post. */
export interface ExampleContext {
  provider: string
  zones: PostZones
  now_ms: number
  /** Takes samples that are left out. */
  faults: Faults
  /** Where the sample is in the request, or the list of `goodSamples`. */
  location: (string | number)[]
}

/** The good samples of a list of a request, with what the phone sent. In slices. */
export async function goodSamples(
  resource: TimeseriesName,
  list: Quantity[],
  context: ExampleContext,
): Promise<{ quantity: Quantity; sample: IncomingSample }[]> {
  await context.faults.addLeftOut(resourceNameOf(resource), list)
  const placeOf = placesOf(list)
  return flatMapInSlices(list, (quantity, i) => {
    const sample = incoming(resource, quantity, { ...context, location: [...context.location, placeOf(i)] })
    return sample ? { quantity, sample } : []
  })
}
export const incomingList = async (
  resource: TimeseriesName,
  list: Quantity[],
  context: ExampleContext,
): Promise<IncomingSample[]> => (await goodSamples(resource, list, context)).map(({ sample }) => sample)

/** Why an interval cannot be; undefined if it can. @returns the field and the text */
export function intervalFault(start_ms: number, end_ms: number, now_ms: number): [field: string, text: string] | undefined {
  if (!isPastInstant(start_ms, now_ms)) return ['start_date', FUTURE]
  if (end_ms < start_ms) return ['end_date', 'must not be before start_date']
  if (end_ms - start_ms > LENGTH_MS_MAX) return ['end_date', 'must not be more than 24 days after start_date']
  return undefined
}

/**
 * A sample as it is stored; undefined, and a fault more, for one that cannot be: an end before the start, an interval of more than 24 days,
 * an instant before 1900 or more than a day ahead of the server, an alert of heart rate without its type, which the API always shows, a unit
 * that is not known, a value outside of the bounds of the resource.
 */
export function incoming(resource: TimeseriesName, sample: Quantity, context: ExampleContext): IncomingSample | undefined {
  const { provider, zones, now_ms, faults, location } = context
  const { value, unit, metadata } = sample
  const recorder = readRecorder(sample)
  const type = sampleType(resource, recorder.source_type, metadata)
  // Whole seconds: two samples of one second would be shown with one timestamp.
  const start = Math.floor(instantOf(sample.start_date) / 1000) * 1000
  const end = Math.floor(instantOf(sample.end_date) / 1000) * 1000
  const fault = (field: string, text: string): undefined => {
    const at_ms = isPastInstant(start, now_ms) ? start : undefined
    faults.add(resourceNameOf(resource), [...location, ...field.split('.')], text, at_ms)
  }
  const ofInterval = intervalFault(start, end, now_ms)
  if (ofInterval) return fault(...ofInterval)
  if (resource === 'heart_rate_alert' && type === null)
    return fault('metadata.type', 'must say which alert it is, such as low_heart_rate or high_heart_rate')
  const isHour = resource === 'stand_hour'
  const isCounted = isHour || resource === 'heart_rate_alert'
  const conversion = findConversion(provider, resource, unit)
  if (!isCounted && !conversion) return fault('unit', `is not a known unit of ${resourceNameOf(resource)}`)
  const measured = isCounted ? 1 : convert(value, conversion!)
  const wrong = sampleFault(resource, { value: measured, second: null, at_ms: start }, now_ms)
  if (wrong) return fault(wrong.field, wrong.text)
  const { isInterval } = timeseriesOf(resource)
  return {
    at_ms: start,
    value: measured,
    type: isHour ? (value === 0 ? 'stood' : 'idle') : type,
    second: null,
    length_ms: isInterval || (withLength.has(resource) && end > start) ? end - start : null,
    zone_s: zones.offsetAt(sample, start),
    ...(zones.isAssumed(sample, start) && { isZoneAssumed: true as const }),
    ...recorder,
    sport: resource === 'distance' && isByWheelchair(metadata) ? WHEELCHAIR : null,
  }
}

// The zone of a post whose phone gives none that this server knows: where the user lives. Source: users-wearables.md 7.

/** A post as it was sent, or with the user's own zone. */
export async function withZone<E extends Envelope>(tx: Tx, user_id: string, envelope: E): Promise<E> {
  if (envelope.time_zone !== undefined && validZone(envelope.time_zone) !== null) return envelope
  const time_zone = await fallbackZone(tx, user_id)
  return time_zone === null ? envelope : { ...envelope, time_zone }
}

// The devices that phones name in the metadata of samples and records. Source: users-wearables.md 16.7.

const LENGTH_MAX = 200

function textOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > LENGTH_MAX || value.includes('\0') || !value.isWellFormed()) return null
  return value.trim() || null
}

/** Kinds of devices by the models of Apple, for records of apps on them whose source does not tell: electrocardiograms come from one. */
const appleTypes: ReadonlyMap<string | null, SourceType> = new Map([
  ['Watch', 'watch'],
  ['iPhone', 'phone'],
])

/** What recorded something, as samples and summaries hold it. */
export const readRecorder = (record: Omit<QuantityKind, 'unit'>, source_type = sourceTypeOf(record)) => ({
  source_type,
  device: toDevice(record.metadata, source_type),
  app_id: record.source_bundle ?? null,
})

/** The device that recorded something; null if the phone names neither its model nor its manufacturer. */
export function toDevice(metadata: Quantity['metadata'], source_type: SourceType): IncomingDevice | null {
  if (!metadata) return null
  const [manufacturer, model] = [textOf(metadata._DMA), textOf(metadata._DMO)]
  if (manufacturer === null && model === null) return null
  const version = textOf(metadata._DSV) ?? textOf(metadata._DFV) ?? textOf(metadata._DHV)
  const kind = source_type === 'unknown' ? (appleTypes.get(model) ?? source_type) : source_type
  return { source_type: kind, manufacturer, model, version, device_id: null }
}
