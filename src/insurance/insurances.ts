// Insurances of users, each kept as it was given with the insurer as it was then: a new one is added, none is changed. Owns insurance;
// never knows which orders lean on it. Source: lab-testing.md 26.
import type { Tx } from '../platform/db.ts'
import { badRequest, invalidValue, notFound } from '../platform/errors.ts'
import { inTurn } from '../platform/erasure.ts'
import { handle } from '../platform/outbox.ts'
import { T } from '../platform/schema.ts'
import { sql } from '../platform/sql.ts'
import { assertBorn, latestDemographics } from '../users/demographics.ts'
import { eraseUser, getUser, isDoomed } from '../users/users.ts'
import { toContactAddress } from '../wire/address.ts'
import { toGuarantor } from '../wire/guarantor.ts'
import { faultsOf } from './diagnoses.ts'
import { payorOf } from './payors.ts'
import { Insurance, type CreateInsurance } from './schema.ts'

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
  assertBorn(tx, body.insured.dob, ['body', 'insured', 'dob'])
  if (body.relationship !== 'Self' && !body.guarantor)
    throw invalidValue(['body', 'guarantor'], 'is required where the relationship is not Self')
  const demographics = await latestDemographics(tx, user_id)
  if (!demographics) throw badRequest('The demographics of the user are not known yet, and an insurance needs them')
  const { payor_code, name, org_address } = await payorOf(tx, body.payor_code, demographics.address.state)
  const { n } = await tx.one(Count, sql`select count(*) as n from insurance where user_id = ${user_id} and team_id = ${tx.team}`)
  if (n >= INSURANCES_MAX) throw badRequest(`A user has at most ${INSURANCES_MAX} insurances`)
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
  await tx.run(sql`
    insert into insurance (id, team_id, user_id, is_primary, document, created_at)
    values (${tx.uuid()}, ${tx.team}, ${user_id}, ${insurance.is_primary}, ${JSON.stringify(insurance)}, ${tx.now})`)
  return insurance
}

/** The newest insurance of a user that is, or is not, the primary one. 404: no such user, or none. */
export async function latestInsurance(tx: Tx, user_id: string, is_primary: boolean): Promise<Insurance> {
  await getUser(tx, user_id)
  const row = await tx.maybe(
    Stored,
    sql`
    select document from insurance where user_id = ${user_id} and team_id = ${tx.team} and is_primary = ${is_primary}
    order by id desc limit 1`,
  )
  if (!row) throw notFound('The user has no such insurance')
  return row.document
}

/** An insurance by its id, as an order keeps it; undefined when it was erased with its user. */
export async function findInsurance(tx: Tx, id: string): Promise<Insurance | undefined> {
  const row = await tx.maybe(Stored, sql`select document from insurance where id = ${id} and team_id = ${tx.team}`)
  return row?.document
}

const Id = T.Object({ id: T.String() })

/** What an order that is billed to the patient's insurance asks of it. */
export interface Insured {
  user_id: string
  icd_codes: readonly string[] | undefined
}

/**
 * The insurance that an order of the user is billed to now: the id of the newest primary one, which the order keeps as its
 * `health_insurance_id`. Whether the lab account takes such orders, in the state of the patient and for these tests, is not looked at.
 * To be called before the patient of the order is saved as the user's demographics. Writes nothing.
 * 400: no diagnosis, or one that cannot be billed (said by its place in the list); no demographics; no primary insurance.
 * Source: lab-testing.md 26.
 */
export async function assertInsured(tx: Tx, { user_id, icd_codes }: Insured): Promise<string> {
  if (!icd_codes?.length) throw badRequest('icd_codes must name at least one diagnosis for an order billed to an insurance')
  const [fault] = await faultsOf(tx, icd_codes)
  if (fault) throw badRequest(`icd_codes: the code at place ${fault[0] + 1} ${fault[1]}`)
  if (!(await latestDemographics(tx, user_id)))
    throw badRequest('The demographics of the user are not known yet, and an order billed to an insurance needs them')
  const insurance = await tx.maybe(
    Id,
    sql`
    select id from insurance where user_id = ${user_id} and team_id = ${tx.team} and is_primary order by id desc limit 1`,
  )
  if (!insurance) throw badRequest('The user has no primary insurance')
  return insurance.id
}

export const eraseInsurancesHandler = handle(eraseUser, async (context, { user_id }) => {
  await context.tx(async (tx) => {
    if (!(await isDoomed(tx, user_id))) return
    await tx.run(sql`delete from insurance where user_id = ${user_id} and team_id = ${tx.team}`)
  })
})

/** The insurances of a deleted team's users. */
export const eraseTeamInsurances = inTurn(
  (team, max) => sql`delete from insurance where id = any (array(select id from insurance where team_id = ${team} limit ${max}))`,
)
