// Deletes health data whose retention has ended. Once a day the users of each team that has rules, and of every team if the operator has set
// limits for providers, are checked a hundred at a time. The clock is the team's.
import type { Cells } from '../../platform/db/cells.ts'
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx, Tx } from '../../platform/db/transaction.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { ageInSeconds, type Cleanup } from '../../platform/queue/retention.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { loadTenant } from '../../tenancy/teams/teams.ts'
import { forgetExpired } from '../ingestion/resource-states.ts'
import { dataDeleted, type DeletedData, type Expiry } from '../resources/expiry.ts'
import { deleteExpiredStreams } from '../streams/workout-streams.ts'
import { deleteExpiredSummaries } from '../summaries/summaries.ts'
import { deleteExpiredSamples } from '../timeseries/chunks.ts'
import type { ProviderLimits } from './retention-rules.ts'

export interface RetentionDependencies {
  cells: Cells
  /** By provider, in days. */
  provider_retention: ProviderLimits
}

const EVERY = sql`interval '1 day'`
/** When a team is tried again whose batch has failed or was interrupted. */
const LEASE = sql`interval '5 minutes'`
/** Users that one transaction checks. */
const USERS = 100
/** Rows of each table that one transaction deletes. A row of samples holds an hour. */
const ROWS_MAX = 2_000
/** Teams that one round takes up. */
const TEAMS_MAX = 100
/** No user comes before it. */
export const FIRST = '00000000-0000-0000-0000-000000000000'

const Oldest = T.Object({ age_s: Nullable(T.Number()) })
const Team = T.Object({ team_id: T.String(), after_user: Nullable(T.String()) })
const Candidate = T.Object({ team_id: T.String() })
const User = T.Object({ user_id: T.String() })
/** Teams that a worker tries to claim, one after another, before it waits for the next round. */
const CANDIDATES = 10

/** The periodic task. Writes chunk, summary, workout_stream, resource_state, data_retention_check, and what hooks write about deleted data. */
export const expiredDataCleanup = ({ cells, provider_retention: limits }: RetentionDependencies): Cleanup => ({
  kind: 'expired_health_data',
  control: false,
  async overdueFor(db) {
    const { age_s } = await db.queries.one(
      Oldest,
      sql`
      select ${ageInSeconds(sql`min(coalesce(c.next_at, ${dbNow}))`)} as age_s
      from team t left join data_retention_check c on c.team_id = t.id
      where ${hasRules(limits)} and coalesce(c.next_at, '-infinity') < ${dbNow}`,
    )
    return age_s ?? undefined
  },
  remove: (db) => removeBatch(cells, db, limits),
})

/** A condition on the team `t`: something of it may expire. */
const hasRules = (limits: ProviderLimits): Sql =>
  sql`t.deleted_at is null and ${limits.size ? sql`true` : sql`t.id in (select r.team_id from data_retention r)`}`

/**
 * Takes the team that has waited longest. It is due again when its lease ends, so that a team whose batches fail does not stop the others.
 */
async function claimTeam(tx: PlainTx, hasRules: Sql): Promise<Static<typeof Team> | undefined> {
  await tx.run(sql`
    insert into data_retention_check (team_id, next_at)
    select t.id, ${dbNow} - interval '1 second' from team t left join data_retention_check c on c.team_id = t.id
    where ${hasRules} and c.team_id is null order by t.id limit ${TEAMS_MAX}
    on conflict do nothing`)
  const candidates = await tx.many(
    Candidate,
    sql`
    select c.team_id from data_retention_check c join team t on t.id = c.team_id
    where c.next_at < ${dbNow} and ${hasRules} order by c.next_at limit ${CANDIDATES}`,
  )
  for (const { team_id } of candidates) {
    // Another worker may have claimed it meanwhile.
    const claimed = await tx.locking.maybe(
      Team,
      sql`
      update data_retention_check set next_at = ${dbNow} + ${LEASE}
      where team_id = ${team_id} and next_at < ${dbNow} returning team_id, after_user`,
    )
    if (claimed) return claimed
  }
  return undefined
}

/** @returns how many rows were deleted, or 1 if users were checked; 0 means that no team is due */
async function removeBatch(cells: Cells, db: Db, limits: ProviderLimits): Promise<number> {
  const claimed = await db.plainTx((tx) => claimTeam(tx, hasRules(limits)))
  if (!claimed) return 0
  const tenant = await loadTenant(cells, cells.nameOf(db), claimed.team_id)
  // A team that was deleted meanwhile is not claimed again.
  return tenant ? db.tx(tenant, (tx) => deleteExpired(tx, claimed, limits)) : 1
}

/** The ids of users of the team with health data, in their order. @param previous_id only users with greater ids */
export async function listUsersWithData(tx: Tx, previous_id: string, max: number): Promise<string[]> {
  const someOf = (table: Sql) => sql`
    (select distinct user_id from ${table} where team_id = ${tx.team} and user_id > ${previous_id}::uuid order by user_id limit ${max})`
  const users = await tx.many(
    User,
    sql`select user_id from (${someOf(sql`series`)} union ${someOf(sql`summary`)}) u order by user_id limit ${max}`,
  )
  return users.map(({ user_id }) => user_id)
}

interface ExpiryOptions {
  /** Rows of `resource` and `days`; a rule without a resource is for all others. */
  rules: Sql
  limits: ProviderLimits
  user_ids: readonly string[]
  rows_max: number
}

/** What has expired by rules and limits, at the present of the team's clock. */
export const createExpiry = (tx: Tx, { rules, limits, user_ids, rows_max }: ExpiryOptions): Expiry => ({
  team_id: tx.team,
  user_ids,
  now: sql`(${dbNow} + ${tx.tenant.clock_offset_s}::bigint * interval '1 second')`,
  rows_max,
  limited: [...limits.keys()],
  days: (resource, provider) => sql`
      least(coalesce((select r.days from ${rules} r where r.resource = ${resource}),
                     (select r.days from ${rules} r where r.resource is null)),
            (select l.days from unnest(${[...limits.keys()]}::text[], ${[...limits.values()]}::integer[]) as l (provider, days)
             where l.provider = ${provider}))`,
})

async function deleteExpired(tx: Tx, team: Static<typeof Team>, limits: ProviderLimits): Promise<number> {
  const { team_id } = team
  const user_ids = await listUsersWithData(tx, team.after_user ?? FIRST, USERS)
  if (!user_ids.length) {
    await tx.run(sql`
      update data_retention_check set next_at = ${dbNow} + ${EVERY}, after_user = null where team_id = ${team_id}`)
    return 1
  }
  const rules = sql`(select resource, days from data_retention where team_id = ${team_id})`
  const expiry = createExpiry(tx, { rules, limits, user_ids, rows_max: ROWS_MAX })
  const samples = await deleteExpiredSamples(tx, expiry)
  const summaries = await deleteExpiredSummaries(tx, expiry)
  const streams = await deleteExpiredStreams(tx, expiry)
  const deleted = [...samples, ...summaries]
  if (deleted.length) await tx.notify(dataDeleted, deleted)
  const isMore = [rowsOf(samples), rowsOf(summaries), streams].includes(ROWS_MAX)
  if (!isMore) await forgetExpired(tx, expiry)
  await tx.run(sql`
    update data_retention_check set next_at = ${dbNow}, after_user = ${isMore ? team.after_user : user_ids.at(-1)!}
    where team_id = ${team_id}`)
  return Math.max(1, rowsOf(deleted) + streams)
}

const rowsOf = (deletedData: readonly DeletedData[]): number => deletedData.reduce((sum, { rows }) => sum + rows, 0)
