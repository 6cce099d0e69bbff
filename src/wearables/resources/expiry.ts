// Data of some users of a team that has expired: what the modules that own its tables delete.
import { hookPoint } from '../../platform/db/hooks.ts'
import type { Sql } from '../../platform/db/sql.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import type { Resource } from './resources.ts'

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

/** Rows of a resource of one user that were deleted, and between which instants, or days, their data lay. */
export const DeletedData = T.Object({
  user_id: T.String(),
  resource: T.Unsafe<Resource>({ type: 'string' }),
  from_ms: T.Integer(),
  to_ms: T.Integer(),
  rows: T.Integer(),
})
export type DeletedData = Static<typeof DeletedData>

/** Rows of a resource that have expired and are still there. */
export const ExpiredData = T.Omit(DeletedData, ['user_id'])
export type ExpiredData = Static<typeof ExpiredData>

/** Expired data of users of the team has been deleted, in this transaction. */
export const dataDeleted = hookPoint<[readonly DeletedData[]]>('data.deleted')
