// Rules about the patient that need the team's date or settings. Source: lab-testing.md 5.1.
import { day } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import { badRequest, invalidValue } from '../platform/errors.ts'
import type { PatientInput } from '../wire/patient.ts'

const ADULT_YEARS = 18
const AGE_YEARS_MAX = 130

/** Whole years from a date of birth to a day, both `YYYY-MM-DD`. */
export function ageOn(dob: string, today: string): number {
  const years = Number(today.slice(0, 4)) - Number(dob.slice(0, 4))
  return today.slice(5) < dob.slice(5) ? years - 1 : years
}

/**
 * Check a patient against the team's date and its option for minors.
 * 422: born in the future or more than 130 years ago. 400: under 18 without a medical proxy, or where minors are not allowed.
 */
export function assertPatient(tx: Tx, patient: PatientInput): void {
  const today = day(tx.now)
  const at = ['body', 'patient_details', 'dob']
  if (patient.dob > today) throw invalidValue(at, 'must not be in the future')
  const age = ageOn(patient.dob, today)
  if (age > AGE_YEARS_MAX) throw invalidValue(at, `must not be more than ${AGE_YEARS_MAX} years ago`)
  if (age >= ADULT_YEARS) return
  if (!tx.tenant.settings.minor_ordering_enabled) throw badRequest('Ordering for patients under 18 is not enabled for this team')
  if (!patient.medical_proxy) throw badRequest('A medical_proxy is required for a patient under 18')
}
