// Whether a report and an order have the same patient. Pure. Source: lab-testing.md 14; the rules are a choice of this project.
import type { Patient } from '../../people/person/patient.ts'
import type { ReportedPatient } from './incoming-result.ts'

/** `unknown`: too little data to decide. */
export type PatientMatch = 'same' | 'different' | 'unknown'

/** Letters without a decomposition in Unicode, or with two customary transliterations, and how laboratories write them in ASCII. */
const TRANSLITERATIONS: Record<string, readonly string[]> = {
  ä: ['a', 'ae'],
  ö: ['o', 'oe'],
  ü: ['u', 'ue'],
  å: ['a', 'aa'],
  ø: ['o', 'oe'],
  æ: ['ae', 'a'],
  œ: ['oe', 'o'],
  ß: ['ss'],
  ł: ['l'],
  đ: ['d'],
  ð: ['d'],
  þ: ['th'],
  ı: ['i'],
}

/** Spellings of a name to compare. The letters that would make more than this number have their first transliteration only. */
const SPELLINGS_MAX = 64

/**
 * The spellings of a name in letters without accents and digits, in lower case. A letter with two transliterations is replaced in both ways
 * everywhere: `Müller` has the spellings `muller` and `mueller`, and `Mueller` has one.
 */
function spellingsOf(name: string): Set<string> {
  let spellings = ['']
  for (const letter of name.normalize('NFC').toLowerCase().normalize('NFC')) {
    const plain = letter.normalize('NFKD').replace(/[^\p{L}\p{N}]/gu, '')
    const forms = TRANSLITERATIONS[letter] ?? [plain]
    const isWithinLimit = spellings.length * forms.length <= SPELLINGS_MAX
    spellings = (isWithinLimit ? forms : forms.slice(0, 1)).flatMap((form) => spellings.map((spelling) => spelling + form))
  }
  return new Set(spellings)
}

function isSameName(a: string, b: string): boolean {
  const spellings = spellingsOf(a)
  return [...spellingsOf(b)].some((spelling) => spellings.has(spelling))
}

const firstWord = (name: string): string => name.trim().split(/[\s-]+/)[0] ?? ''

/** Laboratories omit second names or the hyphens between them. */
const isSameFirstName = (a: string, b: string): boolean => isSameName(a, b) || isSameName(firstWord(a), firstWord(b))

const STATED_GENDERS = new Set(['female', 'male'])

/**
 * Compares the data that both have. Any difference means different patients; they are the same only if both have the family name and the
 * date of birth. A gender other than female or male is ignored.
 */
export function comparePatients(reportedPatient: ReportedPatient | null, patient: Patient | null): PatientMatch {
  if (!reportedPatient || !patient) return 'unknown'
  const { first_name, last_name, dob, gender } = reportedPatient
  if (dob && dob !== patient.dob) return 'different'
  if (last_name && patient.last_name && !isSameName(last_name, patient.last_name)) return 'different'
  if (first_name && patient.first_name && !isSameFirstName(first_name, patient.first_name)) return 'different'
  const reportedGender = gender?.toLowerCase() ?? ''
  if (STATED_GENDERS.has(reportedGender) && STATED_GENDERS.has(patient.gender) && reportedGender !== patient.gender)
    return 'different'
  return dob && last_name && patient.last_name ? 'same' : 'unknown'
}
