// Demographics of users, in their latest version. Owns user_demographics, one row a user; does not know orders.
// Source: lab-testing.md 5.3.
import { isDeepStrictEqual } from 'node:util'
import { utcDate } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { invalidField, notFound } from '../../platform/http/errors.ts'
import type { Loc } from '../../platform/schema/fault.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { toContactAddress, type ContactAddressInput } from '../person/address.ts'
import { toGuarantor } from '../person/guarantor.ts'
import type { PatientInput } from '../person/patient.ts'
import { Demographics, type DemographicsInput } from './demographics-schema.ts'
import { getUser, type KnownUser } from './users.ts'

const AGE_YEARS_MAX = 130

const Stored = T.Object({ document: Demographics })

/** A change of demographics: absent fields stay, null clears. */
type Change = Pick<Demographics, 'first_name' | 'last_name' | 'email' | 'phone_number' | 'gender' | 'dob' | 'address'> &
  Partial<Demographics>

const emptyDemographics = { medical_proxy: null, race: null, ethnicity: null, sexual_orientation: null, gender_identity: null }

/**
 * Writes nothing if nothing changes, so that the next order of the same patient creates no new row version. Then it also takes no lock, so
 * that many orders of one patient do not wait for each other.
 */
const upsert = (tx: Tx, user_id: string, change: Change): Sql => sql`
  insert into user_demographics (user_id, team_id, document, updated_at)
  select u.id, u.team_id, ${JSON.stringify({ ...emptyDemographics, ...change })}::text::jsonb, ${tx.now}::timestamptz
  from "user" u
  where u.id = ${user_id} and u.team_id = ${tx.team} and u.deleted_at is null
    and not exists (
      select from user_demographics d where d.team_id = u.team_id and d.user_id = u.id and d.document = d.document || ${JSON.stringify(change)}::text::jsonb)
  on conflict (team_id, user_id) do update
  set document = user_demographics.document || ${JSON.stringify(change)}::text::jsonb, updated_at = excluded.updated_at
  where user_demographics.document is distinct from user_demographics.document || ${JSON.stringify(change)}::text::jsonb`

/** Omits absent fields from the result, so that they stay. */
function changeOf(input: DemographicsInput): Change {
  const { medical_proxy, address, ...plain } = input
  return {
    ...plain,
    address: toContactAddress(address),
    ...(medical_proxy !== undefined && { medical_proxy: medical_proxy && toGuarantor(medical_proxy) }),
  }
}

/**
 * Saves the patient of an order as the user's demographics; absent fields stay. Writes user_demographics with one deferred statement;
 * nothing if the user is not, or no longer, one of the team. At most once per user and transaction.
 */
export function saveDemographics(tx: Tx, user_id: string, patient: PatientInput, address: ContactAddressInput): void {
  tx.defer(upsert(tx, user_id, changeOfOrder(patient, address)))
}

function changeOfOrder(patient: PatientInput, address: ContactAddressInput): Change {
  const { household_income: _income, household_size: _size, ...person } = patient
  return changeOf({ ...person, address })
}

/**
 * The version of a user's demographics that already are what `saveDemographics` would make of them; undefined if they are not, or if that
 * cannot be assumed. The statement that writes verifies the version (`verifiedUserId`), which is a third of the work of saving them.
 */
export function keptDemographics(
  tx: Tx,
  { demographics }: KnownUser,
  patient: PatientInput,
  address: ContactAddressInput,
): string | undefined {
  if (!demographics) return undefined
  const { version, document } = demographics
  const isKept = Object.entries(changeOfOrder(patient, address)).every(
    ([field, value]) => value === undefined || isDeepStrictEqual(document[field as keyof Demographics], value),
  )
  return isKept && tx.mayAssume() ? version : undefined
}

/** Returns the demographics of a user; undefined if there are none, or for a user of another team. */
export async function latestDemographics(tx: Tx, user_id: string): Promise<Demographics | undefined> {
  const row = await tx.maybe(
    Stored,
    sql`select document from user_demographics where user_id = ${user_id} and team_id = ${tx.team}`,
  )
  return row?.document
}

/**
 * Creates or replaces the demographics of a user: what is absent is cleared. Writes user_demographics. Source: users-wearables.md 1.
 * Errors: 404 unknown user; 422 born in the future or more than 130 years ago.
 */
export async function patchDemographics(tx: Tx, user_id: string, input: DemographicsInput): Promise<Demographics> {
  await getUser(tx, user_id)
  assertBirthDate(tx, input.dob, ['body', 'dob'])
  await tx.run(upsert(tx, user_id, { ...emptyDemographics, ...changeOf(input) }))
  return (await latestDemographics(tx, user_id))!
}

/** Returns the demographics of a user. Errors: 404 unknown user, or no demographics. */
export async function getDemographics(tx: Tx, user_id: string): Promise<Demographics> {
  await getUser(tx, user_id)
  const found = await latestDemographics(tx, user_id)
  if (!found) throw notFound('Demographics not found')
  return found
}

/** Checks a date of birth. Errors: 422 it is in the future, or more than 130 years ago. */
export function assertBirthDate(tx: Tx, dob: string, loc: Loc): void {
  const today = utcDate(tx.now)
  if (dob > today) throw invalidField(loc, 'must not be in the future')
  const oldest = `${Number(today.slice(0, 4)) - AGE_YEARS_MAX - 1}${today.slice(4)}`
  if (dob <= oldest) throw invalidField(loc, `must not be more than ${AGE_YEARS_MAX} years ago`)
}
