// Whether the patient of a report is the patient of an order. Pure. Source: lab-testing.md 14; the rules are a choice of this project.
import type { Patient } from '../../people/person/patient.ts'
import type { ReportedPatient } from './incoming-result.ts'

/** `unknown`: too little is said to tell. */
export type PatientMatch = 'same' | 'different' | 'unknown'

/** One spelling: no accents, no capitals, nothing but letters and digits. */
const normalizeName = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

const firstWord = (name: string): string => normalizeName(name.trim().split(/[\s-]+/)[0] ?? '')

/** Laboratories leave second names out, or their hyphens. */
const isSameFirstName = (a: string, b: string): boolean => normalizeName(a) === normalizeName(b) || firstWord(a) === firstWord(b)

const STATED_GENDERS = new Set(['female', 'male'])

/**
 * Compare what both say. Anything that differs makes them different people; they are the same only when family name and date of birth
 * are known of both. A gender that is not female or male says nothing.
 */
export function comparePatients(reported: ReportedPatient | null, patient: Patient | null): PatientMatch {
  if (!reported || !patient) return 'unknown'
  const { first_name, last_name, dob, gender } = reported
  if (dob && dob !== patient.dob) return 'different'
  if (last_name && patient.last_name && normalizeName(last_name) !== normalizeName(patient.last_name)) return 'different'
  if (first_name && patient.first_name && !isSameFirstName(first_name, patient.first_name)) return 'different'
  const told = gender?.toLowerCase() ?? ''
  if (STATED_GENDERS.has(told) && STATED_GENDERS.has(patient.gender) && told !== patient.gender) return 'different'
  return dob && last_name && patient.last_name ? 'same' : 'unknown'
}
