// Insurances of users, each kept as it was given with the insurer as it was then: a new one is added, none is changed. Owns insurance;
// never knows which orders lean on it. Source: lab-testing.md 26.
import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, invalidField, notFound } from '../../platform/http/errors.ts'
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

/** Insurances that a user can have had. */
const INSURANCES_MAX = 1000

const Count = T.Object({ n: T.Integer() })
const Stored = T.Object({ document: Insurance })

/**
 * Add an insurance of a user; it does not replace others. Writes insurance.
 * 400: the user has no demographics, no such payor, a public programme that has no plan in the user's state, the user has 1,000 already.
 * 404: no such user. 422: no guarantor though the insured is another than the patient; an impossible date of birth.
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

/** 400: the user has as many as there can be. @returns its id */
async function add(tx: Tx, user_id: string, insurance: Insurance): Promise<string> {
  const { n } = await tx.one(Count, sql`select count(*) as n from insurance where user_id = ${user_id} and team_id = ${tx.team}`)
  if (n >= INSURANCES_MAX) throw badRequest(`A user has at most ${INSURANCES_MAX} insurances`)
  const id = tx.uuid()
  await tx.run(sql`
    insert into insurance (id, team_id, user_id, is_primary, document, created_at)
    values (${id}, ${tx.team}, ${user_id}, ${insurance.is_primary}, ${JSON.stringify(insurance)}, ${tx.now})`)
  return id
}

/** Whose insurance comes with an order or a registration. */
export interface InsuredPatient {
  user_id: string
  patient_details: PatientInput
  patient_address: ContactAddressInput
}

/**
 * The insurance that came with an order or a registration. Named by `payor_code` and `insurance_id` it is added to those of the user as
 * the primary one, unless the newest primary one says the same. Writes insurance.
 * 400: no such payor; a public programme that has no plan in the patient's state; the user has 1,000 already. 404: no such user.
 * 422: one of `payor_code` and `insurance_id` without the other; nobody responsible though the relationship is not Self.
 * Source: lab-testing.md 5.4.
 * @returns its id; undefined where no insurance is named
 */
export async function insuranceGiven(
  tx: Tx,
  { user_id, patient_details: patient, patient_address }: InsuredPatient,
  given: HealthInsuranceInput,
): Promise<string | undefined> {
  const { payor_code, insurance_id: member_id, responsible_relationship: relationship = 'Self', responsible_details } = given
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

/** The newest insurance of a user that is, or is not, the primary one. 404: no such user, or none. */
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

/** An insurance by its id, as an order keeps it; undefined when it was erased with its user. */
export async function findInsurance(tx: Tx, id: string): Promise<Insurance | undefined> {
  const row = await tx.maybe(Stored, sql`select document from insurance where id = ${id} and team_id = ${tx.team}`)
  return row?.document
}

/** What an order that is billed to the patient's insurance asks of it. */
export interface Insured {
  user_id: string
  icd_codes: readonly string[] | undefined
  /** The insurance that came with the order, where one did. */
  insurance_id?: string | undefined
}

/**
 * The insurance that an order of the user is billed to now: the id of the one that came with it, else of the newest primary one, which
 * the order keeps as its `health_insurance_id`. Whether the lab account takes such orders, in the state of the patient and for these tests, is not looked at.
 * To be called before the patient of the order is saved as the user's demographics. Writes nothing.
 * 400: no diagnosis, or one that cannot be billed (said by its place in the list); no demographics; no primary insurance.
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

/** The insurances of a deleted user. */
export const eraseInsurances = async (tx: Tx, user_id: string): Promise<void> =>
  void (await tx.run(sql`delete from insurance where user_id = ${user_id} and team_id = ${tx.team}`))
