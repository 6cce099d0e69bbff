// What texts say about the patient and the specimen: given and family name, sex, age, number of the specimen.
import { toDays, statedAge, type StatedAge } from '../../lab-values/ages.ts'
import { isUnit } from '../../lab-values/units.ts'
import { intervalOf } from '../../lab-values/values.ts'
import { dateIn } from './dates.ts'

export interface PatientName {
  patient_first_name: string | null
  patient_last_name: string | null
}

const TITLE = '(?:mr|mrs|ms|miss|mstr|master|baby|dr|prof|mx|smt|shri|sri|kumari|sir|mme|herr|frau)'
const TITLES = new RegExp(String.raw`^${TITLE}(?:\.\s*|\s+)`, 'iu')
const TITLES_BEHIND = new RegExp(String.raw`[\s,]+${TITLE}\.?$`, 'iu')

/** Words of reports, laboratories and addresses that are not names of people. */
const NO_PERSON =
  /\b(?:laborator\w*|labs?|hospital|clinic\w*|clinic|reports?|information|tests?|names?|results?|patients?|specimen|sample|panel|profile|summary|health\w*|medical|medicine|pathology|diagnostics?|cent(?:er|re)|university|infirmary|surgery|trust|department|page|date|birth|sex|gender|male|female|age|number|account|physician|doctor|provider|collected|received|reported|final|copy|platform|assessment|source|dataset|road|street|avenue|drive|terrace|suite|phone|address|status|unknown|confidential|blood|serum|plasma|urine|count|function|total|your|the|and|for|dear|family|med|practice|associates|physicians|care|reference)\b/iu

const NO_NAME = /\b(?:laborator\w*|hospital|clinic|report|information|test|name)\b/iu

export function isName(value: string): boolean {
  const name = plainName(value)
  return name.length > 2 && /^[\p{L}][\p{L}'’.,\- ]+$/u.test(name) && name.split(/[\s,]+/u).length <= 6 && !NO_NAME.test(name)
}

/** Whether a text that no label calls a name can be one. */
export const isNameAlone = (value: string): boolean => isName(value) && !NO_PERSON.test(value) && !isPhysician(value)

/** Without title, age, sex and identifiers behind it. */
const plainName = (value: string): string =>
  value
    .replace(/\s*\(.*$/u, '')
    .replace(/\s{2,}.*$/u, '')
    .replace(/\s*[/|]?\s*\b\d.*$/u, '')
    .replace(/[,;\s]+(?:dob|d\.o\.b\.?|born|date of birth|aged?|nhs(?: no)?|mrn|chi(?: no)?)\b.*$/iu, '')
    .replace(/[,\s]+(?:male|female|m|f)$/iu, '')
    .replace(TITLES, '')
    .replace(TITLES_BEHIND, '')
    .replace(/[\s,;:-]+$/u, '')
    .trim()

/** Whether a text begins with a title of physicians. */
export const isPhysician = (value: string): boolean =>
  /^\s*(?:dr|prof|drs)\b/iu.test(value) || /\b(?:m\.?d|ph\.?d|d\.?o|mbbs)\.?$/iu.test(value.trim())

const SUFFIXES = /[,\s]+(?:jr|sr|ii|iii|iv|md|phd)\.?$/iu

export function splitName(
  full: string | undefined,
  parts: { first?: string | undefined; last?: string | undefined },
): PatientName {
  if (parts.first && parts.last)
    return { patient_first_name: withCase(plainName(parts.first)), patient_last_name: withCase(plainName(parts.last)) }
  if (!full)
    return {
      patient_first_name: parts.first ? withCase(parts.first) : null,
      patient_last_name: parts.last ? withCase(parts.last) : null,
    }
  const name = plainName(full).replace(SUFFIXES, '')
  const inverted = /^([^,]+),\s*(.+)$/u.exec(name)
  if (inverted) {
    const givenNames = inverted[2]!.replace(TITLES, '').split(/\s+/u)
    return { patient_first_name: withCase(withoutInitials(givenNames)), patient_last_name: withCase(inverted[1]!.trim()) }
  }
  const words = name.split(/\s+/u)
  const particle = words.findIndex((word, index) => index > 0 && PARTICLES.test(word))
  if (PARTICLES.test(words[0]!) && words.length > 2)
    return {
      patient_first_name: withCase(withoutInitials(words.slice(2))),
      patient_last_name: withCase(words.slice(0, 2).join(' ')),
    }
  if (particle > 0 && particle < words.length - 1)
    return {
      patient_first_name: withCase(withoutInitials(words.slice(0, particle))),
      patient_last_name: withCase(words.slice(particle).join(' ')),
    }
  // Where one name alone is in capitals it is the family name: `FAUXMAN Max`, `Max FAUXMAN`.
  const capitals = words.findIndex((word) => !isCapitals(word))
  if (capitals > 0 && words.slice(capitals).every((word) => !isCapitals(word)))
    return {
      patient_first_name: withCase(withoutInitials(words.slice(capitals))),
      patient_last_name: withCase(words.slice(0, capitals).join(' ')),
    }
  if (words.length === 1) return { patient_first_name: withCase(words[0]!), patient_last_name: null }
  return { patient_first_name: withCase(withoutInitials(words.slice(0, -1))), patient_last_name: withCase(words.at(-1)!) }
}

const isCapitals = (word: string): boolean => word.length > 1 && word === word.toUpperCase()

/** Parts with which family names begin. */
const PARTICLES =
  /^(?:van|von|de|der|den|del|della|dela|delos|di|da|dos|du|bin|binti|ibn|al|el|la|le|ter|ten|st\.?|san|santa|abu)$/iu

/** An initial is not a given name. */
const withoutInitials = (givenNames: string[]): string => {
  const fullNames = givenNames.filter((word) => word.replace('.', '').length > 1)
  return (fullNames.length ? fullNames : givenNames).join(' ')
}
/** JANE becomes Jane; mixed case stays. */
const withCase = (name: string): string =>
  name === name.toUpperCase()
    ? // A capital I with a dot becomes a small one with two.
      name
        .replaceAll('İ', 'I')
        .toLowerCase()
        .replaceAll(/(^|[\s'’-])(\p{L})/gu, (_, separator: string, letter: string) => separator + letter.toUpperCase())
    : name

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
  return years <= 120 && !dateIn(value) ? { days: toDays(years, 'years'), unit: 'years' } : undefined
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
