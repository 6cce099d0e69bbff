// Stored nights of one provider around a time, for sessions that arrive in parts.
import type { Tx } from '../../platform/db/transaction.ts'
import { sql } from '../../platform/db/sql.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import type { SourceType } from '../resources/timeseries.ts'
import type { Document } from './schema.ts'

const StoredNight = T.Object({
  key: T.String(),
  calendar_date: T.String(),
  source_type: T.Unsafe<SourceType>({ type: 'string' }),
  app_id: Nullable(T.String()),
  manufacturer: Nullable(T.String()),
  model: Nullable(T.String()),
  joined_keys: Nullable(T.Array(T.String())),
  heart_rate_maximum: Nullable(T.Number()),
  document: T.Unsafe<Document<'sleep'>>({ type: 'object' }),
  stages: Nullable(T.Unsafe<Document<'sleep_cycle'>>({ type: 'object' })),
})
/** A night with its stages, and the device that recorded it. */
export type StoredNight = Static<typeof StoredNight>

/** Nights read at once: those of three years. */
const NIGHTS_MAX = 2000

/** The nights of a provider that end on some local days, both included, the first first; at most 2,000. */
export const nightsBetween = (
  tx: Tx,
  { user_id, provider }: { user_id: string; provider: string },
  [from, to]: [from: string, to: string],
): Promise<StoredNight[]> =>
  tx.many(
    StoredNight,
    sql`
    select s.key, s.calendar_date::text, s.source_type, s.app_id, d.manufacturer, d.model, s.joined_keys, s.document, c.document as stages,
      (s.query_values ->> 'heart_rate_maximum')::double precision as heart_rate_maximum
    from summary s
    left join device d on d.team_id = s.team_id and d.user_id = s.user_id and d.id = s.device_id
    left join summary c on c.team_id = s.team_id and c.user_id = s.user_id and c.kind = 'sleep_cycle' and c.provider = s.provider and c.key = s.key
    where s.team_id = ${tx.team} and s.user_id = ${user_id} and s.kind = 'sleep' and s.provider = ${provider}
      and s.calendar_date between ${from}::date and ${to}::date
    order by s.calendar_date, s.key limit ${NIGHTS_MAX}`,
  )

/** Records of which sessions nights were joined. Writes summary. */
export const saveJoinedKeys = (
  tx: Tx,
  { user_id, provider }: { user_id: string; provider: string },
  nights: { key: string; joined_keys: string[] }[],
): Promise<number> =>
  tx.run(sql`
    update summary s set joined_keys = nullif(g.joined_keys, '{}')
    from jsonb_to_recordset(${JSON.stringify(nights)}::jsonb) as g (key text, joined_keys text[])
    where s.team_id = ${tx.team} and s.user_id = ${user_id} and s.kind = 'sleep' and s.provider = ${provider} and s.key = g.key
      and s.joined_keys is distinct from nullif(g.joined_keys, '{}')`)
