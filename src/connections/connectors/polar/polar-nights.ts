// Nights of Polar AccessLink, Dynamic API v4, with their stages, and what Nightly Recharge has measured in them.
import {
  day,
  readInstant,
  instantOfText,
  readList,
  localTime,
  readNumber,
  objectOrEmpty,
  ownValue,
  rawValues,
  secondsOf,
  readText,
  readInteger,
  type Values,
} from '../reading.ts'
import { secondsByStage as stageSeconds, type Night, type SampleBatches, type Stage, type StageType } from '../vendor-records.ts'
import { DAY_MS } from '../../../platform/runtime/durations.ts'
import { listRecords, offsetIn } from './polar-records.ts'

const source_type = 'watch'
/** Changes of stages, and values of one series, in a night. */
const ENTRIES_MAX = 10_000

const states: Readonly<Record<string, StageType>> = {
  SLEEP_STATE_WAKE: 4,
  SLEEP_STATE_NON_REM1: 2,
  SLEEP_STATE_NON_REM2: 2,
  SLEEP_STATE_NON_REM3: 1,
  SLEEP_STATE_REM: 3,
}

export interface PolarNight extends Night {
  stages: Stage[]
  /** What Nightly Recharge says of it; empty if that is not known. */
  recovery: Values
}

const perMinute = (interval_ms: unknown): number | null => {
  const ms = readNumber(interval_ms)
  return ms === null || ms <= 0 ? null : 60_000 / ms
}

/** Each change begins a stage, which lasts until the next one or the end of the night. */
function stagesIn(changes: unknown, start_ms: number, end_ms: number): Stage[] {
  const begun = readList(changes)
    .slice(0, ENTRIES_MAX)
    .flatMap(({ offsetFromStart, newState }) => {
      const after_s = secondsOf(offsetFromStart)
      const at_ms = after_s === null ? end_ms : start_ms + Math.round(after_s) * 1000
      return at_ms < end_ms ? [{ type: ownValue(states, readText(newState) ?? '') ?? (-1 as const), at_ms }] : []
    })
    .toSorted((a, b) => a.at_ms - b.at_ms)
  const stages: Stage[] = []
  for (const [i, { type, at_ms }] of begun.entries()) {
    const until_ms = begun[i + 1]?.at_ms ?? end_ms
    const last = stages.at(-1)
    if (until_ms === at_ms) continue
    if (last?.type === type) last.end_ms = until_ms
    else stages.push({ type, start_ms: at_ms, end_ms: until_ms })
  }
  return stages
}

/** Nights, with what is known of their recovery. Polar knows a night by its date. */
export function nightsIn(sleeps: Values, recoveries: Values): PolarNight[] {
  const recovered = new Map(
    listRecords(recoveries, 'nightlyRechargeResults').map(
      (recovery) => [readText(recovery.sleepResultDate) ?? '', recovery] as const,
    ),
  )
  return listRecords(sleeps, 'nightSleeps').flatMap((night): PolarNight[] => {
    const date = day(night.sleepDate)
    const result = objectOrEmpty(night.sleepResult)
    const { sleepStart, sleepEnd, sleepStateChanges, ...hypnogram } = objectOrEmpty(result.hypnogram)
    const [start_ms, end_ms] = [instantOfText(sleepStart), instantOfText(sleepEnd)]
    if (date === null || start_ms === null || end_ms === null || end_ms <= start_ms) return []
    const stages = stagesIn(sleepStateChanges, start_ms, end_ms)
    const { phaseDurations } = objectOrEmpty(night.sleepEvaluation)
    const phases = objectOrEmpty(phaseDurations)
    const seconds = (name: string) => Math.round(secondsOf(phases[name]) ?? 0)
    const recovery = recovered.get(date) ?? {}
    return [
      {
        key: date,
        source_type,
        raw: rawValues({ ...night, sleepResult: { ...result, hypnogram: { sleepStart, sleepEnd, ...hypnogram } } }),
        start_ms,
        end_ms,
        zone: null,
        offset_s: offsetIn(sleepEnd),
        seconds: phaseDurations
          ? { awake: seconds('wake'), light: seconds('light'), rem: seconds('rem'), deep: seconds('deep') }
          : stageSeconds(stages, { start_ms, end_ms }),
        extraFields: {
          score: readInteger(objectOrEmpty(night.sleepScore).sleepScore),
          average_hrv: readNumber(recovery.meanNightlyRecoveryRmssd),
          respiratory_rate: perMinute(recovery.meanNightlyRecoveryRespirationInterval),
        },
        stages,
        recovery,
      },
    ]
  })
}

/** What Nightly Recharge has measured every few minutes of a night. Times without an offset have that of the night. */
export function addRecovery(batches: SampleBatches, { recovery, start_ms, end_ms, offset_s }: PolarNight): void {
  const add = (resource: 'hrv' | 'respiratory_rate', groups: unknown, name: string) => {
    for (const { startTime, sampleInterval, [name]: values } of readList(groups)) {
      const local_ms = localTime(startTime)
      const from_ms = local_ms === null ? instantOfText(startTime) : local_ms - (offset_s ?? 0) * 1000
      const every_s = secondsOf(sampleInterval)
      if (from_ms === null || every_s === null || every_s < 1 || every_s * 1000 > DAY_MS || !Array.isArray(values)) continue
      for (const [i, sample] of values.slice(0, ENTRIES_MAX).entries()) {
        const [at_ms, value] = [readInstant(from_ms + i * every_s * 1000), readNumber(sample)]
        if (at_ms === null || at_ms < start_ms || at_ms > end_ms || value === null || value <= 0) continue
        batches.add(resource, { at_ms, value, offset_s, source_type })
      }
    }
  }
  add('hrv', recovery.hrvSamples, 'hrvValues')
  add('respiratory_rate', recovery.breathingRateSamples, 'breathingRateValues')
}
