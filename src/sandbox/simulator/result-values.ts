// Made-up values of analytes: plausible, never of anybody. Pure; the same chance gives the same values.
// Numbers are whole multiples of the last printed decimal throughout, so that nothing is rounded over a limit.
import { createHash } from 'node:crypto'
import type { AnalyteDefinition } from '../../lab/catalog/analytes.ts'
import type { Interpretation, ResultType } from '../../lab/links/diagnostic-report.ts'
import { constantText, commentText, textResult } from './result-words.ts'

/** A number from 0 up to 1. */
export type Random = () => number

/** Numbers that look random and are the same for the same text. */
export function seededRandom(text: string): Random {
  let state = createHash('sha256').update(text).digest().readUInt32LE(0)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Whole, both ends included; `low` when there is nothing between. */
const randomInt = (random: Random, low: number, high: number): number => low + Math.floor(random() * Math.max(1, high - low + 1))
const randomFraction = (random: Random, least: number, most: number): number => least + random() * (most - least)

/** Where normal and where critical begins; at least one of `low` and `high` is there. */
interface Limits {
  low: number | null
  high: number | null
  critical_low: number | null
  critical_high: number | null
  /** Beyond it no value makes sense. */
  top: number
  /** How far normal reaches. */
  span: number
  decimals: number
}

/** For what has no limits in the catalog. */
const FALLBACK_HIGH = 1

/** The limits for a patient: those of the gender where they differ, and what is normal for either where it is neither. */
function limitsOf(definition: AnalyteDefinition | null, gender: string): Limits {
  const decimals = definition?.decimals ?? 1
  const steps = (value: number | null | undefined) => (value == null ? null : Math.round(value * 10 ** decimals))
  const d = definition
  const female = { low: steps(d?.low_female ?? d?.low), high: steps(d?.high_female ?? d?.high) }
  const male = { low: steps(d?.low_male ?? d?.low), high: steps(d?.high_male ?? d?.high) }
  const known = [female, male].filter((limits) => limits.low !== null || limits.high !== null)
  const made = { low: null, high: FALLBACK_HIGH * 10 ** decimals }
  const [first = made, second = first] = known
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

/** Away from the ends where there is room. */
function normal(random: Random, { low, high, span }: Limits): number {
  if (low === null) return randomInt(random, Math.ceil(high! * 0.5), high!)
  if (high === null) return randomInt(random, low, low + Math.floor(low * 0.6))
  const margin = Math.floor(span * 0.1)
  return randomInt(random, low + margin, high - margin)
}

export type RangeSide = 'high' | 'low'

/** Few steps below a low limit leave no room for a value. */
const LOW_ROOM = 3

function sideOf(random: Random, limits: Limits, critical: boolean): RangeSide {
  const high = limits.high !== null && limits.high < limits.top
  const low = limits.low !== null && limits.low >= LOW_ROOM
  if (critical && high && limits.critical_high !== null && limits.critical_low === null) return 'high'
  if (critical && low && limits.critical_low !== null && limits.critical_high === null) return 'low'
  if (high && low) return random() < 0.7 ? 'high' : 'low'
  return high ? 'high' : 'low'
}

/** Out of range, and not critical where the analyte has critical limits. */
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

/** Beyond the critical limit; where there is none, far out of range. */
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

/** A result of an analyte. `kind` is what it has to mean; without a definition nothing is known of the analyte. */
export function makeResult(
  { slug, definition }: { slug: string; definition: AnalyteDefinition | null },
  type: ResultType,
  kind: Interpretation,
  gender: string,
  random: Random,
): GeneratedResult {
  if (type === 'coded_value') return { result: constantText(kind), unit: null, reference_range: null, flag: wordFlags[kind] }
  if (type === 'comment' && isTextual(definition))
    return {
      result: textResult(slug, definition, kind, random),
      unit: definition?.unit ?? null,
      reference_range: definition?.range_text ?? null,
      flag: wordFlags[kind],
    }
  const limits = limitsOf(definition, gender)
  const side = kind === 'abnormal' || kind === 'critical' ? sideOf(random, limits, kind === 'critical') : undefined
  const flag = side === undefined ? wordFlags[kind] : numberFlags[kind === 'critical' ? 'critical' : 'abnormal'][side]
  const reference_range = rangeText(limits)
  if (type === 'comment') return { result: commentText(kind, side), unit: null, reference_range, flag }
  const value = side === undefined ? normal(random, limits) : (kind === 'critical' ? critical : abnormal)(random, limits, side)
  const result = type === 'numeric' ? formatSteps(value, limits.decimals) : comparison(random, limits, value, side)
  return { result, unit: definition?.unit ?? null, reference_range, flag }
}

/** Normal for it is a word, or nothing. */
export const isTextual = (definition: AnalyteDefinition | null): boolean => definition === null || definition.type === 'comment'

const wordFlags = { normal: '', abnormal: 'A', critical: 'CRIT', unknown: 'IND' } satisfies Record<Interpretation, string>
const numberFlags = { abnormal: { high: 'H', low: 'L' }, critical: { high: 'HH', low: 'LL' } }

/** A value known only to lie on one side of a number, or between two; always conclusive against the reference range. */
function comparison(random: Random, { low, high, span, decimals }: Limits, value: number, side: RangeSide | undefined): string {
  const text = (steps: number) => formatSteps(steps, decimals)
  if (side === 'high') return `>${text(value)}`
  if (side === 'low') return `<${text(Math.max(1, value))}`
  if (low === null) return `<${text(randomInt(random, Math.max(1, Math.ceil(high! * 0.2)), high!))}`
  if (high === null) return `>${text(randomInt(random, low, Math.floor(low * 1.3)))}`
  const from = Math.min(value, high - 1)
  return `${text(from)}-${text(Math.min(high, from + Math.max(1, Math.round(span * 0.1))))}`
}
