// Patient rules that need the team's date or settings. Source: lab-testing.md 5.1.
import { utcDate, ageOn } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { assertBirthDate, latestDemographics } from '../../people/users/demographics.ts'
import { toMedicalProxy, toPatient, type Patient, type PatientInput } from '../../people/person/patient.ts'

const ADULT_YEARS = 18

/**
 * The patient as the order shows it, checked against the team's date and its setting for minors. A minor's proxy comes from the request,
 * else from the user's demographics. Only reads.
 * Errors: 422 born in the future or more than 130 years ago; 400 under 18 without a medical proxy, or minors are not allowed.
 */
export async function orderPatient(tx: Tx, user_id: string, given: PatientInput): Promise<Patient> {
  assertBirthDate(tx, given.dob, ['body', 'patient_details', 'dob'])
  const patient = toPatient(given)
  if (ageOn(given.dob, utcDate(tx.now)) >= ADULT_YEARS) return patient
  if (!tx.tenant.settings.minor_ordering_enabled)
    throw badRequest('Ordering for patients under 18 is not enabled for this team (minor_ordering_enabled)')
  if (patient.medical_proxy) return patient
  const known = (await latestDemographics(tx, user_id))?.medical_proxy
  if (!known) throw badRequest('A medical_proxy is required for a patient under 18')
  return { ...patient, medical_proxy: toMedicalProxy(known) }
}
