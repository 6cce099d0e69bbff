// Patient rules that need the team's date or settings. Source: lab-testing.md 5.1.
import { addSeconds, utcDate, ageOn } from '../../platform/runtime/clock.ts'
import { todayAt, type ZonedOrder } from './collection-zone.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { assertBirthDate, latestDemographics } from '../../people/users/demographics.ts'
import { toMedicalProxy, toPatient, type Patient, type PatientInput } from '../../people/person/patient.ts'

const ADULT_YEARS = 18

/**
 * The patient as the order shows it, checked against the team's date and its setting for minors: the age is that of the day at the address. A minor's proxy comes from the request,
 * else from the user's demographics. Only reads.
 * Errors: 422 born in the future or more than 130 years ago; 400 under 18 without a medical proxy, or minors are not allowed.
 */
export async function orderPatient(
  tx: Tx,
  { user_id, patient_address }: Pick<ZonedOrder, 'user_id' | 'patient_address'>,
  input: PatientInput,
): Promise<Patient> {
  assertBirthDate(tx, input.dob, ['body', 'patient_details', 'dob'])
  const patient = toPatient(input)
  if (await isAdult(tx, input.dob, { id: null, user_id, patient_address })) return patient
  if (!tx.tenant.settings.minor_ordering_enabled)
    throw badRequest('Ordering for patients under 18 is not enabled for this team (minor_ordering_enabled)')
  if (patient.medical_proxy) return patient
  const known = (await latestDemographics(tx, user_id))?.medical_proxy
  if (!known) throw badRequest('A medical_proxy is required for a patient under 18')
  return { ...patient, medical_proxy: toMedicalProxy(known) }
}

/** No zone is further from UTC, in hours: to the west and to the east. */
const [WEST_HOURS, EAST_HOURS] = [-12, 14]

/** The zone is looked up only for patients whose birthday it is somewhere. */
async function isAdult(tx: Tx, dob: string, order: ZonedOrder): Promise<boolean> {
  const [earliest, latest] = [WEST_HOURS, EAST_HOURS].map((hours) => utcDate(addSeconds(tx.now, hours * 3600)))
  if (ageOn(dob, earliest!) >= ADULT_YEARS) return true
  return ageOn(dob, latest!) >= ADULT_YEARS && ageOn(dob, await todayAt(tx, order)) >= ADULT_YEARS
}
