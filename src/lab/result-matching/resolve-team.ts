// Finds the team of a result that names no team. A result is health data: a team sees it only if it certainly belongs to that team. All
// other results are left to the operator. Only reads.
import type { Queries } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Order } from '../orders/schema.ts'
import type { IncomingResult } from './incoming-result.ts'
import { comparePatients } from './patient-comparison.ts'

const Team = T.Object({ team_id: T.String() })
const OfSample = T.Object({ team_id: T.String(), document: T.String() })

/**
 * The team of an incoming result; undefined if it is not certain. If teams have the reported lab account, it is one of these: the only one,
 * or the only one that knows the sample id. Otherwise it is the only team that knows both the sample id and the patient.
 */
export async function resolveTeam(db: Queries, lab_id: number, delivery: IncomingResult): Promise<string | undefined> {
  const linked = await teamsOfAccount(db, lab_id, delivery.account_number)
  const knowing = await teamsOfSample(db, lab_id, delivery)
  if (linked.length === 0) return onlyOne(knowing.filter(({ knowsPatient }) => knowsPatient).map(({ team_id }) => team_id))
  const both = knowing.filter(({ team_id }) => linked.includes(team_id))
  if (both.length) return onlyOne(both.map(({ team_id }) => team_id))
  // If other teams know the sample id, the account of the message may be wrong.
  return knowing.length ? undefined : onlyOne(linked)
}

const onlyOne = (teams: string[]): string | undefined => (teams.length === 1 ? teams[0] : undefined)

async function teamsOfAccount(db: Queries, lab_id: number, number: string | null): Promise<string[]> {
  if (number === null) return []
  const rows = await db.many(
    Team,
    sql`
    select distinct t.team_id from lab_account a
    join lab_account_team t on t.account_id = a.id join team on team.id = t.team_id and team.deleted_at is null
    where a.lab_id = ${lab_id} and a.provider_account_id = ${number} limit 1000`,
  )
  return rows.map(({ team_id }) => team_id)
}

/** The index on sample ids starts with the laboratory: this is the only query on orders across all teams. */
async function teamsOfSample(db: Queries, lab_id: number, { sample_id, patient }: IncomingResult) {
  if (!sample_id) return []
  const rows = await db.many(
    OfSample,
    sql`
    select o.team_id, o.document from lab_order o join team on team.id = o.team_id and team.deleted_at is null
    where o.sample_id = ${sample_id} and o.lab_id = ${lab_id} and o.team_id = team.id limit 1000`,
  )
  return rows.map(({ team_id, document }) => ({
    team_id,
    knowsPatient: comparePatients(patient, (JSON.parse(document) as Order).patient_details) === 'same',
  }))
}
