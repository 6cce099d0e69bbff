// Erasing what laboratories sent about a deleted user or for a deleted team, when the grace is over; before the orders go.
import { inTurn } from '../platform/erasure.ts'
import { handle } from '../platform/outbox.ts'
import { sql } from '../platform/sql.ts'
import { eraseUser, isDoomed } from '../users/users.ts'

/** What can be of nobody but the user. Where others come into question the user's orders are gone from the choice. */
export const eraseRawResultsHandler = handle(eraseUser, async (context, { user_id }) => {
  await context.tx(async (tx) => {
    if (!(await isDoomed(tx, user_id))) return
    await tx.run(sql`delete from raw_result where user_ids = array[${user_id}::uuid] and team_id = ${tx.team}`)
  })
})

/** What was sent for a deleted team. */
export const eraseTeamRawResults = inTurn(
  (team, max) =>
    sql`delete from raw_result where id = any (array(select id from raw_result where team_id = ${team} limit ${max}))`,
)
