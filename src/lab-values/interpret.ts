// What a laboratory's result means in view of its reference range and flag. Pure. The same texts mean the same wherever they come from: the
// report of a link, a manually entered result or an uploaded document. Source: lab-testing.md 13.4, 25.3; docs/decisions/results.md.
import { measurementOf, withoutAnnotations } from './measurement.ts'
import { rangeFor, type Patient, type Range } from './ranges.ts'
import { readUnit } from './ucum-units.ts'
import { unitBehind } from './units.ts'
import { flagOf, type Flag, type Interval } from './values.ts'
import { isExpectedWord, isNothing } from './words.ts'

export type Interpretation = 'normal' | 'abnormal' | 'critical' | 'unknown'

/** What the laboratory says itself by its flag; `not understood`: it sent one whose meaning is not known. */
export type Statement = 'normal' | 'abnormal' | 'critical' | 'not understood' | null

/** Null: not certain. */
interface Sides {
  isAbove: boolean | null
  isBelow: boolean | null
}

export interface Judgment extends Sides {
  interpretation: Interpretation
}

/** Longer texts are prose. */
const TEXT_MAX = 400

/**
 * Interprets a result. What the laboratory states decides. Without a statement, outside of the range is abnormal, inside of it normal, and
 * what cannot be compared `unknown`. After a flag that is not understood nothing is normal.
 */
export function interpret(value: string, range: Range | undefined, statement: Statement): Judgment {
  const sides = compareSides(value, range)
  if (statement !== null && statement !== 'not understood') return { ...sides, interpretation: statement }
  const isOutside = sides.isAbove || sides.isBelow || comparedOtherwise(value, range) === false
  if (isOutside) return { ...sides, interpretation: 'abnormal' }
  const isInside = (sides.isAbove === false && sides.isBelow === false) || comparedOtherwise(value, range) === true
  return { ...sides, interpretation: isInside && statement === null ? 'normal' : 'unknown' }
}

/** The range of a result with its value, as they are compared. */
export interface Comparable {
  value: string
  range: Range | undefined
}

/**
 * Reads the range that holds for a patient, with the decimal signs that value and range have in common. A unit that ends value or range is
 * dropped; `unit` is that of the result, and `name` the test. No range: the decimal signs or the units of value and range contradict each
 * other.
 */
export function comparable(
  value: string,
  lines: readonly string[],
  patient: Patient,
  { unit, name }: { unit: string | null; name: string },
): Comparable {
  const bare = lines.map((line) => withoutUnit(line, unit))
  const signs = signsOf([value, ...bare])
  if (signs === 'contradictory' || hasOtherUnit(lines, unit)) return { value, range: undefined }
  const plain = (text: string) => (signs === 'comma' ? withPoints(text) : text)
  const text = bare.join(' ').trim()
  const range = text ? (rangeFor(bare.map(plain), patient, name) ?? { min: null, max: null, text, word: null }) : undefined
  return { value: plain(value), range }
}

const withoutUnit = (text: string, unit: string | null): string =>
  unit && text.endsWith(unit) && (unit.startsWith('/') || /[\d.\s]$/u.test(text.slice(0, -unit.length)))
    ? text.slice(0, -unit.length).trim()
    : text

/** Whether a range is of another unit than the result. Spellings that are not known decide nothing. */
function hasOtherUnit(lines: readonly string[], unit: string | null): boolean {
  const own = readUnit(unit).map(({ canonical }) => withoutAnnotations(canonical))
  if (own.length === 0) return false
  return lines.some((line) => {
    // `<130 (calc)` states no unit.
    const others = line.length <= TEXT_MAX ? readUnit(unitBehind(line.replace(/\s?\(calc(?:ulated)?\)$/iu, ''))) : []
    return others.length > 0 && !others.some(({ canonical }) => own.includes(withoutAnnotations(canonical)))
  })
}

const DECIMAL_COMMA = /(?<![\d.,])(?:\d+,(?:\d{1,2}|\d{4,})|0,\d+|\d{1,3}(?:\.\d{3})+,\d+)(?![\d.,])/u
const DECIMAL_POINT = /(?<![\d.,])(?:\d*\.(?:\d{1,2}|\d{4,})|0\.\d+|\d{1,3}(?:,\d{3})+\.\d+)(?![\d.,])/u
/** Thousands or decimals. */
const [EITHER_COMMA, EITHER_POINT] = [/(?<![\d.,])[1-9]\d{0,2},\d{3}(?![\d.,])/u, /(?<![\d.,])[1-9]\d{0,2}\.\d{3}(?![\d.,])/u]

/**
 * Which sign parts the decimals of texts that are compared with each other. `1,234` alone has thousands and `1.234` decimals; next to `0,5`
 * it is the other way round. Contradictory: both readings are possible.
 */
function signsOf(texts: readonly string[]): 'comma' | 'point' | 'contradictory' {
  const some = (pattern: RegExp) => texts.some((text) => text.length <= TEXT_MAX && pattern.test(text))
  const [comma, point, eitherComma, eitherPoint] = [DECIMAL_COMMA, DECIMAL_POINT, EITHER_COMMA, EITHER_POINT].map(some)
  if (comma) return point && (eitherComma || eitherPoint) ? 'contradictory' : 'comma'
  return !point && eitherComma && eitherPoint ? 'contradictory' : 'point'
}

const withPoints = (text: string): string =>
  text
    .replaceAll(/(?<![\d.,])\d{1,3}(?:\.\d{3})+(?!\d|\.\d)/gu, (digits) => digits.replaceAll('.', ''))
    .replaceAll(/(?<=\d),(?=\d)/gu, '.')

/** How the values that a result allows lie to a range. A conditional range tells nothing. */
function compareSides(value: string, range: Range | undefined): Sides {
  const quantity = range && !range.isConditional && (range.min !== null || range.max !== null) && measurementOf(value)
  return quantity ? sidesBetween(quantity, range) : { isAbove: null, isBelow: null }
}

function sidesBetween(values: Interval, range: Interval): Sides {
  // Nothing that is measured is below 0, except what has a range that begins below 0.
  const isSigned = range.min !== null && range.min < 0
  const least = values.min === null && !isSigned && (values.max ?? -1) >= 0 ? 0 : values.min
  const from = { ...values, min: least, isMinOpen: values.min === null ? false : values.isMinOpen === true }
  return { isAbove: isAbove(from, range), isBelow: isAbove(mirror(from), mirror(range)) }
}

/** Whether all values are above a range, or none of them. Null: some are. */
function isAbove(values: Interval, { max, isMaxOpen = false }: Interval): boolean | null {
  if (max === null) return false
  const { min: least, max: most } = values
  if (least !== null && (least > max || (least === max && (isMaxOpen || values.isMinOpen === true)))) return true
  if (most !== null && (most < max || (most === max && (!isMaxOpen || values.isMaxOpen === true)))) return false
  return null
}

const negative = (value: number | null): number | null => (value === null ? null : -value)
const mirror = ({ min, max, isMinOpen = false, isMaxOpen = false }: Interval): Interval => ({
  min: negative(max),
  max: negative(min),
  isMinOpen: isMaxOpen,
  isMaxOpen: isMinOpen,
})

/** Whether a word or a titer is what the range expects; undefined where neither can be compared. */
function comparedOtherwise(value: string, range: Range | undefined): boolean | undefined {
  if (!range || range.isConditional) return undefined
  if (range.word !== null) return isExpectedWord(value, range.word)
  const [titer, expected] = [titerOf(value), titerOf(range.text)]
  // `Negative` where a result up to a bound is expected: `<1.00`, `0 - 5`, `<1:80`.
  const { min, max } = expected ?? range
  if (max !== null && (min === null || min === 0) && isNothing(value)) return true
  if (!titer || !expected || expected.min === expected.max) return undefined
  const { isAbove: above, isBelow: below } = sidesBetween(titer, expected)
  return above || below ? false : above === false && below === false ? true : undefined
}

/** `1:80`, `<1:40`, `Negative: <1:40`, as its denominator. */
function titerOf(text: string): Interval | undefined {
  const [, sign = '', denominator, suffix = ''] =
    /^(?:neg(?:ative)?\s?:?\s)?\(?([<>≤≥]\s?=?|up to|less than)?\s?1\s?:\s?(\d{1,7})\)?(\s(?:or|and) (?:less|lower|below))?$/iu.exec(
      text.trim(),
    ) ?? []
  return denominator === undefined ? undefined : measurementOf(`${sign.trim()} ${denominator}${suffix}`.trim())
}

/** Codes of messages that printed reports do not have next to a result. `AA` is only abnormal. Source: lab-testing.md 13.4. */
const CODES: Record<string, Statement> = { neg: 'normal', pos: 'abnormal', aa: 'abnormal' }

/** What the flag of a message says. A mark alone, such as `*`, has no meaning that the message names. `''`: none. */
export function statementOfCode(code: string): Statement {
  const sent = code.trim().toLowerCase()
  if (sent === '') return null
  if (Object.hasOwn(CODES, sent)) return CODES[sent]!
  const flag = flagOf(sent)
  return flag === undefined || flag === 'marked' || flag === 'noted' ? 'not understood' : statementOfFlag(flag)
}

/** What a printed flag says: a star next to a result marks it as abnormal, `†` refers to a note. */
export function statementOfFlag(flag: Flag | null): Statement {
  if (flag === null || flag === 'noted') return null
  if (flag === 'critical' || flag === 'critical_high' || flag === 'critical_low') return 'critical'
  return flag === 'normal' ? 'normal' : 'abnormal'
}

const bySeverity: Interpretation[] = ['normal', 'unknown', 'abnormal', 'critical']

/** The overall interpretation: the most severe one of the parts, `unknown` without parts. */
export const mostSevere = (parts: Interpretation[]): Interpretation =>
  parts.length === 0 ? 'unknown' : bySeverity[Math.max(...parts.map((part) => bySeverity.indexOf(part)))]!
