// Erasing the appointments of a deleted user or team, when the grace is over; before the orders go.
import { inTurn } from '../../platform/db/erasure.ts'
import { handle } from '../../platform/queue/outbox.ts'
import { sql } from '../../platform/db/sql.ts'
import { eraseUser, isDoomed } from '../../people/users/users.ts'

export const eraseAppointmentsHandler = handle(eraseUser, async (context, { user_id }) => {
  await context.tx(async (tx) => {
    if (!(await isDoomed(tx, user_id))) return
    await tx.run(sql`
      delete from appointment
      where team_id = ${tx.team} and order_id in (select id from lab_order where user_id = ${user_id} and team_id = ${tx.team})`)
  })
})

/** The appointments of a deleted team. */
export const eraseTeamAppointments = inTurn(
  (team, max) =>
    sql`delete from appointment where id = any (array(select id from appointment where team_id = ${team} limit ${max}))`,
)
