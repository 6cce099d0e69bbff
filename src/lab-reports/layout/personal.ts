// Sex, age and numbers of specimens, as texts beside their labels say them.
import { daysOf, statedAge, type StatedAge } from '../../lab-values/ages.ts'
import { dateIn } from './dates.ts'
import { isUnit } from '../../lab-values/units.ts'
import { intervalOf } from '../../lab-values/values.ts'

export type Sex = 'male' | 'female'

export function sexOf(value: string): Sex | undefined {
  if (/\b(?:female|weiblich|vrouw|femme|mujer|femenino|feminino)\b|(?:^|[\s/(,])[fw](?:$|[\s/),.])/iu.test(value)) return 'female'
  return /\b(?:male|männlich|man|homme|hombre|masculino)\b|(?:^|[\s/(,])m(?:$|[\s/),.])/iu.test(value) ? 'male' : undefined
}

/** `34 Y / F`, `F 34y`, `(F, 45)`. */
const WITH_AGE = [
  /\b\d{1,3}\s*(?:y|yr|yrs|year|years|y\.?\s?o)\.?(?:\(s\))?(?:\s*old)?\s*[/,|-]?\s*(male|female|m|f)\b/iu,
  /(?:^|[\s(,/|])(male|female|m|f)\s*[/,|-]?\s*\d{1,3}\s*(?:y|yr|yrs|year|years)\b/iu,
]
const ALONE = /^(male|female)$/iu
/** Behind a date of birth, or at the end of a line of personal data. */
const BEHIND = /(?:\b(?:dob|birth|born)\b.*\d\W+|\d\s{1,})(male|female)$/iu
const IN_BRACKETS = /[([,/]\s*(male|female|m|f)\s*(?:[)\]/,]|$)/iu

/** The sex in a text without a label. */
export function sexWithin(text: string): Sex | undefined {
  const patterns = [...WITH_AGE, ALONE, BEHIND, IN_BRACKETS]
  const match = patterns.map((pattern) => pattern.exec(text.trim())).find((item) => item !== null)
  return match ? (match[1]!.toLowerCase().startsWith('f') ? 'female' : 'male') : undefined
}

/** The sex that a title before a name says. */
export function sexOfTitle(name: string): Sex | undefined {
  if (/^(?:mrs|ms|miss|smt|kumari|mme|frau)\b/iu.test(name)) return 'female'
  return /^(?:mr|mstr|master|shri|sri|sir|herr)\b/iu.test(name) ? 'male' : undefined
}

/** Whether a text states sex and age together. */
export const saysSexAndAge = (text: string): boolean => WITH_AGE.some((pattern) => pattern.test(text))

/** The age of a patient. A number without a unit is years, unless it is part of a date. */
export function ageOf(value: string): StatedAge | undefined {
  const statedYears = statedAge(value)
  if (statedYears !== undefined) return statedYears
  const match = /(?:^|[\s(/,])(\d{1,3})\b(?![-/.]\d)(?!\s*(?:m(?:o|th)|w(?:ee)?k|d(?:ay|\b)))/iu.exec(value)
  const years = match ? Number(match[1]) : NaN
  return years <= 120 && !dateIn(value) ? { days: daysOf(years, 'years'), unit: 'years' } : undefined
}

/** `13.8-17.2`, `150,000–400,000`: as ranges are printed, and no numbers of specimens. */
const RANGE = /^[\d.,]+\s?[-–—]\s?[\d.,]+/u

export function specimenOf(value: string): string | undefined {
  const [range] = RANGE.exec(value) ?? []
  if (range && intervalOf(range)) {
    const [textBehind = ''] = value.slice(range.length).split(/[)\]]/u)
    if (/[.,–—]/u.test(range) || isUnit(textBehind)) return undefined
  }
  const match = /^[:#\s]*([A-Z0-9](?:[A-Z0-9\-/._]|[:,](?=[A-Z0-9])){2,29})(?=$|\s|,|;)/iu.exec(value)
  return match && /\d/u.test(match[1]!) && !dateIn(match[1]!) ? match[1] : undefined
}
