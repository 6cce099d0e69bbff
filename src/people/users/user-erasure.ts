// The end of a deleted user: after the grace period each module erases its rows, and the user's row is the last.
import { addSeconds } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { countRows } from '../../platform/db/list-counts.ts'
import { sql } from '../../platform/db/sql.ts'
import { eraseStoredResponses } from '../../platform/http/idempotency.ts'
import { eraseEvents, defineHandler, defineJob, type Handler } from '../../platform/queue/outbox.ts'
import { T } from '../../platform/schema/schema.ts'

/** Grace period: a deletion can be undone for this long; then the data is erased. Source: interface.md, Limits. */
export const GRACE_S = 7 * 86_400

/**
 * Erases a deleted user. Modules above erase their data of the user first. The job is retried without a limit, because the erasure was
 * promised.
 */
export const eraseUser = defineJob('users.erase', T.Object({ user_id: T.String() }), { attempts_max: Infinity, timeout_s: 300 })

const ErasureDueRow = T.Object({ n: T.Integer() })

/** Whether a user is to be erased now: deleted, not restored, and the grace period is over. */
async function isErasureDue(tx: Tx, user_id: string): Promise<boolean> {
  const { n } = await tx.one(
    ErasureDueRow,
    sql`
    select count(*) as n from "user"
    where id = ${user_id} and team_id = ${tx.team} and deleted_at <= ${addSeconds(tx.now, -GRACE_S)}`,
  )
  return n > 0
}

/** Creates the handler that erases one module's rows when users.erase runs: in a transaction of its own, unless the user was restored. */
export const eraseHandler = (erase: (tx: Tx, user_id: string) => Promise<unknown>): Handler =>
  defineHandler(eraseUser, (context, { user_id }) =>
    context.tx(async (tx) => {
      if (await isErasureDue(tx, user_id)) await erase(tx, user_id)
    }),
  )

/** Erases the last rows of a deleted user: the events about the user, the stored responses, then the user. */
export async function eraseUserRows(tx: Tx, user_id: string): Promise<void> {
  await eraseEvents(tx, user_id)
  await eraseStoredResponses(tx, user_id)
  const erased = await tx.run(sql`delete from "user" where id = ${user_id} and team_id = ${tx.team}`)
  if (erased) countRows(tx, 'users', -erased)
}
