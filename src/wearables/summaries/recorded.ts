// Summaries that are stored already, for data that reaches the server by two ways.
import type { Tx } from '../../platform/db/transaction.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { SummaryKind } from './schema.ts'

const Recorded = T.Object({
  key: T.String(),
  app_id: Nullable(T.String()),
  calendar_date: Nullable(T.String()),
  document: T.Record(T.String(), T.Unknown()),
})
export type RecordedSummary = Static<typeof Recorded>

/** The summaries of one kind that a user has of a provider, between two local days, both included; those without a day as well. */
export const recordedSummaries = (
  tx: Tx,
  { user_id, kind, provider }: { user_id: string; kind: SummaryKind; provider: string },
  [from, to]: [from: string, to: string],
): Promise<RecordedSummary[]> =>
  tx.many(
    Recorded,
    sql`
    select key, app_id, calendar_date::text, document from summary
    where team_id = ${tx.team} and user_id = ${user_id} and kind = ${kind} and provider = ${provider}
      and (calendar_date is null or calendar_date between ${from}::date and ${to}::date)`,
  )
