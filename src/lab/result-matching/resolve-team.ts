// Finds the team of a result that names no team. A result is health data: a team sees it only if it certainly belongs to that team. All
// other results are left to the operator. Only reads.
import type { Queries } from '../../platform/db/transaction.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import type { Order } from '../orders/schema.ts'
import { badRequest } from '../../platform/http/errors.ts'
import type { LinkDelivery } from './incoming-result.ts'
import { sampleIdsOf } from './matching-orders.ts'
import { hasNumber } from './order-numbers.ts'
import { comparePatients } from './patient-comparison.ts'

const Team = T.Object({ team_id: T.String() })
const OfSample = T.Object({ team_id: T.String(), document: T.String() })
const LinkAccount = T.Object({ id: T.String(), org_id: Nullable(T.String()), number: T.String() })

/** The lab account of a link. `org_id` is null for the account of the platform, which every team may use. */
export type LinkAccount = Static<typeof LinkAccount>

/** Reads the account of a link. Errors: 400 it is unknown or of another laboratory. */
export async function findLinkAccount(db: Queries, lab_id: number, id: string): Promise<LinkAccount> {
  const account = await db.maybe(
    LinkAccount,
    sql`select id, org_id, provider_account_id as number from lab_account where id = ${id} and lab_id = ${lab_id}`,
  )
  if (!account) throw badRequest('Lab account not found')
  return account
}

/**
 * The team of an incoming result; undefined if it is not certain. Over the link of an organization's account it is a team of the account:
 * the only one, or the only one that knows the sample id. Over the platform's link it is in the same way a team of the reported account, or
 * without such teams the only team that knows both the sample id and the patient.
 */
export async function resolveTeam(
  db: Queries,
  lab_id: number,
  account: LinkAccount,
  delivery: LinkDelivery,
): Promise<string | undefined> {
  const isOfPlatform = account.org_id === null
  const { account_number } = delivery
  if (!isOfPlatform && account_number !== null && account_number !== account.number) return undefined
  const linked = await teamsOfAccounts(
    db,
    isOfPlatform ? sql`a.lab_id = ${lab_id} and a.provider_account_id = ${account_number}` : sql`a.id = ${account.id}`,
  )
  const knowing = await teamsOfSample(db, lab_id, delivery)
  if (linked.length === 0 && isOfPlatform)
    return onlyOne(knowing.filter(({ knowsPatient }) => knowsPatient).map(({ team_id }) => team_id))
  const both = knowing.filter(({ team_id }) => linked.includes(team_id))
  if (both.length) return onlyOne(both.map(({ team_id }) => team_id))
  // If other teams know the sample id, the account of the message may be wrong.
  return knowing.length ? undefined : onlyOne(linked)
}

const onlyOne = (teams: string[]): string | undefined => (teams.length === 1 ? teams[0] : undefined)

async function teamsOfAccounts(db: Queries, condition: Sql): Promise<string[]> {
  const rows = await db.many(
    Team,
    sql`
    select distinct t.team_id from lab_account a
    join lab_account_team t on t.account_id = a.id join team on team.id = t.team_id and team.deleted_at is null
    where ${condition} limit 1000`,
  )
  return rows.map(({ team_id }) => team_id)
}

/** The teams that know the sample id, or another number of the message over its link. These are the only queries on orders across all teams. */
async function teamsOfSample(db: Queries, lab_id: number, delivery: LinkDelivery) {
  const { numbers, patient } = delivery
  const sampleIds = sampleIdsOf(delivery)
  const orders = async (condition: Sql) =>
    db.many(
      OfSample,
      sql`
      select o.team_id, o.document from lab_order o join team on team.id = o.team_id and team.deleted_at is null
      where ${condition} and o.lab_id = ${lab_id} and o.team_id = team.id limit 1000`,
    )
  const bySample = sampleIds.length ? await orders(sql`o.sample_id = any (${sampleIds}::text[])`) : []
  const rows =
    bySample.length || numbers.length === 0
      ? bySample
      : await orders(
          sql`(o.team_id, o.id) in (select n.team_id, n.order_id from lab_order_number n where ${hasNumber(delivery)})`,
        )
  const teams = new Map<string, boolean>()
  for (const { team_id, document } of rows) {
    const isPatient = comparePatients(patient, (JSON.parse(document) as Order).patient_details) === 'same'
    teams.set(team_id, isPatient || teams.get(team_id) === true)
  }
  return [...teams].map(([team_id, knowsPatient]) => ({ team_id, knowsPatient }))
}
