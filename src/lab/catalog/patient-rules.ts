// Which patients a lab takes: how long a name may be, and which genders. Rules are data of the lab, and none are there until its operator
// gives some. Only reads. Source: lab-testing.md 3.5, 5.1.
import type { Queries, Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'

/** Null is no rule. */
const Rules = T.Object({
  lab_id: T.Integer(),
  name: T.String(),
  max_first_name: Nullable(T.Integer()),
  max_last_name: Nullable(T.Integer()),
  allowed_genders: Nullable(T.Array(T.String())),
})
type Rules = Static<typeof Rules>

/** What the rules look at; a name that is not known is not looked at. */
export interface PatientNameAndGender {
  first_name: string | null
  last_name: string | null
  gender: string
}

const load = (tx: Queries): Promise<Rules[]> =>
  tx.many(
    Rules,
    sql`
    select l.id as lab_id, l.name, l.max_first_name, l.max_last_name, l.allowed_genders from lab l
    where num_nonnulls(l.max_first_name, l.max_last_name, l.allowed_genders) > 0 order by l.id`,
  )

/** The rules of all labs that have some, as they were at most 4 s ago. Costs no statement while remembered; ask for them early, beside others. */
export const patientRules = async (tx: Tx): Promise<Rules[]> => (await tx.cached('patient rules', () => load(tx)))!

/** 400: the lab prints no names so long, or does not take this gender. A lab without rules takes everybody. */
export async function assertPatientAllowed(tx: Tx, lab_id: number, patient: PatientNameAndGender): Promise<void> {
  const rules = (await patientRules(tx)).find((each) => each.lab_id === lab_id)
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
