// An Apple Health export, `export.xml`, as a stream: from its elements to samples and summaries.
import { withLength, PostZones } from '../../mobile-sdk/phone-samples.ts'
import { toProfile, toWorkout } from '../../mobile-sdk/summaries.ts'
import type { IncomingSample } from '../../../wearables/ingestion/ingest.ts'
import { timeseriesOf, type TimeseriesName } from '../../../wearables/resources/timeseries.ts'
import { zoneOffset } from '../../../wearables/resources/zones.ts'
import type { Document } from '../../../wearables/summaries/schema.ts'
import { isPlausible, type ReadContext, type ReadSummary, type Sink } from '../reading.ts'
import { toCanonical, parseQuantity, type Dimension } from '../file-units.ts'
import { readXml, type XmlHandler } from '../xml.ts'
import { AppleActivity, dayRates, EXPORT_APP } from './apple-activity.ts'
import { AppleCycles, cycleKeys, isOfCycle } from './apple-cycles.ts'
import { AppleMeals, nutrientOf } from './apple-meals.ts'
import { AppleNights, exportKey } from './apple-sleep.ts'
import { WHEELCHAIR } from '../../../wearables/resources/sports.ts'
import { bodyFields, categories, kindKeys, findKind, quantities, shortType, sleepValues } from './apple-types.ts'
import { appleTime, AppleSources, localDay, type AppleSource, type AppleTime, sourceKey, zoneName } from './apple-values.ts'
import type { SentWorkout } from '../../mobile-sdk/summary-schema.ts'

export const APPLE = 'apple_health_kit'

const ROOT = /<HealthData[\s>]/
/** The longest interval, as a chunk can hold it. */
const LENGTH_MS_MAX = 24 * 86_400_000
const NIGHT_PART_MS_MAX = 86_400_000
const SESSION_MS_MAX = 7 * 86_400_000
const STATISTICS_MAX = 100
/** Routes of one workout, and workouts that wait for their routes. */
const ROUTES_MAX = 10
const WAITING_MAX = 10_000

/** A workout whose way is in other files of the archive. */
export interface RoutedWorkout {
  workout: ReadSummary<'workouts'>
  /** As the export names them: `/workout-routes/route_2026-01-31_9.00am.gpx`. */
  routes: string[]
}

/**
 * Reads an export. Errors: those of `readXml`; what precedes them has been read.
 * @param routedWorkouts takes the workouts that name a route, which are not passed on; without it all are passed on
 */
export async function readAppleExport(
  blocks: AsyncIterable<Uint8Array>,
  sink: Sink,
  context: ReadContext,
  routedWorkouts?: RoutedWorkout[],
): Promise<void> {
  const reader = new AppleExport(sink, context, routedWorkouts)
  let error: unknown
  try {
    await readXml(blocks, ROOT, reader, () => sink.drain())
  } catch (thrown) {
    error = thrown
  }
  await reader.finish()
  if (error) throw error
}

/** An element that is open, with what its children say. */
interface Open {
  name: 'Record' | 'Workout'
  attributes: Record<string, string>
  metadata: Record<string, string>
  statistics: Record<string, string>[]
  routes: string[]
  isFaulty: boolean
  isInCorrelation: boolean
}

class AppleExport implements XmlHandler {
  readonly #sink: Sink
  readonly #context: ReadContext
  readonly #routed: RoutedWorkout[] | undefined
  readonly #sources = new AppleSources()
  readonly #zones = new PostZones(undefined)
  readonly #days = new AppleActivity()
  readonly #nights = new AppleNights()
  readonly #meals = new AppleMeals()
  readonly #cycles = new AppleCycles()
  readonly #pressures = new ApplePressures()
  #profile: Parameters<typeof toProfile>[0] | undefined
  #height_ms = -Infinity
  #open: Open | undefined
  #correlations = 0
  /** A fault in an element that is not open yet: saxes reports faults of attributes first. */
  #isFaulty = false

  constructor(sink: Sink, context: ReadContext, routedWorkouts: RoutedWorkout[] | undefined) {
    this.#sink = sink
    this.#context = context
    this.#routed = routedWorkouts
  }

  fault(): void {
    this.#isFaulty = true
    if (this.#open) this.#open.isFaulty = true
  }

  open(name: string, attributes: Record<string, string>): void {
    const isFaulty = this.#isFaulty
    this.#isFaulty = false
    if (name === 'Record' || name === 'Workout') {
      const isInCorrelation = this.#correlations > 0
      this.#open = { name, attributes, metadata: {}, statistics: [], routes: [], isFaulty, isInCorrelation }
    } else if (name === 'Correlation') this.#correlations++
    else if (name === 'MetadataEntry') {
      const { key, value } = attributes
      // Keys repeat; the first one counts.
      if (this.#open && key !== undefined && value !== undefined && kept.has(key)) this.#open.metadata[key] ??= value
    } else if (name === 'WorkoutStatistics') {
      if (this.#open && this.#open.statistics.length < STATISTICS_MAX) this.#open.statistics.push(attributes)
    } else if (name === 'FileReference') {
      if (this.#open && attributes.path !== undefined && this.#open.routes.length < ROUTES_MAX)
        this.#open.routes.push(attributes.path)
    } else if (name === 'ActivitySummary') this.#ring(attributes, isFaulty)
    else if (name === 'Me') this.#me(attributes)
  }

  close(name: string): void {
    if (name === 'Correlation') this.#correlations--
    const open = this.#open
    if (!open || open.name !== name) return
    this.#open = undefined
    const type = shortType(open.attributes.type ?? open.attributes.workoutActivityType ?? name)
    if (open.isFaulty) this.#sink.skip('malformed', type)
    else if (name === 'Workout') this.#workout(open, type)
    else this.#record(open, type)
  }

  #timesOf({ attributes, metadata }: Open): { start: AppleTime; end: AppleTime } | undefined {
    const start = appleTime(attributes.startDate)
    const end = appleTime(attributes.endDate)
    if (!start || !end) return undefined
    // The offsets in an export are those of the phone at the time of the export; the metadata has the place of the sample.
    const zone = metadata.HKTimeZone === undefined ? null : this.#zones.zoneAt({ metadata })
    if (zone !== null) for (const time of [start, end]) time.zone_s = zoneOffset(zone, time.at_ms)
    return { start, end }
  }

  #record(open: Open, type: string): void {
    const { attributes, metadata, isInCorrelation } = open
    const quantity = Object.hasOwn(quantities, type) ? quantities[type] : undefined
    const category = Object.hasOwn(categories, type) ? categories[type] : undefined
    const isPressure = type === 'BloodPressureSystolic' || type === 'BloodPressureDiastolic'
    const nutrient = nutrientOf(type)
    const isDayRate = Object.hasOwn(dayRates, type)
    const isOther = type === 'SleepAnalysis' || type === 'Height' || isDayRate || isOfCycle(type)
    const isKnown = quantity || category || isPressure || nutrient || isOther
    if (!isKnown) return this.#sink.skip('unsupported', type)
    // The members of a correlation stand at the top level as well; the two halves of a pressure find each other by their time.
    if (isInCorrelation && !isPressure) return
    const times = this.#timesOf(open)
    const length_ms_max = type === 'SleepAnalysis' ? NIGHT_PART_MS_MAX : LENGTH_MS_MAX
    // Records of a cycle are of the day of their start; a contraceptive that is in use ends in the far future.
    const end_ms = isOfCycle(type) ? times?.start.at_ms : times?.end.at_ms
    if (!times || !isPlausible(times.start.at_ms, end_ms!, this.#context, length_ms_max))
      return this.#sink.skip('invalid_time', type)
    const source = this.#sources.resolve(attributes.sourceName, attributes.device, metadata.HKWasUserEntered === '1')
    if (type === 'SleepAnalysis') return this.#sleep(attributes, times, source)
    if (isOfCycle(type)) {
      const reason = this.#cycles.add(source, { type, value: attributes.value, metadata, ...times })
      return reason && this.#sink.skip(reason, type)
    }
    if (category) {
      const value = category.value === 'minutes' ? (times.end.at_ms - times.start.at_ms) / 60_000 : 1
      const { type: types, resource } = category
      const kind = typeof types === 'object' && types !== null ? types[attributes.value ?? ''] : types
      if (kind === undefined) return this.#sink.skip('invalid_value', type)
      return this.#sample(resource, value, times, source, kind)
    }
    const text = attributes.value
    if (text === undefined || text.trim() === '') return this.#sink.skip('no_value', type)
    const raw = DECIMAL.test(text) ? Number(text) : NaN
    if (!Number.isFinite(raw)) return this.#sink.skip('invalid_value', type)
    const unit = attributes.unit ?? ''
    if (nutrient) {
      const isRead = this.#meals.add(nutrient, raw, unit, { source, start: times.start }, metadata.HKFoodType)
      if (!isRead) return this.#sink.skip('unknown_unit', type)
      if (!quantity) return
    }
    const dimension = quantity ? quantity[1] : isPressure ? 'pressure' : isDayRate ? 'perMinute' : 'centimeter'
    const value = toCanonical(dimension, raw, unit)
    if (value === undefined) return this.#sink.skip('unknown_unit', type)
    if (isPressure) {
      const half = type === 'BloodPressureSystolic' ? 'systolic' : 'diastolic'
      if (!this.#pressures.add(half, value, times.start, source)) this.#sink.skip('too_many', type)
      return
    }
    if (type === 'Height') return this.#height(value, times.start)
    if (isDayRate) return this.#days.addDayRate(type as keyof typeof dayRates, value, times.start)
    const kind = findKind(type, metadata)
    if (kind === undefined) return this.#sink.skip('invalid_value', type)
    if (type === 'BasalBodyTemperature' && !this.#cycles.addTemperature(source, value, times.start, metadata))
      this.#sink.skip('too_many', 'MenstrualCycle')
    const sport = type === 'DistanceWheelchair' ? WHEELCHAIR : null
    this.#sample(quantity![0], value, times, source, kind, sport)
  }

  #sample(
    resource: TimeseriesName,
    value: number,
    { start, end }: { start: AppleTime; end: AppleTime },
    source: AppleSource,
    type: string | null,
    sport: string | null = null,
  ): void {
    const { isInterval } = timeseriesOf(resource)
    const length = end.at_ms - start.at_ms
    const sample: IncomingSample = {
      at_ms: start.at_ms,
      value,
      second: null,
      length_ms: isInterval || (withLength.has(resource) && length > 0) ? length : null,
      zone_s: start.zone_s,
      type,
      sport,
      ...source,
    }
    this.#sink.sample(resource, sample)
    this.#days.addSample(resource, value, start, end, source)
    const field = (bodyFields as Partial<Record<TimeseriesName, keyof Document<'body'>>>)[resource]
    if (field) this.#body(field, value, start, source)
  }

  #body(field: keyof Document<'body'>, value: number, start: AppleTime, source: AppleSource): void {
    const calendar_date = localDay(start)
    const document: Document<'body'> = { date: `${calendar_date}T00:00:00+00:00`, calendar_date, [field]: value }
    const key = `${new Date(start.at_ms).toISOString()} ${source.app_id ?? ''}`
    this.#sink.summary({ kind: 'body', record: { key, ...source, calendar_date, document } })
  }

  #sleep(attributes: Record<string, string>, { start, end }: { start: AppleTime; end: AppleTime }, source: AppleSource): void {
    const value = attributes.value as keyof typeof sleepValues | undefined
    if (value === undefined || !Object.hasOwn(sleepValues, value)) return this.#sink.skip('invalid_value', 'SleepAnalysis')
    const interval = { start_ms: start.at_ms, end_ms: end.at_ms, zone_s: end.zone_s, value: sleepValues[value] }
    if (!this.#nights.add(source, interval)) this.#sink.skip('too_many', 'SleepAnalysis')
  }

  #height(value: number, { at_ms }: AppleTime): void {
    if (at_ms < this.#height_ms) return
    this.#height_ms = at_ms
    this.#profile = { ...this.#profile, height: value }
  }

  #workout(open: Open, type: string): void {
    const times = this.#timesOf(open)
    if (!times || !isPlausible(times.start.at_ms, times.end.at_ms, this.#context, SESSION_MS_MAX))
      return this.#sink.skip('invalid_time', type)
    const { attributes, metadata, statistics, routes } = open
    const source = this.#sources.resolve(attributes.sourceName, attributes.device, false)
    const workout = workoutSummary({ attributes, metadata, statistics, ...times, source })
    if (!routes.length || !this.#routed) return this.#sink.summary(workout)
    if (this.#routed.length < WAITING_MAX) this.#routed.push({ workout, routes })
    else {
      this.#sink.skip('too_many', 'WorkoutRoute')
      this.#sink.summary(workout)
    }
  }

  #ring(attributes: Record<string, string>, isFaulty: boolean): void {
    const date = attributes.dateComponents
    if (isFaulty) return this.#sink.skip('malformed', 'ActivitySummary')
    const at_ms = /^\d{4}-\d\d-\d\d$/.test(date ?? '') ? Date.parse(date!) : NaN
    if (!isPlausible(at_ms, at_ms, this.#context, 0)) return this.#sink.skip('invalid_time', 'ActivitySummary')
    if (!this.#days.addRing(date!, attributes)) this.#sink.skip('too_many', 'ActivitySummary')
  }

  #me(attributes: Record<string, string>): void {
    const born = attributes.HKCharacteristicTypeIdentifierDateOfBirth
    const sex = /^HKBiologicalSex(Female|Male|Other)$/.exec(attributes.HKCharacteristicTypeIdentifierBiologicalSex ?? '')?.[1]
    this.#profile = {
      ...this.#profile,
      ...(sex && { biological_sex: sex.toLowerCase() as 'female' | 'male' | 'other' }),
      ...(isDate(born) && { date_of_birth: born }),
    }
  }

  /** What is known only when everything has been read: pressures, nights, meals, cycles, days, the profile. */
  async finish(): Promise<void> {
    this.#pressures.finish(this.#sink)
    await this.#sink.drain()
    await this.#pass(this.#nights.nights(() => this.#sink.skip('duplicate', 'SleepAnalysis')))
    if (this.#meals.isIncomplete) this.#sink.skip('too_many', 'meals')
    await this.#pass(this.#meals.meals())
    await this.#pass(this.#cycles.cycles((reason) => this.#sink.skip(reason, 'MenstrualCycle')))
    await this.#pass(this.#days.days((reason, kind) => this.#sink.skip(reason, kind)))
    if (this.#profile) {
      const record = toProfile(this.#profile)
      this.#sink.summary({ kind: 'profile', record: { ...record, app_id: EXPORT_APP } })
    }
    await this.#sink.drain()
  }

  async #pass(summaries: Iterable<ReadSummary>): Promise<void> {
    for (const summary of summaries) {
      this.#sink.summary(summary)
      await this.#sink.drain()
    }
  }
}

/** `Number` reads hexadecimal digits and words as well. */
const DECIMAL = /^[\d.eE+-]+$/

/** Metadata that is read. */
const kept = new Set(['HKTimeZone', 'HKWasUserEntered', 'HKElevationAscended', 'HKFoodType', ...kindKeys, ...cycleKeys])

const isDate = (text: string | undefined): text is string =>
  text !== undefined && /^(19|20)\d\d-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

const PRESSURES_MAX = 200_000

interface Pressure {
  start: AppleTime
  source: AppleSource
  systolic?: number
  diastolic?: number
}

/** Halves find each other by their time and source. */
class ApplePressures {
  readonly #of = new Map<string, Pressure>()

  /** @returns false if no more fit into memory */
  add(half: 'systolic' | 'diastolic', value: number, start: AppleTime, source: AppleSource): boolean {
    const key = `${start.at_ms} ${sourceKey(source)}`
    let pressure = this.#of.get(key)
    if (!pressure) {
      if (this.#of.size === PRESSURES_MAX) return false
      this.#of.set(key, (pressure = { start, source }))
    }
    pressure[half] = value
    return true
  }

  /** Passes on the pressures; halves alone are skipped. */
  finish(sink: Sink): void {
    for (const { start, source, systolic, diastolic } of this.#of.values()) {
      if (systolic === undefined || diastolic === undefined) {
        sink.skip('no_value', 'BloodPressure')
        continue
      }
      const sample = { at_ms: start.at_ms, value: systolic, second: diastolic, length_ms: null, zone_s: start.zone_s, type: null }
      sink.sample('blood_pressure', { ...sample, ...source })
    }
  }
}

/** `HKWorkoutActivityTypeTraditionalStrengthTraining` → `Traditional Strength Training`. */
const sportName = (type: string): string =>
  type
    .replace(/^HKWorkoutActivityType/, '')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .slice(0, 100)
    .trim() || 'Other'

const parseNumber = (text: string | undefined): number | undefined => {
  const value = text === undefined || text.trim() === '' ? NaN : Number(text)
  return Number.isFinite(value) ? value : undefined
}

/** A number that is in one attribute and its unit in another. */
function readMeasure(dimension: Dimension, value: string | undefined, unit: string | undefined): number | undefined {
  const found = parseNumber(value)
  return found === undefined ? undefined : toCanonical(dimension, found, unit ?? '')
}

interface AppleWorkout {
  attributes: Record<string, string>
  metadata: Record<string, string>
  /** The attributes of its WorkoutStatistics. */
  statistics: Record<string, string>[]
  start: AppleTime
  end: AppleTime
  source: AppleSource
}

function workoutSummary({ attributes, metadata, statistics, start, end, source }: AppleWorkout): ReadSummary<'workouts'> {
  const of = (pattern: RegExp) => statistics.find(({ type }) => pattern.test(type ?? ''))
  const [energy, distance, rate] = [of(/ActiveEnergyBurned$/), of(/TypeIdentifierDistance/), of(/TypeIdentifierHeartRate$/)]
  const perMinute = (value: string | undefined) => readMeasure('perMinute', value, rate?.unit)
  const optional = <K extends keyof SentWorkout>(name: K, value: SentWorkout[K] | undefined) =>
    value === undefined ? {} : { [name]: value }
  const sport = sportName(attributes.workoutActivityType ?? '')
  const sent: SentWorkout = {
    id: exportKey('workouts', sourceKey(source), sport, start.at_ms),
    sport,
    start_date: new Date(start.at_ms).toISOString(),
    end_date: new Date(end.at_ms).toISOString(),
    ...(source.app_id !== null && { source_bundle: source.app_id }),
    // Without pauses; the end minus the start includes them.
    ...optional('moving_time', readMeasure('second', attributes.duration, attributes.durationUnit)),
    ...optional(
      'calories',
      readMeasure('kilocalorie', energy?.sum, energy?.unit) ??
        readMeasure('kilocalorie', attributes.totalEnergyBurned, attributes.totalEnergyBurnedUnit),
    ),
    ...optional(
      'distance',
      readMeasure('meter', distance?.sum, distance?.unit) ??
        readMeasure('meter', attributes.totalDistance, attributes.totalDistanceUnit),
    ),
    ...optional('ascent_elevation', parseQuantity('meter', metadata.HKElevationAscended)),
    ...optional('heart_rate_mean', perMinute(rate?.average)),
    ...optional('heart_rate_maximum', perMinute(rate?.maximum)),
  }
  const record = toWorkout(sent, { zone: zoneName(start.zone_s) })
  return { kind: 'workouts', record: { ...record, source_type: source.source_type, device: source.device } }
}
