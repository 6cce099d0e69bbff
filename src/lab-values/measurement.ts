// The values that a result allows, with the unit that is in its text. Pure.
import { readUnit } from './ucum-units.ts'
import { isUnit } from './units.ts'
import { boundOf, intervalOf, numberOf, type Interval } from './values.ts'

/** A number is an interval of one value, `<50` is open. `unit`: as the text has it, if it does. */
export interface Measurement extends Interval {
  unit: string | null
}

/** Longer texts are prose. */
const TEXT_MAX = 400
/** The words of a unit with spaces, such as `mL/min/1.73 m2`. */
const UNIT_WORDS_MAX = 3

/** Reads `5.4`, `<0.2 mg/L`, `4-6 %` and `50 or more`; undefined for every other text. */
export function measurementOf(text: string): Measurement | undefined {
  if (text.length > TEXT_MAX) return undefined
  const { plain, unit } = partUnit(text.trim())
  const bare = plain.replace(/(?<=\d)\.$/u, '')
  const number = numberOf(bare)
  const interval = number === undefined ? (boundOf(bare) ?? intervalOf(bare)) : { min: number, max: number }
  return interval && { ...interval, unit }
}

function partUnit(text: string): { plain: string; unit: string | null } {
  const plain = text.replaceAll(/(?<=\d)\s?%/gu, '')
  if (plain !== text) return { plain, unit: '%' }
  const words = text.split(/[ \t]+/u)
  for (let count = Math.min(UNIT_WORDS_MAX, words.length - 1); count > 0; count--) {
    const unit = words.slice(-count).join(' ')
    if (isUnit(unit)) return { plain: words.slice(0, -count).join(' '), unit }
  }
  const [, number, unit] = /^(.*\d)([a-zA-Zµμ][\w/.µμ]*\/[\w/.µμ]+)$/u.exec(text) ?? []
  return number && isUnit(unit!) ? { plain: number, unit: unit! } : { plain: text, unit: null }
}

/**
 * The UCUM code of a unit in any usual spelling: `mIU/L` is `m[IU]/L`. A code with annotations stays as it is. Undefined where no code, or more
 * than one, is meant: `G/L` is grams or cells. Source: https://ucum.org/ucum.
 */
export function ucumCodeOf(unit: string): string | undefined {
  const [found, other] = readUnit(unit)
  // UCUM has no unit for logarithms of copies.
  if (!found || other || found.canonical.startsWith('log')) return undefined
  const text = unit.trim()
  if (withoutAnnotations(text) === withoutAnnotations(found.canonical) && /^[!-~]+$/u.test(text)) return text
  return /cr/iu.test(text) ? found.canonical : found.canonical.replace('{creat}', '')
}

/** A code without what UCUM has in braces, which changes no value. */
export const withoutAnnotations = (code: string): string => code.replaceAll(/\{[^{}]*\}/gu, '')
