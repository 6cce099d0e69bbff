// Nights from the intervals of an Apple Health export, which overlap between phone and watch.
import { createHash } from 'node:crypto'
import { toSleepCycle, toSleep } from '../../mobile-sdk/summaries.ts'
import type { SentSleep, StageName } from '../../mobile-sdk/summary-schema.ts'
import { type ReadSummary, overlaps, type Span } from '../reading.ts'
import type { SleepValue } from './apple-types.ts'
import { sourceKey, zoneName, type AppleSource } from './apple-values.ts'

const INTERVALS_MAX = 500_000
/** Intervals of a source that are further apart belong to two nights. */
const GAP_MS = 2 * 3_600_000
const NIGHT_MS_MAX = 36 * 3_600_000
/** A night has about 30. */
const STAGES_MAX = 1500

interface Interval {
  start_ms: number
  end_ms: number
  zone_s: number
  value: SleepValue
}

interface Night {
  source: AppleSource
  intervals: Interval[]
  start_ms: number
  end_ms: number
  /** What its source knows: 0 stages, 1 that its owner slept, 2 only that he was in bed. */
  rank: 0 | 1 | 2
}

const stageNames: Partial<Record<SleepValue, StageName>> = {
  light: 'light_sleep_samples',
  deep: 'deep_sleep_samples',
  rem: 'rem_sleep_samples',
  awake: 'awake_sleep_samples',
  asleep: 'unspecified_sleep_samples',
}

/** What a key of a record of an export begins with: other keys are those of phones. */
const EXPORT_KEY = 'export:'
export const exportKey = (...parts: unknown[]): string =>
  EXPORT_KEY + createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 32)

export class AppleNights {
  readonly #of = new Map<string, { source: AppleSource; intervals: Interval[] }>()
  #size = 0

  /** @returns false if no more fit into memory */
  add(source: AppleSource, interval: Interval): boolean {
    if (this.#size === INTERVALS_MAX) return false
    this.#size++
    const key = sourceKey(source)
    const own = this.#of.get(key) ?? { source, intervals: [] }
    this.#of.set(key, own)
    own.intervals.push(interval)
    return true
  }

  /**
   * The nights of all sources. A source that knows stages needs no coarser intervals in addition; a night of a source that knows less than
   * another one at the same time is left out.
   * @param leftOut called for each
   */
  *nights(leftOut: () => void): Generator<ReadSummary<'sleep'>> {
    const all = [...this.#of.values()].flatMap(nightsOf)
    const spansOf = (rank_max: number): Span[] =>
      all.flatMap(({ rank, start_ms, end_ms }): Span[] => (rank <= rank_max ? [[start_ms, end_ms]] : []))
    const [staged, asleep] = [overlaps(spansOf(0)), overlaps(spansOf(1))]
    for (const night of all.sort((a, b) => a.start_ms - b.start_ms)) {
      const span: Span = [night.start_ms, night.end_ms]
      if ((night.rank === 1 && staged(span)) || (night.rank === 2 && asleep(span))) leftOut()
      else yield summaryOf(night)
    }
  }
}

function nightsOf({ source, intervals }: { source: AppleSource; intervals: Interval[] }): Night[] {
  const nights: Night[] = []
  let own: Interval[] = []
  let [start_ms, end_ms] = [0, -Infinity]
  const finish = () => {
    if (own.length) nights.push(buildNight(source, own))
  }
  for (const interval of intervals.sort((a, b) => a.start_ms - b.start_ms || a.end_ms - b.end_ms)) {
    const isNext = interval.start_ms > end_ms + GAP_MS || interval.end_ms - start_ms > NIGHT_MS_MAX || own.length === STAGES_MAX
    if (isNext) {
      finish()
      own = []
      ;[start_ms, end_ms] = [interval.start_ms, -Infinity]
    }
    own.push(interval)
    end_ms = Math.max(end_ms, interval.end_ms)
  }
  finish()
  return nights
}

function buildNight(source: AppleSource, allIntervals: Interval[]): Night {
  const isStaged = allIntervals.some(({ value }) => value === 'light' || value === 'deep' || value === 'rem')
  const isAsleep = allIntervals.some(({ value }) => value === 'asleep')
  const wanted = (value: SleepValue) => (isStaged ? value !== 'in_bed' && value !== 'asleep' : !isAsleep || value !== 'in_bed')
  const intervals = allIntervals.filter(({ value }) => wanted(value))
  return {
    source,
    intervals,
    start_ms: intervals[0]!.start_ms,
    end_ms: Math.max(...intervals.map(({ end_ms }) => end_ms)),
    rank: isStaged ? 0 : isAsleep ? 1 : 2,
  }
}

function summaryOf({ source, intervals, start_ms, end_ms }: Night): ReadSummary<'sleep'> {
  const iso = (ms: number) => new Date(ms).toISOString()
  const stages: NonNullable<SentSleep['sleep_stages']> = {}
  for (const { value, ...interval } of intervals) {
    const name = Object.hasOwn(stageNames, value) ? stageNames[value] : undefined
    if (!name) continue
    const times = { start_date: iso(interval.start_ms), end_date: iso(interval.end_ms) }
    ;(stages[name] ??= []).push({ value: 1, unit: '', ...times })
  }
  const sent: SentSleep = {
    // The end of the last night of an export moves when its owner sleeps on.
    id: exportKey('sleep', sourceKey(source), start_ms),
    start_date: iso(start_ms),
    end_date: iso(end_ms),
    sleep_stages: stages,
    ...(source.app_id !== null && { source_bundle: source.app_id }),
    source_type: source.source_type,
  }
  const context = { zone: zoneName(intervals.at(-1)!.zone_s) }
  const { device } = source
  const cycle = toSleepCycle(sent, '', context)
  const stages_of = cycle && { ...cycle, device, document: { ...cycle.document, time_zone: null } }
  return { kind: 'sleep', record: { ...toSleep(sent, context), device }, ...(stages_of && { stages: stages_of }) }
}
