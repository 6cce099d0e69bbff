// Grants of teams that were deleted: their jobs do not run any more, so that a periodic task revokes the grants until the team is erased.
// Source: users-wearables.md 4 C5; management-auth.md 7.
import type { Cells } from '../../platform/db/cells.ts'
import type { Db } from '../../platform/db/database.ts'
import { dbNow, dbNowPlus } from '../../platform/db/leases.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Tenant } from '../../platform/db/transaction.ts'
import { ageInSeconds, type Cleanup } from '../../platform/queue/retention.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { VendorError } from '../connectors/connector.ts'
import type { VendorAccess } from './access.ts'
import { revokeAtVendor } from './revocation.ts'

/** Grants that are revoked at the same time. */
const GRANTS_MAX = 10
/** A grant whose vendor does not answer, or whose process was killed, is tried again after this. */
const LEASE_S = 3600
const TEAMS_MAX = 100

const Team = T.Object({ team: T.String(), org: T.String(), clock_offset_s: T.Integer(), age_s: T.Number() })
type Team = Static<typeof Team>
const Id = T.Object({ id: T.String() })

/** Teams that were deleted, in the cell and on the control plane, and have grants that can be tried now. */
async function teamsWithGrants(db: Db, control: Db): Promise<Team[]> {
  const inCell = await db.queries.many(
    Team,
    sql`
    select t.id as team, t.org_id as org, t.clock_offset_s, ${ageInSeconds(sql`t.deleted_at`)} as age_s from team t
    where t.deleted_at is not null and t.id in (
      select g.team_id from provider_grant g where g.refreshing_until is null or g.refreshing_until <= ${dbNow})
    order by t.deleted_at, t.id limit ${TEAMS_MAX}`,
  )
  if (inCell.length === 0) return []
  const known = await control.queries.many(
    Id,
    sql`select id from team where id = any (${inCell.map(({ team }) => team)}::uuid[]) and deleted_at is not null`,
  )
  return inCell.filter(({ team }) => known.some(({ id }) => id === team))
}

/** Ends the grants of a team and takes some of them under a lease, which others skip. Writes provider_grant. */
const claimGrants = (db: Db, tenant: Tenant): Promise<string[]> =>
  db.tx(tenant, async (tx) => {
    const rows = await tx.many(
      Id,
      sql`
      update provider_grant set ended_at = coalesce(ended_at, ${tx.now}), refresh_owner = null, refreshing_until = ${dbNowPlus(LEASE_S)}
      where team_id = ${tx.team} and id in (
        select id from provider_grant
        where team_id = ${tx.team} and (refreshing_until is null or refreshing_until <= ${dbNow})
        order by id limit ${GRANTS_MAX} for update skip locked)
      returning id`,
    )
    return rows.map(({ id }) => id)
  })

/**
 * Revokes grants of one deleted team, some at a time. Writes provider_grant.
 * @returns how many were tried: a vendor that does not answer is asked again after an hour
 */
async function revokeSome(access: VendorAccess & { cells: Cells }, db: Db, control: Db): Promise<number> {
  const [first] = await teamsWithGrants(db, control)
  if (!first) return 0
  const { team, org, clock_offset_s } = first
  const tenant: Tenant = { team, org, cell: access.cells.nameOf(db), clock_offset_s, settings: {} }
  const claimed = await claimGrants(db, tenant)
  const outcomes = await Promise.allSettled(claimed.map((id) => revokeAtVendor(access, tenant, id)))
  for (const outcome of outcomes)
    if (outcome.status === 'rejected' && !(outcome.reason instanceof VendorError)) throw outcome.reason
  return claimed.length
}

/** The periodic task. */
export const revocationForDeletedTeams = (access: VendorAccess): Cleanup => ({
  kind: 'grant_of_deleted_team',
  control: false,
  async overdueFor(db, control) {
    const [first] = await teamsWithGrants(db, control)
    return first?.age_s
  },
  remove: (db, control) => revokeSome(access, db, control),
})
