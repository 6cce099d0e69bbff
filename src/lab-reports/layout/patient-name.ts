// Given and family name out of the ways in which reports print them.

export interface PatientName {
  patient_first_name: string | null
  patient_last_name: string | null
}

const TITLES = /^(?:mr|mrs|ms|miss|mstr|master|baby|dr|prof|mx|smt|shri|sri|kumari|sir|mme)\.?\s+/iu

export function isName(value: string): boolean {
  const name = plainName(value)
  return (
    name.length > 2 &&
    /^[\p{L}][\p{L}'’.,\- ]+$/u.test(name) &&
    name.split(/[\s,]+/u).length <= 6 &&
    !/\b(?:laborator\w*|hospital|clinic|report|information|test|name)\b/iu.test(name)
  )
}

/** Without title, age, sex and identifiers behind it. */
const plainName = (value: string): string =>
  value
    .replace(/\s*\(.*$/u, '')
    .replace(/\s{2,}.*$/u, '')
    .replace(/\s*[/|]?\s*\b\d.*$/u, '')
    .replace(/[,\s]+(?:male|female|m|f)$/iu, '')
    .replace(TITLES, '')
    .replace(/[\s,;:-]+$/u, '')
    .trim()

const SUFFIXES = /[,\s]+(?:jr|sr|ii|iii|iv|md|phd)\.?$/iu

export function nameOf(full: string | undefined, parts: { first?: string | undefined; last?: string | undefined }): PatientName {
  if (parts.first && parts.last)
    return { patient_first_name: cased(plainName(parts.first)), patient_last_name: cased(plainName(parts.last)) }
  if (!full)
    return {
      patient_first_name: parts.first ? cased(parts.first) : null,
      patient_last_name: parts.last ? cased(parts.last) : null,
    }
  const name = plainName(full).replace(SUFFIXES, '')
  const inverted = /^([^,]+),\s*(.+)$/u.exec(name)
  if (inverted) {
    const given = inverted[2]!.replace(TITLES, '').split(/\s+/u)
    return { patient_first_name: cased(withoutInitials(given)), patient_last_name: cased(inverted[1]!.trim()) }
  }
  const words = name.split(/\s+/u)
  const particle = words.findIndex((word, index) => index > 0 && PARTICLES.test(word))
  if (PARTICLES.test(words[0]!) && words.length > 2)
    return { patient_first_name: cased(withoutInitials(words.slice(2))), patient_last_name: cased(words.slice(0, 2).join(' ')) }
  if (particle > 0 && particle < words.length - 1)
    return {
      patient_first_name: cased(withoutInitials(words.slice(0, particle))),
      patient_last_name: cased(words.slice(particle).join(' ')),
    }
  if (words.length === 1) return { patient_first_name: cased(words[0]!), patient_last_name: null }
  return { patient_first_name: cased(withoutInitials(words.slice(0, -1))), patient_last_name: cased(words.at(-1)!) }
}

/** Parts with which family names begin. */
const PARTICLES =
  /^(?:van|von|de|der|den|del|della|dela|delos|di|da|dos|du|bin|binti|ibn|al|el|la|le|ter|ten|st\.?|san|santa|abu)$/iu

/** An initial is no given name. */
const withoutInitials = (given: string[]): string => {
  const whole = given.filter((word) => word.replace('.', '').length > 1)
  return (whole.length ? whole : given).join(' ')
}
/** JANE becomes Jane; mixed case stays. */
const cased = (name: string): string =>
  name === name.toUpperCase()
    ? name.toLowerCase().replaceAll(/(^|[\s'’-])(\p{L})/gu, (_, before: string, letter: string) => before + letter.toUpperCase())
    : name
