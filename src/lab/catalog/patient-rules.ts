// Patient rules of labs: maximum length of names, and allowed genders. Rules are data of the lab; there are none until the operator sets
// some. Only reads. Source: lab-testing.md 3.5, 5.1.
import type { Queries, Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'

/** Null means no rule. */
const Rules = T.Object({
  lab_id: T.Integer(),
  name: T.String(),
  max_first_name: Nullable(T.Integer()),
  max_last_name: Nullable(T.Integer()),
  allowed_genders: Nullable(T.Array(T.String())),
})
type Rules = Static<typeof Rules>

/** The patient data that the rules check; an unknown name is not checked. */
export interface PatientNameAndGender {
  first_name: string | null
  last_name: string | null
  gender: string
}

const loadRules = (tx: Queries): Promise<Rules[]> =>
  tx.many(
    Rules,
    sql`
    select l.id as lab_id, l.name, l.max_first_name, l.max_last_name, l.allowed_genders from lab l
    where num_nonnulls(l.max_first_name, l.max_last_name, l.allowed_genders) > 0 order by l.id`,
  )

/** The rules of all labs that have some, at most 4 s old. Needs no statement while cached; load them early, together with other data. */
const patientRules = async (tx: Tx): Promise<Rules[]> => (await tx.readCached('patient rules', () => loadRules(tx)))!

/** Errors: 400 a name is too long for the lab, or the lab does not allow the gender. A lab without rules allows every patient. */
export async function assertPatientAllowed(tx: Tx, lab_id: number, patient: PatientNameAndGender): Promise<void> {
  const rules = (await patientRules(tx)).find((candidate) => candidate.lab_id === lab_id)
  if (rules) assertWithinRules(rules, patient)
}

function assertWithinRules({ name, max_first_name, max_last_name, allowed_genders }: Rules, patient: PatientNameAndGender): void {
  if (allowed_genders && !allowed_genders.includes(patient.gender))
    throw badRequest(`Lab ${name} does not allow gender ${patient.gender}`)
  for (const [field, max] of [
    ['first_name', max_first_name],
    ['last_name', max_last_name],
  ] as const)
    if (max !== null && [...(patient[field] ?? '')].length > max)
      throw badRequest(`Lab ${name} accepts at most ${max} characters in ${field}`)
}
