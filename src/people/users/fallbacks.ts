// The time zone and the birth date of a user that come from profiles of providers. Source: users-wearables.md 1.
import { sql } from '../../platform/db/sql.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { iso } from '../../platform/runtime/clock.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'

const Zone = T.Object({ zone: Nullable(T.String()) })

/** Where a user lives, by a name of the IANA database; null if that is unknown, or the user is. */
export const fallbackZone = async (tx: Tx, user_id: string): Promise<string | null> =>
  (
    await tx.maybe(
      Zone,
      sql`select fallback_time_zone ->> 'id' as zone from "user" where id = ${user_id} and team_id = ${tx.team} and deleted_at is null`,
    )
  )?.zone ?? null

/**
 * Takes the time zone and the birth date of a user from a provider's profile, unless they were set through the API. Writes "user". Emits
 * nothing. Source: users-wearables.md 1.
 */
export const adoptFallbacks = (
  tx: Tx,
  user_id: string,
  provider: string,
  { time_zone, birth_date }: { time_zone: string | null; birth_date: string | null },
): Promise<number> => {
  const text = (key: 'id' | 'value', value: string | null) =>
    value === null ? null : JSON.stringify({ [key]: value, source_slug: provider, updated_at: iso(tx.now) })
  return tx.run(sql`
    update "user" u
    set fallback_time_zone = case when g.has_zone then g.zone else u.fallback_time_zone end,
        fallback_birth_date = case when g.has_birth then g.birth else u.fallback_birth_date end
    from (select n.zone, n.birth,
                 n.zone is not null and coalesce(v.fallback_time_zone ->> 'source_slug', '') <> 'manual'
                   and v.fallback_time_zone ->> 'id' is distinct from n.zone ->> 'id' as has_zone,
                 n.birth is not null and coalesce(v.fallback_birth_date ->> 'source_slug', '') <> 'manual'
                   and v.fallback_birth_date ->> 'value' is distinct from n.birth ->> 'value' as has_birth
          from (select ${text('id', time_zone)}::jsonb as zone, ${text('value', birth_date)}::jsonb as birth) n, "user" v
          where v.team_id = ${tx.team} and v.id = ${user_id}) g
    where u.team_id = ${tx.team} and u.id = ${user_id} and (g.has_zone or g.has_birth)`)
}

/**
 * Forgets the time zone and the birth date that came from a provider's profile. Writes "user".
 * @returns whether a birth date was forgotten
 */
export async function forgetFallbacks(tx: Tx, user_id: string, provider: string): Promise<boolean> {
  const { had_birth_date } = await tx.locking.one(
    T.Object({ had_birth_date: T.Boolean() }),
    sql`
    update "user" u
    set fallback_time_zone = case when u.fallback_time_zone ->> 'source_slug' = ${provider} then null else u.fallback_time_zone end,
        fallback_birth_date = case when u.fallback_birth_date ->> 'source_slug' = ${provider} then null else u.fallback_birth_date end
    from (select coalesce(v.fallback_birth_date ->> 'source_slug' = ${provider}, false) as had_birth_date
          from "user" v where v.team_id = ${tx.team} and v.id = ${user_id}) b
    where u.team_id = ${tx.team} and u.id = ${user_id}
    returning b.had_birth_date`,
  )
  return had_birth_date
}
