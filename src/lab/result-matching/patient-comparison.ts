// Whether a report and an order have the same patient. Pure. Source: lab-testing.md 14; the rules are a choice of this project.
import type { Patient } from '../../people/person/patient.ts'
import type { ReportedPatient } from './incoming-result.ts'

/** `unknown`: too little data to decide. */
export type PatientMatch = 'same' | 'different' | 'unknown'

/** One spelling: letters and digits only, without accents, in lower case. */
const normalizeName = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

const firstWord = (name: string): string => normalizeName(name.trim().split(/[\s-]+/)[0] ?? '')

/** Laboratories omit second names or the hyphens between them. */
const isSameFirstName = (a: string, b: string): boolean => normalizeName(a) === normalizeName(b) || firstWord(a) === firstWord(b)

const STATED_GENDERS = new Set(['female', 'male'])

/**
 * Compares the data that both have. Any difference means different patients; they are the same only if both have the family name and the
 * date of birth. A gender other than female or male is ignored.
 */
export function comparePatients(reportedPatient: ReportedPatient | null, patient: Patient | null): PatientMatch {
  if (!reportedPatient || !patient) return 'unknown'
  const { first_name, last_name, dob, gender } = reportedPatient
  if (dob && dob !== patient.dob) return 'different'
  if (last_name && patient.last_name && normalizeName(last_name) !== normalizeName(patient.last_name)) return 'different'
  if (first_name && patient.first_name && !isSameFirstName(first_name, patient.first_name)) return 'different'
  const reportedGender = gender?.toLowerCase() ?? ''
  if (STATED_GENDERS.has(reportedGender) && STATED_GENDERS.has(patient.gender) && reportedGender !== patient.gender)
    return 'different'
  return dob && last_name && patient.last_name ? 'same' : 'unknown'
}
