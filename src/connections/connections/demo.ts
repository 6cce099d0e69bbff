// Demo connections have made-up data. A user has such connections only, or none. Source: users-wearables.md 2.4.
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { ConnectedProvider } from './schema.ts'

const Status = T.Object({ status: T.Unsafe<ConnectedProvider['status']>({ type: 'string' }), is_demo: T.Boolean() })

/** The status of a user's connection to a provider, and whether it is a demo; undefined without a connection. */
export const connectionTo = (tx: Tx, user_id: string, provider: string): Promise<Static<typeof Status> | undefined> =>
  tx.maybe(
    Status,
    sql`select status, is_demo from connection where team_id = ${tx.team} and user_id = ${user_id} and provider = ${provider}`,
  )

const Other = T.Object({ id: T.String() })

/** Whether a user has a connection of the other kind: one that is not a demo, next to a demo, or the reverse. */
export const hasOther = async (tx: Tx, user_id: string, is_demo: boolean): Promise<boolean> =>
  (await tx.maybe(
    Other,
    sql`select id from connection where team_id = ${tx.team} and user_id = ${user_id} and is_demo <> ${is_demo} limit 1`,
  )) !== undefined

/** 400: demo connections and others of one user exclude each other. */
export const mixedConnections = (is_demo: boolean) =>
  badRequest({
    error_type: 'INVALID_REQUEST',
    error_message: is_demo
      ? 'The user has a connection that is not a demo; connect another user to the demo'
      : 'The user has a demo connection, and its data is made up; use another user',
  })
