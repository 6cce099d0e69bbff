// The days of an Apple Health export: what its records add up to, and the rings of those days that have some.
import { DAY_MS } from '../../../platform/runtime/durations.ts'
import { toActivity } from '../../mobile-sdk/summaries.ts'
import type { ReadSummary, SkipReason } from '../reading.ts'
import { toCanonical } from '../file-units.ts'
import { DayTotals, isTotaled, rankOf, RANKS, type Totaled } from './apple-days.ts'
import { localDay, zoneName, type AppleSource, type AppleTime } from './apple-values.ts'

/** The app of days that an export has added up: others are those of phones. */
export const EXPORT_APP = 'apple_health_export'

const DAYS_MAX = 40_000
/** A heart rate counts for the time since the one before it, and no longer than this. */
const RATE_MS_MAX = 300_000

/** Heart rates that Apple Health computes once a day. */
export const dayRates = { RestingHeartRate: 'resting_bpm', WalkingHeartRateAverage: 'avg_walking_bpm' } as const
type DayRate = (typeof dayRates)[keyof typeof dayRates]

/** Fields of the heart rates of a day, by rank of their source: the time that they count for, their sum over it, the smallest and the largest. */
const FIELDS = 4
const [WEIGHT, SUM, MIN, MAX] = [0, 1, 2, 3]

/** The heart rates of days. Of several kinds of sources on one day the best one counts. */
class DayRates {
  readonly #days = new Map<number, Float64Array>()
  readonly #once = new Map<string, Partial<Record<DayRate, number>>>()
  readonly #previous_ms = new Map<AppleSource, number>()
  isIncomplete = false

  add(value: number, { at_ms, zone_s }: AppleTime, source: AppleSource): void {
    const passed = at_ms - (this.#previous_ms.get(source) ?? -Infinity)
    this.#previous_ms.set(source, at_ms)
    const weight = passed > 0 ? Math.min(passed, RATE_MS_MAX) : RATE_MS_MAX
    const day = Math.floor((at_ms + zone_s * 1000) / DAY_MS)
    let all = this.#days.get(day)
    if (!all) {
      if (this.#days.size === DAYS_MAX) return void (this.isIncomplete = true)
      this.#days.set(day, (all = new Float64Array(FIELDS * RANKS)))
    }
    const at = rankOf(source.source_type) * FIELDS
    const isFirst = all[at + WEIGHT!] === 0
    all[at + WEIGHT!]! += weight
    all[at + SUM!]! += weight * value
    all[at + MIN!] = isFirst ? value : Math.min(all[at + MIN!]!, value)
    all[at + MAX!] = isFirst ? value : Math.max(all[at + MAX!]!, value)
  }

  addOnce(name: DayRate, value: number, time: AppleTime): void {
    const date = localDay(time)
    const known = this.#once.get(date)
    if (known) known[name] = value
    else if (this.#once.size < DAYS_MAX) this.#once.set(date, { [name]: value })
    else this.isIncomplete = true
  }

  summary(date: string) {
    const all = this.#days.get(Date.parse(date) / DAY_MS)
    const once = this.#once.get(date)
    const best = all && Array.from({ length: RANKS }, (_, rank) => rank * FIELDS).find((offset) => all[offset + WEIGHT!]! > 0)
    const measured = all && best !== undefined ? all.subarray(best, best + FIELDS) : undefined
    if (!measured && !once) return null
    return {
      avg_bpm: measured ? Math.round((measured[SUM!]! / measured[WEIGHT!]!) * 10) / 10 : null,
      min_bpm: measured ? measured[MIN!]! : null,
      max_bpm: measured ? measured[MAX!]! : null,
      resting_bpm: once?.resting_bpm ?? null,
      avg_walking_bpm: once?.avg_walking_bpm ?? null,
    }
  }
}

const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** The days of an export. */
export class AppleActivity {
  readonly #totals = new DayTotals()
  readonly #rates = new DayRates()
  readonly #offsets = new Map<string, number>()
  readonly #rings = new Map<string, Record<string, string>>()
  /** The last day whose offset is known: most records are of the day of the one before. */
  #last = { day: NaN, zone_s: NaN }

  /** @returns whether there was room for it */
  addRing(date: string, attributes: Record<string, string>): boolean {
    if (this.#rings.size === DAYS_MAX && !this.#rings.has(date)) return false
    this.#rings.set(date, attributes)
    return true
  }

  /** Adds a sample if days show something of its resource. */
  addSample(resource: string, value: number, start: AppleTime, end: AppleTime, source: AppleSource): void {
    if (resource === 'heartrate') this.#rates.add(value, start, source)
    else if (isTotaled(resource)) this.#totals.add(resource satisfies Totaled, { ...start, end_ms: end.at_ms, value }, source)
    else return
    this.#addOffset(start)
  }

  addDayRate(type: keyof typeof dayRates, value: number, time: AppleTime): void {
    this.#rates.addOnce(dayRates[type], value, time)
    this.#addOffset(time)
  }

  #addOffset(time: AppleTime): void {
    const day = Math.floor((time.at_ms + time.zone_s * 1000) / DAY_MS)
    if (day === this.#last.day && time.zone_s === this.#last.zone_s) return
    this.#last = { day, zone_s: time.zone_s }
    if (this.#offsets.size < DAYS_MAX) this.#offsets.set(dateOf(day), time.zone_s)
  }

  /**
   * The summaries of all days with a total or a ring, in their order; heart rates alone are not an activity.
   * @param skip called for what did not fit into memory
   */
  *days(skip: (reason: SkipReason, kind: string) => void): Generator<ReadSummary<'activity'>> {
    const { energies, others } = this.#totals.isIncomplete
    if (energies || others || this.#rates.isIncomplete) skip('too_many', 'days')
    const totals = this.#totals.totals()
    for (const date of [...new Set([...totals.keys(), ...this.#rings.keys()])].sort())
      yield this.#day(date, totals.get(date) ?? {})
  }

  #day(date: string, total: Partial<Record<Totaled, number>>): ReadSummary<'activity'> {
    const ring = this.#rings.get(date)
    const burned = toCanonical('kilocalorie', Number(ring?.activeEnergyBurned ?? NaN), ring?.activeEnergyBurnedUnit ?? 'kcal')
    // The rings of a day without a watch are zero.
    const active = burned !== undefined && burned > 0 ? burned : (total.calories_active ?? burned)
    const exercise = Number(ring?.appleExerciseTime ?? NaN)
    const sums = {
      steps_sum: total.steps,
      distance_walking_running_sum: total.distance,
      floors_climbed_sum: total.floors_climbed,
      wheelchair_push: total.wheelchair_push,
      active_energy_burned_sum: active !== undefined && Number.isFinite(active) ? active : undefined,
      basal_energy_burned_sum: total.calories_basal,
      exercise_time: Number.isFinite(exercise) && exercise >= 0 ? exercise : undefined,
    }
    const offset = this.#offsets.get(date)
    const day_summary = {
      calendar_date: date,
      ...Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== undefined)),
    }
    const record = toActivity({ day_summary }, { zone: offset === undefined ? null : zoneName(offset) })!
    const document = { ...record.document, heart_rate: this.#rates.summary(date), time_zone: null }
    return { kind: 'activity', record: { ...record, app_id: EXPORT_APP, document } }
  }
}
