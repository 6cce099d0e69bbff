// The end of events that expire (outbox.ts). Their bodies end first. An event whose body is gone is still listed, with its deliveries, and says
// so; it is not sent again.
import { setTimeout as sleep } from 'node:timers/promises'
import { dbNow, dbNowPlus } from '../db/leases.ts'
import { DAY_S } from '../runtime/durations.ts'
import { T } from '../schema/schema.ts'
import { sql, type Sql } from '../db/sql.ts'
import { ageInSeconds, cleanup, ROWS_MAX, upToBound, type Cleanup } from './retention.ts'

const Oldest = T.Object({ age_s: T.Number() })
const Deleted = T.Object({ deleted: T.Integer() })
const Handled = T.Object({ deleted: T.Integer(), postponed: T.Integer() })

/**
 * Deletes events 30 days after they were emitted, but not those of orders, results and reports, and what is left of their bodies: no body
 * outlives its event, by which it would be found when its user is erased. Deletes from event, event_body.
 */
export const eventCleanup: Cleanup = {
  ...cleanup({ table: 'event', column: 'expires_at' }),
  remove: async (db) => {
    const overdue = sql`from event e where e.expires_at < ${dbNow}`
    const { deleted } = await db.plainTx(async (tx) =>
      tx.one(
        Deleted,
        sql`
        with deleted as (
          delete ${overdue} ${await upToBound(tx, sql`e.expires_at`, overdue, ROWS_MAX)} returning e.team_id, e.id
        ), bodies as (
          delete from event_body b using deleted e where b.team_id = e.team_id and b.event_id = e.id
        )
        select count(*) as deleted from deleted`,
      ),
    )
    return deleted
  },
}

/**
 * Deletes bodies some days after their events, and those that are still to be sent together with their events. Each is looked at once or
 * twice, so that bodies that stay are not read again and again. Writes event_body.
 * @param isWaiting a condition: whether an event `e` is still to be sent
 */
export function bodyCleanup(days: number, isWaiting: Sql): Cleanup {
  const retention_s = days * DAY_S
  const isOverdue = sql`b.retained_from < ${dbNowPlus(-retention_s)}`
  const overdue = sql`from event_body b where ${isOverdue}`
  return {
    kind: 'event_body',
    control: false,
    async overdueFor(db) {
      const oldest = await db.queries.maybe(
        Oldest,
        sql`select ${ageInSeconds(sql`b.retained_from`)} as age_s ${overdue} order by b.retained_from limit 1`,
      )
      return oldest && oldest.age_s - retention_s
    },
    async remove(db, _control, isStopped) {
      for (;;) {
        const began = performance.now()
        const { deleted, postponed } = await db.plainTx(async (tx) => {
          const bound = await upToBound(tx, sql`b.retained_from`, overdue, ROWS_MAX)
          return tx.one(
            Handled,
            sql`
            with waiting as materialized (
              select b.team_id, b.event_id, e.expires_at - make_interval(secs => ${retention_s}) as retained_from
              from event_body b join event e on e.team_id = b.team_id and e.id = b.event_id and e.expires_at > ${dbNow}
              where ${isOverdue} ${bound} and ${isWaiting}
            ), postponed as (
              update event_body b set retained_from = waiting.retained_from
              from waiting where b.team_id = waiting.team_id and b.event_id = waiting.event_id returning 1
            ), deleted as (
              delete ${overdue} ${bound} and (b.team_id, b.event_id) not in (select team_id, event_id from waiting) returning 1
            )
            select (select count(*) from deleted) as deleted, (select count(*) from postponed) as postponed`,
          )
        })
        if (deleted > 0 || postponed === 0 || isStopped()) return deleted
        await sleep(performance.now() - began)
      }
    },
  }
}
