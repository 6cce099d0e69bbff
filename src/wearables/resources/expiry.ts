// Data of some users of a team that has expired: what the modules that own its tables delete.
import type { Sql } from '../../platform/db/sql.ts'

export interface Expiry {
  team_id: string
  user_ids: readonly string[]
  /** An expression: the instant that it is for the team. */
  now: Sql
  /** An expression: the days that data of a resource and a provider is kept, null if for ever; of a null provider, by the team's rules alone. */
  days: (resource: Sql, provider: Sql) => Sql
  /** Providers that the operator has set limits for. */
  limited: readonly string[]
  /** Rows that one statement deletes. */
  rows_max: number
}
