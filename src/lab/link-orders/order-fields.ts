// How persons, places, times and numbers are written in the fields of an order message, by the profile of its link. Pure.
import type { LinkProfile } from '../links/profile/link-profile.ts'
import type { ContactAddress, PatientAddress } from '../../people/person/address.ts'
import { countryCode } from '../../people/person/countries.ts'
import type { FieldValue } from './segment-builder.ts'

/** Whether MSH-12 of the messages is this version or a later one. */
export const isVersionFrom = ({ identity }: LinkProfile, version: string): boolean =>
  identity.version.localeCompare(version, 'en', { numeric: true }) >= 0

/** `19900131`. */
export const toDay = (day: string): string => day.replaceAll('-', '')

export const toName = (
  { patient: { name_case } }: LinkProfile,
  { first_name, last_name }: { first_name: string | null; last_name: string | null },
): FieldValue => [last_name ?? '', first_name ?? ''].map((name) => (name_case === 'upper' ? name.toUpperCase() : name))

type Address = Pick<PatientAddress | ContactAddress, 'first_line' | 'second_line' | 'city' | 'state' | 'zip' | 'country'>

/** Street, second line, city, state, postal code and country, the last by its code of ISO 3166. */
export const toAddress = ({ first_line, second_line, city, state, zip, country }: Address): FieldValue => [
  first_line,
  second_line ?? '',
  city,
  state,
  zip,
  countryCode(country) ?? country,
]

/** A number that is not one of North America is written in the international form; as digits it begins with the code of its country. */
export function toPhone({ patient: { phone } }: LinkProfile, text: string): string {
  const digits = text.replace(/[^\d+]/gu, '')
  const national = /^\+1(\d{3})(\d{3})(\d{4})$/u.exec(digits)
  if (phone === 'e164') return text
  if (!national) return phone === 'digits' ? digits.replace('+', '') : text
  const [, area, exchange, line] = national
  return phone === 'us' ? `(${area})${exchange}-${line}` : `${area}${exchange}${line}`
}

/** A telephone number, and with an e-mail address a second repetition from version 2.3 on. */
export function toContacts(profile: LinkProfile, phone: string | null, email: string | null): FieldValue[] {
  return [
    ...(phone ? [toPhone(profile, phone)] : []),
    ...(email && profile.patient.has_email && isVersionFrom(profile, '2.3') ? [['', 'NET', 'Internet', email]] : []),
  ]
}

/** An ordering physician by the national provider identifier. The type of the id has its place from version 2.5 on. */
export function toProvider(profile: LinkProfile, physician: { first_name: string; last_name: string; npi: string }): FieldValue {
  const names = toName(profile, physician)
  if (profile.order_content.physician_id === 'none') return ['', ...names]
  if (!isVersionFrom(profile, '2.5')) return [physician.npi, ...names, '', '', '', '', 'NPI']
  return [physician.npi, ...names, '', '', '', '', ['NPI', '2.16.840.1.113883.4.6', 'ISO'], 'L', '', '', '', 'NPI']
}

/** Letters without a decomposition in Unicode, or with a customary other spelling. */
const TRANSLITERATIONS: Record<string, string> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  Ä: 'Ae',
  Ö: 'Oe',
  Ü: 'Ue',
  ß: 'ss',
  ẞ: 'SS',
  å: 'aa',
  Å: 'Aa',
  ø: 'oe',
  Ø: 'Oe',
  æ: 'ae',
  Æ: 'Ae',
  œ: 'oe',
  Œ: 'Oe',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  þ: 'th',
  Þ: 'Th',
  ı: 'i',
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '–': '-',
  '—': '-',
  '\u00a0': ' ',
}

/** A text in ASCII as far as letters have such a spelling. What has none stays, and is then a fault. */
export const transliterate = (text: string): string =>
  Array.from(text.normalize('NFC'))
    .map((letter, i, letters) => {
      if (letter.charCodeAt(0) < 0x80) return letter
      const ascii = TRANSLITERATIONS[letter] ?? letter.normalize('NFKD').replace(/\p{M}/gu, '')
      // `MÜLLER` becomes `MUELLER`, `Ümit` becomes `Uemit`.
      return isCapital(letters[i + 1] ?? letters[i - 1]) ? ascii.toUpperCase() : ascii
    })
    .join('')

const isCapital = (letter = ''): boolean => /\p{Lu}/u.test(letter)
