// Generates plausible fictional values of analytes. Pure; the same random source gives the same values.
// Numbers are integer multiples of the last printed decimal, so that rounding never crosses a limit.
import { createHash } from 'node:crypto'
import type { AnalyteDefinition } from '../../lab/catalog/analytes.ts'
import type { ResultType } from '../../lab/links/diagnostic-report.ts'
import type { Interpretation } from '../../lab-values/interpret.ts'
import { constantText, commentText, textResult } from './generated-texts.ts'

/** A number from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number

/** Returns a pseudo-random source that is repeatable for the same text. */
export function seededRandom(text: string): Random {
  let state = createHash('sha256').update(text).digest().readUInt32LE(0)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns an integer, both ends included; `low` if the range is empty. */
const randomInt = (random: Random, low: number, high: number): number => low + Math.floor(random() * Math.max(1, high - low + 1))
const randomFraction = (random: Random, min: number, max: number): number => min + random() * (max - min)

/** Where the normal and the critical range begin; at least one of `low` and `high` is set. */
interface Limits {
  low: number | null
  high: number | null
  critical_low: number | null
  critical_high: number | null
  /** The highest plausible value. */
  top: number
  /** Width of the normal range. */
  span: number
  decimals: number
}

/** For analytes without limits in the catalog. */
const FALLBACK_HIGH = 1

/** Returns the limits for a patient: those of the gender if they differ, and the values that are normal for both otherwise. */
function limitsForGender(definition: AnalyteDefinition | null, gender: string): Limits {
  const decimals = definition?.decimals ?? 1
  const steps = (value: number | null | undefined) => (value == null ? null : Math.round(value * 10 ** decimals))
  const d = definition
  const female = { low: steps(d?.low_female ?? d?.low), high: steps(d?.high_female ?? d?.high) }
  const male = { low: steps(d?.low_male ?? d?.low), high: steps(d?.high_male ?? d?.high) }
  const known = [female, male].filter((limits) => limits.low !== null || limits.high !== null)
  const fallbackRange = { low: null, high: FALLBACK_HIGH * 10 ** decimals }
  const [first = fallbackRange, second = first] = known
  const own = gender === 'female' ? first : gender === 'male' ? second : widestRange(first, second)
  const { low, high } = own
  const percent = definition?.unit === '%' && (high ?? 0) < 100 * 10 ** decimals
  return {
    low,
    high,
    critical_low: steps(d?.critical_low),
    critical_high: steps(d?.critical_high),
    top: percent ? 100 * 10 ** decimals : Infinity,
    span: Math.max(1, (high ?? low!) - (high === null ? 0 : (low ?? 0))),
    decimals,
  }
}

type RangeEnds = Pick<Limits, 'low' | 'high'>
const widestRange = (a: RangeEnds, b: RangeEnds): RangeEnds => ({
  low: a.low === null || b.low === null ? null : Math.min(a.low, b.low),
  high: a.high === null || b.high === null ? null : Math.max(a.high, b.high),
})

const formatSteps = (steps: number, decimals: number): string => (steps / 10 ** decimals).toFixed(decimals)

function rangeText({ low, high, decimals }: Limits): string {
  if (low === null) return `<=${formatSteps(high!, decimals)}`
  return high === null ? `>=${formatSteps(low, decimals)}` : `${formatSteps(low, decimals)}-${formatSteps(high, decimals)}`
}

/** Avoids the ends of the range if it is wide enough. */
function normal(random: Random, { low, high, span }: Limits): number {
  if (low === null) return randomInt(random, Math.ceil(high! * 0.5), high!)
  if (high === null) return randomInt(random, low, low + Math.floor(low * 0.6))
  const margin = Math.floor(span * 0.1)
  return randomInt(random, low + margin, high - margin)
}

type RangeSide = 'high' | 'low'

/** Number of steps below a low limit that leave no value to choose. */
const LOW_ROOM = 3

function chooseSide(random: Random, limits: Limits, critical: boolean): RangeSide {
  const high = limits.high !== null && limits.high < limits.top
  const low = limits.low !== null && limits.low >= LOW_ROOM
  if (critical && high && limits.critical_high !== null && limits.critical_low === null) return 'high'
  if (critical && low && limits.critical_low !== null && limits.critical_high === null) return 'low'
  if (high && low) return random() < 0.7 ? 'high' : 'low'
  return high ? 'high' : 'low'
}

/** Out of range, and not critical if the analyte has critical limits. */
function abnormal(random: Random, limits: Limits, side: RangeSide): number {
  const { critical_low, critical_high, span, top } = limits
  if (side === 'high') {
    const high = limits.high!
    const most = Math.min(top, critical_high === null ? Infinity : critical_high - 1)
    return Math.min(Math.max(high + 1, most), high + Math.max(1, Math.round(span * randomFraction(random, 0.1, 0.6))))
  }
  const low = limits.low!
  const least = critical_low === null ? 1 : critical_low + 1
  return Math.max(Math.min(low - 1, least), low - Math.max(1, Math.round(Math.min(span, low) * randomFraction(random, 0.1, 0.5))))
}

/** Beyond the critical limit; far out of range if there is none. */
function critical(random: Random, limits: Limits, side: RangeSide): number {
  const { critical_low, critical_high, span, top } = limits
  if (side === 'high') {
    const value =
      critical_high === null
        ? limits.high! + Math.max(1, Math.round(span * randomFraction(random, 1, 2)))
        : critical_high + Math.max(1, Math.round(span * randomFraction(random, 0.05, 0.3)))
    return Math.min(top, value)
  }
  const { low } = limits
  if (critical_low === null)
    return Math.max(1, low! - Math.max(1, Math.round(Math.min(span, low!) * randomFraction(random, 0.7, 0.9))))
  return Math.max(
    0,
    critical_low - Math.max(1, Math.round(Math.min(span, critical_low * 0.8) * randomFraction(random, 0.1, 0.5))),
  )
}

export interface GeneratedResult {
  result: string
  unit: string | null
  reference_range: string | null
  flag: string
}

/** Generates a result of an analyte with the interpretation `kind`; without a definition the analyte is unknown. */
export function makeResult(
  { slug, definition }: { slug: string; definition: AnalyteDefinition | null },
  type: ResultType,
  kind: Interpretation,
  gender: string,
  random: Random,
): GeneratedResult {
  if (type === 'coded_value') return { result: constantText(kind), unit: null, reference_range: null, flag: textFlags[kind] }
  if (type === 'comment' && isTextual(definition))
    return {
      result: textResult(slug, definition, kind, random),
      unit: definition?.unit ?? null,
      reference_range: definition?.range_text ?? null,
      flag: textFlags[kind],
    }
  const limits = limitsForGender(definition, gender)
  const side = kind === 'abnormal' || kind === 'critical' ? chooseSide(random, limits, kind === 'critical') : undefined
  const flag = side === undefined ? wordFlags[kind] : numberFlags[kind === 'critical' ? 'critical' : 'abnormal'][side]
  const reference_range = rangeText(limits)
  if (type === 'comment') return { result: commentText(kind, side), unit: null, reference_range, flag: flag || textFlags[kind] }
  const value = side === undefined ? normal(random, limits) : (kind === 'critical' ? critical : abnormal)(random, limits, side)
  const result = type === 'numeric' ? formatSteps(value, limits.decimals) : comparison(random, limits, value, side)
  return { result, unit: definition?.unit ?? null, reference_range, flag }
}

/** The result of a number that was computed, with its interpretation. */
export function resultOfNumber(
  definition: AnalyteDefinition,
  value: number,
  gender: string,
): GeneratedResult & { kind: Interpretation } {
  const limits = limitsForGender(definition, gender)
  const { low, high, critical_low, critical_high, decimals } = limits
  const steps = Math.round(value * 10 ** decimals)
  const side: RangeSide | undefined = high !== null && steps > high ? 'high' : low !== null && steps < low ? 'low' : undefined
  const beyond = (critical_high !== null && steps > critical_high) || (critical_low !== null && steps < critical_low)
  const kind = side === undefined ? 'normal' : beyond ? 'critical' : 'abnormal'
  return {
    result: formatSteps(steps, decimals),
    unit: definition.unit,
    reference_range: rangeText(limits),
    flag: kind === 'normal' ? '' : numberFlags[kind][side!],
    kind,
  }
}

/** Whether the normal result is text, or undefined. */
export const isTextual = (definition: AnalyteDefinition | null): boolean => definition === null || definition.type === 'comment'

const wordFlags = { normal: '', abnormal: 'A', critical: 'CRIT', unknown: 'IND' } satisfies Record<Interpretation, string>
/** No range tells that a text is normal, so that the laboratory has to say it. */
const textFlags = { ...wordFlags, normal: 'N' }
const numberFlags = { abnormal: { high: 'H', low: 'L' }, critical: { high: 'HH', low: 'LL' } }

/** A value known only as above or below a number, or between two; always conclusive against the reference range. */
function comparison(random: Random, { low, high, span, decimals }: Limits, value: number, side: RangeSide | undefined): string {
  const text = (steps: number) => formatSteps(steps, decimals)
  if (side === 'high') return `>${text(value)}`
  if (side === 'low') return `<${text(Math.max(1, value))}`
  if (low === null) return `<${text(randomInt(random, Math.max(1, Math.ceil(high! * 0.2)), high!))}`
  if (high === null) return `>${text(randomInt(random, low, Math.floor(low * 1.3)))}`
  const from = Math.min(value, high - 1)
  return `${text(from)}-${text(Math.min(high, from + Math.max(1, Math.round(span * 0.1))))}`
}
