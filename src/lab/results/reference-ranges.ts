// Reference ranges, flags and interpretations. Pure; does not know orders, reports or the database.
// Source: lab-testing.md 13.3, 13.4.
import type { Interpretation, ResultType } from '../links/diagnostic-report.ts'

export interface Bound {
  value: number
  inclusive: boolean
}
/** An interval of values; null for an open end. */
export interface Range {
  low: Bound | null
  high: Bound | null
}

/** Longer texts are prose, not ranges or numbers. */
const TEXT_MAX = 200

const NUMBER = String.raw`[+-]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)`
/**
 * Valid ends of a number. Other text may follow it, for example a unit, but nothing that changes the number: titers (`<1:40`), powers,
 * fractions, exponents, dates.
 */
const NUMBER_END = String.raw`(?![\d^⁄\p{No}]|[.,:/]\d|e[+-]?\d|\s*-\s*[+-]?\.?\d)`
const COMPARISON = new RegExp(String.raw`^([<>])\s*((?:OR\s*)?=)?\s*(${NUMBER})${NUMBER_END}`, 'iu')
const INTERVAL = new RegExp(String.raw`^(${NUMBER})\s*-\s*(${NUMBER})${NUMBER_END}`, 'iu')
const SINGLE_NUMBER = new RegExp(`^${NUMBER}$`, 'u')

const numberOf = (text: string): number => Number(text.replaceAll(',', ''))

/** Normalizes spelling variants of laboratories; undefined if the text is too long for a range. */
function normalizeText(text: string): string | undefined {
  if (text.length > TEXT_MAX) return undefined
  return text
    .trim()
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll('≤', '<=')
    .replaceAll('≥', '>=')
}

/**
 * Parses a reference range, or the result of type `range`: `<n`, `<=n`, `>n`, `>=n`, `a-b`, `< OR = n`, `> OR = n`, in any letter case,
 * with spaces, thousands commas, `≤ ≥` and signs. A hyphen range includes both ends. Undefined for any other text and for a range that ends
 * before it begins.
 */
export function parseRange(text: string | null): Range | undefined {
  const given = text === null ? undefined : normalizeText(text)
  if (given === undefined) return undefined
  const compared = COMPARISON.exec(given)
  if (compared) {
    const bound = { value: numberOf(compared[3]!), inclusive: compared[2] !== undefined }
    return compared[1] === '<' ? { low: null, high: bound } : { low: bound, high: null }
  }
  const between = INTERVAL.exec(given)
  if (!between) return undefined
  const [low, high] = [numberOf(between[1]!), numberOf(between[2]!)]
  return low > high ? undefined : { low: { value: low, inclusive: true }, high: { value: high, inclusive: true } }
}

/** Parses a decimal number that stands alone; undefined for any other text. */
export function parseNumber(text: string): number | undefined {
  const given = normalizeText(text)
  return given !== undefined && SINGLE_NUMBER.test(given) ? numberOf(given) : undefined
}

/** Null: uncertain. */
export interface RangeFlags {
  is_above_max_range: boolean | null
  is_below_min_range: boolean | null
}

/**
 * Compares a result with its reference range. A number is compared directly. A `range` result is above or below if every value it allows
 * is, and is not if no value is. On an open side of the reference range nothing is out of range.
 */
export function compareToRange(type: ResultType, result: string, reference: Range | undefined): RangeFlags {
  const values = reference && possibleValues(type, result)
  if (!reference || !values) return { is_above_max_range: null, is_below_min_range: null }
  return {
    is_above_max_range: isAbove(values, reference.high),
    is_below_min_range: isAbove(negated(values), negatedBound(reference.low)),
  }
}

/** The interval of values that a result allows. */
function possibleValues(type: ResultType, result: string): Range | undefined {
  if (type === 'range') return parseRange(result)
  const value = type === 'numeric' ? parseNumber(result) : undefined
  return value === undefined ? undefined : { low: { value, inclusive: true }, high: { value, inclusive: true } }
}

function isAbove({ low, high }: Range, max: Bound | null): boolean | null {
  if (!max) return false
  if (low && (low.value > max.value || (low.value === max.value && !(low.inclusive && max.inclusive)))) return true
  if (high && (high.value < max.value || (high.value === max.value && (max.inclusive || !high.inclusive)))) return false
  return null
}

const negatedBound = (bound: Bound | null): Bound | null => bound && { ...bound, value: -bound.value }
const negated = ({ low, high }: Range): Range => ({ low: negatedBound(high), high: negatedBound(low) })

const flagInterpretations: Record<string, Interpretation> = {
  N: 'normal',
  NORMAL: 'normal',
  NEG: 'normal',
  H: 'abnormal',
  L: 'abnormal',
  A: 'abnormal',
  AA: 'abnormal',
  POS: 'abnormal',
  HIGH: 'abnormal',
  LOW: 'abnormal',
  ABNORMAL: 'abnormal',
  HH: 'critical',
  LL: 'critical',
  C: 'critical',
  CRIT: 'critical',
  CRITICAL: 'critical',
  PANIC: 'critical',
}

/**
 * Interprets a result. A known flag of the laboratory decides. Without a flag, out of range is abnormal and any other result normal. With
 * an unknown flag, out of range is abnormal and any other result `unknown`.
 * Unsourced: NORMAL, NEG, HIGH, LOW, ABNORMAL, CRITICAL, and the treatment of unknown flags.
 */
export function interpret(flag: string, flags: RangeFlags): Interpretation {
  const sent = flag.trim().toUpperCase()
  if (Object.hasOwn(flagInterpretations, sent)) return flagInterpretations[sent]!
  if (flags.is_above_max_range || flags.is_below_min_range) return 'abnormal'
  return sent === '' ? 'normal' : 'unknown'
}

const bySeverity: Interpretation[] = ['normal', 'unknown', 'abnormal', 'critical']

/** The overall interpretation: the most severe one of the parts, `unknown` without parts. */
export const mostSevere = (parts: Interpretation[]): Interpretation =>
  parts.length === 0 ? 'unknown' : bySeverity[Math.max(...parts.map((part) => bySeverity.indexOf(part)))]!
