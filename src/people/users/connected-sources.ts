// What the user record shows of a user's connections. The connections themselves belong to a domain above.
import type { Tx } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { User } from './schema.ts'
import type { UserIdentity } from './users.ts'

const Locked = T.Object({ user_id: T.String(), client_user_id: T.String() })

/** Locks a user, so that one transaction at a time changes the user's connections. Returns undefined if the user is unknown or deleted. */
export const lockUser = (tx: Tx, user_id: string): Promise<UserIdentity | undefined> =>
  tx.locking.maybe(
    Locked,
    sql`
    select id as user_id, client_user_id from "user"
    where id = ${user_id} and team_id = ${tx.team} and deleted_at is null for no key update`,
  )

/** Stores the connections that the user record shows. Writes "user". */
export const saveConnectedSources = (tx: Tx, user_id: string, sources: User['connected_sources']): Promise<number> =>
  tx.run(sql`
    update "user" set connected_sources = ${JSON.stringify(sources)}::jsonb where id = ${user_id} and team_id = ${tx.team}`)
