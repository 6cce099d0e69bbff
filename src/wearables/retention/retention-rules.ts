// How long teams keep health data. Owns the table data_retention. The operator's limits by provider are a setting.
import type { Tx } from '../../platform/db/transaction.ts'
import { lockTeams } from '../../tenancy/teams/teams.ts'
import { sql } from '../../platform/db/sql.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import type { Retained } from '../ingestion/ingest.ts'
import { resources, type Resource } from '../resources/resources.ts'
import type { DataRetention, Rules } from './schema.ts'

/** Days that data of a provider is kept at most. */
export type ProviderLimits = ReadonlyMap<string, number>

const Row = T.Object({ resource: Nullable(T.Unsafe<Resource>({ type: 'string' })), days: T.Integer() })

/** Shows the rules of a team, the general one first, and the operator's limits. */
export async function readRetention(tx: Tx, limits: ProviderLimits): Promise<DataRetention> {
  const rules = await tx.many(Row, sql`select resource, days from data_retention where team_id = ${tx.team}`)
  const place = ({ resource }: { resource: Resource | null }) => (resource === null ? -1 : resources.indexOf(resource))
  return {
    rules: rules.toSorted((a, b) => place(a) - place(b)),
    provider_limits: [...limits].map(([provider, days]) => ({ provider, days })),
  }
}

/**
 * Replaces the rules of a team. What has expired by them is deleted from now on, and is not stored any more when it arrives. Writes
 * data_retention, data_retention_check.
 */
export async function setRetention(tx: Tx, { rules }: Rules, limits: ProviderLimits): Promise<DataRetention> {
  // Two changes at the same time must not leave rules of both.
  await lockTeams(tx, [tx.team])
  await tx.run(sql`delete from data_retention where team_id = ${tx.team}`)
  await tx.run(sql`
    insert into data_retention (team_id, resource, days, updated_at)
    select ${tx.team}, g.resource, g.days, ${tx.now}
    from unnest(${rules.map(({ resource }) => resource)}::text[], ${rules.map(({ days }) => days)}::integer[]) as g (resource, days)
    on conflict on constraint data_retention__rule do update set days = excluded.days, updated_at = excluded.updated_at`)
  // Data that the former rules kept may have expired.
  await tx.run(sql`delete from data_retention_check where team_id = ${tx.team}`)
  return readRetention(tx, limits)
}

const Limit = T.Object({ days: T.Integer() })

/** Says how many days data that arrives is kept, at a hook of its ingestion. */
export const limitRetention =
  (limits: ProviderLimits) =>
  async (tx: Tx, retention: Retained): Promise<void> => {
    const rule = await tx.maybe(
      Limit,
      sql`
      select days from data_retention where team_id = ${tx.team} and (resource = ${retention.resource} or resource is null)
      order by resource nulls last limit 1`,
    )
    const all = [rule?.days, limits.get(retention.provider), retention.days].filter((days) => days !== undefined)
    if (all.length) retention.days = Math.min(...all)
  }
