// The two forms of timestamps that clients send most, read without regular expressions: most of a post of samples is such texts.
import { DAY_MS } from '../runtime/durations.ts'

const codeOf = (character: string): number => character.charCodeAt(0)
const ZERO = codeOf('0')
const DASH = codeOf('-')
const COLON = codeOf(':')
const DOT = codeOf('.')
const T = codeOf('T')
const Z = codeOf('Z')
/** Two digits as a number; not a number for anything else. */
function twoDigits(text: string, index: number): number {
  const tens = text.charCodeAt(index) - ZERO
  const ones = text.charCodeAt(index + 1) - ZERO
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN
}
/** In a year that is not a leap year: the last day of February is left to the calendar. */
const DAYS_OF_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
/** From 1 March of year 0. */
const DAYS_TO_1970 = 719_468
/** Lengths of `2026-01-31T09:30:00Z` and `2026-01-31T09:30:00.250Z`. */
const [WITHOUT_MS, WITH_MS] = [20, 24]

/** Whether a text is a day as `2026-01-31`, from year 1000 on; 29 February is left to the calendar. */
export function isUsualDate(text: string): boolean {
  if (text.length !== 10 || text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH) return false
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  return year >= 1000 && month >= 1 && month <= 12 && day >= 1 && day <= DAYS_OF_MONTH[month - 1]!
}

/**
 * The instant of `2026-01-31T09:30:00Z` and `2026-01-31T09:30:00.250Z` in milliseconds, from year 1000 on; undefined for every other text.
 */
export function usualInstant(text: string): number | undefined {
  const { length } = text
  if ((length !== WITHOUT_MS && length !== WITH_MS) || text.charCodeAt(length - 1) !== Z || text.charCodeAt(10) !== T)
    return undefined
  if (text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH) return undefined
  if (text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return undefined
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  if (!(year >= 1000 && month >= 1 && month <= 12 && day >= 1 && day <= DAYS_OF_MONTH[month - 1]!)) return undefined
  const hour = twoDigits(text, 11)
  const minute = twoDigits(text, 14)
  const second = twoDigits(text, 17)
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return undefined
  let ms = 0
  if (length === WITH_MS) {
    const last = text.charCodeAt(22) - ZERO
    if (text.charCodeAt(19) !== DOT || !(last >= 0 && last <= 9)) return undefined
    ms = twoDigits(text, 20) * 10 + last
    if (Number.isNaN(ms)) return undefined
  }
  return daysBefore(year, month, day) * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + ms
}

/** Days from 1970 on. The year begins in March, so that the last day of February ends it. */
function daysBefore(year: number, month: number, day: number): number {
  const from = month > 2 ? year : year - 1
  const ofYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  return from * 365 + Math.floor(from / 4) - Math.floor(from / 100) + Math.floor(from / 400) + ofYear - DAYS_TO_1970
}

/** The normalized form of such a text, with milliseconds; undefined for every other text. */
export function usualTimestamp(text: string): string | undefined {
  if (usualInstant(text) === undefined) return undefined
  return text.length === WITHOUT_MS ? `${text.slice(0, 19)}.000Z` : text
}
