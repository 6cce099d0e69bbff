// Insurances of users. Each is stored as given, with the payor's data at that time; insurances are added and never changed. Owns insurance;
// does not know which orders use it. Source: lab-testing.md 26.
import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '../../platform/db/transaction.ts'
import { assertBelowLimit, badRequest, invalidField, notFound } from '../../platform/http/errors.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { assertBirthDate, latestDemographics } from '../users/demographics.ts'
import { getUser } from '../users/users.ts'
import { toContactAddress, type ContactAddressInput } from '../person/address.ts'
import { toGuarantor } from '../person/guarantor.ts'
import type { PatientInput } from '../person/patient.ts'
import { findCodeErrors } from './diagnoses.ts'
import { resolvePayor } from './payors.ts'
import { Insurance, type CreateInsurance, type HealthInsuranceInput } from './schema.ts'

/** Maximum number of insurances of a user, including earlier ones. */
const INSURANCES_MAX = 1000

const Stored = T.Object({ document: Insurance })

/**
 * Adds an insurance of a user; it does not replace others. Writes insurance.
 * Errors: 400 the user has no demographics, unknown payor, a public program without a plan in the user's state, the user already has 1,000;
 * 404 unknown user; 422 no guarantor although the insured is another person than the patient, or an impossible date of birth.
 */
export async function createInsurance(tx: Tx, user_id: string, body: CreateInsurance): Promise<Insurance> {
  await getUser(tx, user_id)
  assertBirthDate(tx, body.insured.dob, ['body', 'insured', 'dob'])
  if (body.relationship !== 'Self' && !body.guarantor)
    throw invalidField(['body', 'guarantor'], 'is required where the relationship is not Self')
  const demographics = await latestDemographics(tx, user_id)
  if (!demographics) throw badRequest('The user has no demographics; insurance requires them')
  const { payor_code, name, org_address } = await resolvePayor(tx, body.payor_code, demographics.address.state)
  const insurance: Insurance = {
    member_id: body.member_id,
    payor_code,
    relationship: body.relationship,
    insured: { ...body.insured, address: toContactAddress(body.insured.address) },
    company: { name, address: org_address },
    group_id: body.group_id ?? null,
    guarantor: body.guarantor ? toGuarantor(body.guarantor) : null,
    is_primary: body.is_primary ?? true,
  }
  await add(tx, user_id, insurance)
  return insurance
}

/** Errors: 400 the user already has the maximum number. @returns its id */
async function add(tx: Tx, user_id: string, insurance: Insurance): Promise<string> {
  const present = sql`select count(*) as n from insurance where user_id = ${user_id} and team_id = ${tx.team}`
  await assertBelowLimit(tx, present, INSURANCES_MAX, 'A user', 'insurances')
  const id = tx.uuid()
  await tx.run(sql`
    insert into insurance (id, team_id, user_id, is_primary, document, created_at)
    values (${id}, ${tx.team}, ${user_id}, ${insurance.is_primary}, ${JSON.stringify(insurance)}, ${tx.now})`)
  return id
}

/** The patient of an insurance that comes with an order or a registration. */
export interface InsuredPatient {
  user_id: string
  patient_details: PatientInput
  patient_address: ContactAddressInput
}

/**
 * Stores the insurance that comes with an order or a registration. With `payor_code` and `insurance_id` it is added to the user's as the
 * primary one, unless the newest primary one is the same. Writes insurance.
 * Errors: 400 unknown payor, a public program without a plan in the patient's state, the user already has 1,000; 404 unknown user; 422 only
 * one of `payor_code` and `insurance_id`, or no responsible person although the relationship is not Self.
 * Source: lab-testing.md 5.4.
 * @returns its id; undefined if no insurance is given
 */
export async function insuranceGiven(
  tx: Tx,
  { user_id, patient_details: patient, patient_address }: InsuredPatient,
  input: HealthInsuranceInput,
): Promise<string | undefined> {
  const { payor_code, insurance_id: member_id, responsible_relationship: relationship = 'Self', responsible_details } = input
  const at = (field: string) => ['body', 'health_insurance', field]
  if (relationship !== 'Self' && !responsible_details)
    throw invalidField(at('responsible_details'), 'is required where responsible_relationship is not Self')
  if (payor_code === undefined && member_id === undefined) return undefined
  if (payor_code === undefined) throw invalidField(at('payor_code'), 'is required where insurance_id is given')
  if (member_id === undefined) throw invalidField(at('insurance_id'), 'is required where payor_code is given')
  await getUser(tx, user_id)
  const { first_name, last_name, gender, dob, email, phone_number } = patient
  const address = toContactAddress(patient_address)
  const payor = await resolvePayor(tx, payor_code, address.state)
  const insurance: Insurance = {
    member_id,
    payor_code: payor.payor_code,
    relationship,
    insured: { first_name, last_name, gender, address, dob, email, phone_number },
    company: { name: payor.name, address: payor.org_address },
    group_id: null,
    guarantor: responsible_details ? toGuarantor(responsible_details) : null,
    is_primary: true,
  }
  const newest = await newestPrimary(tx, user_id)
  return newest && isDeepStrictEqual(newest.document, insurance) ? newest.id : add(tx, user_id, insurance)
}

const Primary = T.Object({ id: T.String(), document: Insurance })

const newestPrimary = (tx: Tx, user_id: string): Promise<Static<typeof Primary> | undefined> =>
  tx.maybe(
    Primary,
    sql`
    select id, document from insurance where user_id = ${user_id} and team_id = ${tx.team} and is_primary order by id desc limit 1`,
  )

/** Returns the newest insurance of a user that is, or is not, the primary one. Errors: 404 unknown user, or no such insurance. */
export async function latestInsurance(tx: Tx, user_id: string, is_primary: boolean): Promise<Insurance> {
  await getUser(tx, user_id)
  const row = await tx.maybe(
    Stored,
    sql`
    select document from insurance where user_id = ${user_id} and team_id = ${tx.team} and is_primary = ${is_primary}
    order by id desc limit 1`,
  )
  if (!row) throw notFound('Insurance not found')
  return row.document
}

/** Returns an insurance by the id that an order stores; undefined if it was erased with its user. */
export async function findInsurance(tx: Tx, id: string): Promise<Insurance | undefined> {
  const row = await tx.maybe(Stored, sql`select document from insurance where id = ${id} and team_id = ${tx.team}`)
  return row?.document
}

/** The requirements of an order that is billed to the patient's insurance. */
export interface Insured {
  user_id: string
  icd_codes: readonly string[] | undefined
  /** The insurance that came with the order, if any. */
  insurance_id?: string | undefined
}

/**
 * Returns the id of the insurance that an order of the user is billed to now: the one that came with it, otherwise the newest primary one.
 * The order stores it as its `health_insurance_id`. This function does not check whether the lab account accepts such orders in the
 * patient's state and for these tests. Call it before the patient of the order is saved as the user's demographics. Writes nothing.
 * Errors: 400 no diagnosis, or one that cannot be billed (given by its position in the list); 400 no demographics; 400 no primary
 * insurance.
 * Source: lab-testing.md 26.
 */
export async function assertInsured(tx: Tx, { user_id, icd_codes, insurance_id }: Insured): Promise<string> {
  if (!icd_codes?.length) throw badRequest('icd_codes must contain at least one diagnosis for an order billed to insurance')
  const [fault] = await findCodeErrors(tx, icd_codes)
  if (fault) throw badRequest(`icd_codes: code number ${fault[0] + 1} ${fault[1]}`)
  if (insurance_id !== undefined) return insurance_id
  if (!(await latestDemographics(tx, user_id)))
    throw badRequest('The user has no demographics; an order billed to insurance requires them')
  const insurance = await newestPrimary(tx, user_id)
  if (!insurance) throw badRequest('The user has no primary insurance')
  return insurance.id
}
