// The end of events that expire (outbox.ts). Their bodies end first. An event whose body is gone is still listed, with its deliveries, and says
// so; it is not sent again.
import { setTimeout as sleep } from 'node:timers/promises'
import { dbNow, dbNowPlus } from '../db/leases.ts'
import { DAY_S } from '../runtime/durations.ts'
import { T } from '../schema/schema.ts'
import { sql, type Sql } from '../db/sql.ts'
import { ageInSeconds, cleanup, type Cleanup } from './retention.ts'

/** Rows that one transaction deletes. */
const ROWS_MAX = 1000

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
    const { deleted } = await db.plainTx((tx) =>
      tx.one(
        Deleted,
        sql`
        with deleted as (
          delete from event where ctid = any (array(
            select e.ctid from event e where e.expires_at < ${dbNow}
            order by e.expires_at limit ${ROWS_MAX} for update skip locked))
          returning team_id, id
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
  const overdue = sql`from event_body b where b.retained_from < ${dbNowPlus(-retention_s)}`
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
        const { deleted, postponed } = await db.plainTx((tx) =>
          tx.one(
            Handled,
            sql`
          with due as materialized (
            select b.ctid as place, b.team_id, b.event_id ${overdue}
            order by b.retained_from limit ${ROWS_MAX} for update of b skip locked
          ), waiting as materialized (
            select due.place, e.expires_at from due
            join event e on e.team_id = due.team_id and e.id = due.event_id and e.expires_at > ${dbNow}
            where ${isWaiting}
          ), postponed as (
            update event_body b set retained_from = waiting.expires_at - make_interval(secs => ${retention_s})
            from waiting where b.ctid = waiting.place returning 1
          ), deleted as (
            delete from event_body b using due where b.ctid = due.place and due.place not in (select place from waiting) returning 1
          )
          select (select count(*) from deleted) as deleted, (select count(*) from postponed) as postponed`,
          ),
        )
        if (deleted > 0 || postponed === 0 || isStopped()) return deleted
        await sleep(performance.now() - began)
      }
    },
  }
}
