// From what a phone sends to samples: units, sources, time zones. Source: users-wearables.md 7, 16.6, 16.7.
import { invalidField } from '../../platform/http/errors.ts'
import { usualInstant } from '../../platform/schema/usual-timestamps.ts'
import type { IncomingDevice } from '../../wearables/devices/devices.ts'
import { unitFactor } from '../../wearables/ingestion/units.ts'
import type { IncomingSample } from '../../wearables/ingestion/ingest.ts'
import { sensorLocations, typeWithDetails, type SensorLocation } from '../../wearables/resources/sample-details.ts'
import { isSourceType, timeseriesOf, type SourceType, type TimeseriesName } from '../../wearables/resources/timeseries.ts'
import { canonicalZone, localDate, QUARTER_MS, zoneOffset } from '../../wearables/resources/zones.ts'
import { deviceOf } from './devices.ts'
import type { Quantity, QuantityColumns, QuantityKind } from './schema.ts'

const EARLIEST_MS = Date.UTC(1900, 0, 1)
/** How far ahead of the server a phone's clock may be. */
const AHEAD_MS = 86_400_000
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
    this.#phone = phone === undefined ? null : canonicalZone(phone)
    this.#days = days && new Map(days.map(([day = '', zone = '']) => [day.slice(0, 10), this.#named(zone)]))
  }

  /** @param at_ms when, for zones by day */
  of({ metadata }: Pick<Quantity, 'metadata'>, at_ms?: number): string | null {
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
      zone = canonicalZone(name)
      this.#known.set(name, zone)
    }
    return zone
  }

  /** Seconds east of UTC where a sample was taken; null if its zone is not known. */
  offsetOf(sample: Pick<Quantity, 'metadata'>, at_ms: number): number | null {
    const zone = this.of(sample, at_ms)
    if (zone === null) return null
    const quarter = Math.floor(at_ms / QUARTER_MS)
    // Most samples of a post are of one zone and of the same quarter of an hour as the one before.
    if (this.#last?.zone !== zone || this.#last.quarter !== quarter)
      this.#last = { zone, quarter, offset: zoneOffset(zone, at_ms) }
    return this.#last.offset
  }
}

/** A text that PostgreSQL can store. */
const text = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= 60 && value.isWellFormed() && !value.includes('\0') ? value : null

/** By the numbers of Apple Health, `HKBodyTemperatureSensorLocation`. */
const appleLocations = new Map<string, SensorLocation>(sensorLocations.slice(0, -1).map((name, i) => [String(i + 1), name]))

/** Where a temperature was measured, as the metadata of Apple Health says, or by its name; null if that is unknown. */
export function sensorLocationOf(metadata: Readonly<Record<string, unknown>> | undefined): SensorLocation | null {
  const { HKBodyTemperatureSensorLocation: number, sensor_location: name } = metadata ?? {}
  return appleLocations.get(String(number)) ?? sensorLocations.find((one) => one === name) ?? null
}

/** What follows from the kind of a sample, for all samples of that kind. */
interface KindFacts {
  source_type: SourceType
  app_id: string | null
  device: IncomingDevice | null
  factor: number
  type: string | null
}

/** The type that samples are stored with, from their source and their metadata. */
function typeOf(resource: TimeseriesName, source_type: SourceType, metadata: QuantityKind['metadata']): string | null {
  switch (resource) {
    case 'glucose':
      return source_type === 'automatic' || source_type === 'manual_scan' ? source_type : null
    case 'heart_rate_alert':
      return text(metadata?.type)
    case 'sleep_breathing_disturbance':
      return text(metadata?.category) ?? text(metadata?.type)
    case 'body_temperature':
      return typeWithDetails(resource, null, { sensor_location: sensorLocationOf(metadata) })
    default:
      return null
  }
}

function factsOf(resource: TimeseriesName, kind: QuantityKind): KindFacts {
  const { unit, source_bundle, metadata } = kind
  const source_type = sourceTypeOf(kind)
  return {
    source_type,
    app_id: source_bundle ?? null,
    device: deviceOf(metadata, source_type),
    factor: unitFactor(resource, unit),
    type: typeOf(resource, source_type, metadata),
  }
}

const instantOf = (text: string): number => usualInstant(text) ?? Date.parse(text)

interface Context {
  zones: PostZones
  now_ms: number
  /** Where the sample stands in the request, or the list whose `place` it has. */
  at: (string | number)[]
}

/**
 * A sample as it is stored. Errors: 422 an end before the start, an interval of more than 24 days, an instant before 1900 or more than a
 * day ahead of the server, an alert of heart rate without its type, which the API always shows.
 */
export function incoming(resource: TimeseriesName, sample: Quantity, context: Context, place?: number): IncomingSample {
  const start_ms = instantOf(sample.start_date)
  const end_ms = sample.end_date === sample.start_date ? start_ms : instantOf(sample.end_date)
  return incomingAt(resource, { start_ms, end_ms, value: sample.value, kind: sample }, factsOf(resource, sample), context, place)
}

/** As `incoming`, of each sample of a list. */
export function incomingOf(resource: TimeseriesName, columns: QuantityColumns, context: Context): IncomingSample[] {
  const { length, values, start_ms, end_ms, kind: kinds } = columns
  const facts = columns.kinds.map((kind) => factsOf(resource, kind))
  const samples: IncomingSample[] = []
  for (let i = 0; i < length; i++) {
    const kind = kinds[i]!
    const one = { start_ms: start_ms[i]!, end_ms: end_ms[i]!, value: values[i]!, kind: columns.kinds[kind]! }
    samples.push(incomingAt(resource, one, facts[kind]!, context, i))
  }
  return samples
}

function incomingAt(
  resource: TimeseriesName,
  { start_ms, end_ms, value, kind }: { start_ms: number; end_ms: number; value: number; kind: QuantityKind },
  { source_type, app_id, device, factor, type }: KindFacts,
  { zones, now_ms, at }: Context,
  place: number | undefined,
): IncomingSample {
  const whole = () => (place === undefined ? at : [...at, place])
  // Whole seconds: two samples of one second would be shown with one timestamp.
  const start = Math.floor(start_ms / 1000) * 1000
  const end = Math.floor(end_ms / 1000) * 1000
  if (start < EARLIEST_MS || start > now_ms + AHEAD_MS)
    throw invalidField([...whole(), 'start_date'], 'must be after 1900 and not in the future')
  if (end < start) throw invalidField([...whole(), 'end_date'], 'must not be before start_date')
  if (end - start > LENGTH_MS_MAX) throw invalidField([...whole(), 'end_date'], 'must not be more than 24 days after start_date')
  if (resource === 'heart_rate_alert' && type === null)
    throw invalidField([...whole(), 'metadata', 'type'], 'must say which alert it is, such as low_heart_rate or high_heart_rate')
  const isHour = resource === 'stand_hour'
  const { isInterval } = timeseriesOf(resource)
  return {
    at_ms: start,
    value: isHour || resource === 'heart_rate_alert' ? 1 : value * factor,
    type: isHour ? (value === 0 ? 'stood' : 'idle') : type,
    second: null,
    length_ms: isInterval || (withLength.has(resource) && end > start) ? end - start : null,
    zone_s: zones.offsetOf(kind, start),
    source_type,
    app_id,
    device,
  }
}
