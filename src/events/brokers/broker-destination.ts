// Selects the brokers of each event, once, in the transaction that takes the outbox entries.
// Source: events.md 4.11 H6, 8.1.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { FindDeletedUsers, EventDestination, EventRef } from '../fan-out/destination.ts'

const SubscribedTeam = T.Object({ team_id: T.String(), svix: T.Boolean() })
const Match = T.Object({ team_id: T.String(), event_id: T.String(), user_id: Nullable(T.String()), destination: T.String() })

/**
 * Fan-out to brokers. Writes pipeline_delivery. Raw events of providers and historical events go only to pipelines that request
 * them. Events of teams whose pipelines do not enable `svix` are not left for endpoints.
 * @param queued called after the commit if events were queued
 */
export const brokerDestination = (findDeletedUsers: FindDeletedUsers, queued: () => void): EventDestination => ({
  async queue(tx, events) {
    const teams = [...new Set(events.map(({ team_id }) => team_id))]
    const subscribed = await tx.many(
      SubscribedTeam,
      sql`select team_id, 'svix' = any (enabled) as svix from pipeline where team_id = any (${teams}::uuid[])`,
    )
    if (subscribed.length === 0) return events
    const has = new Set(subscribed.map(({ team_id }) => team_id))
    const queues = await queueForBrokers(
      tx,
      events.filter(({ team_id }) => has.has(team_id)),
      findDeletedUsers,
    )
    if (queues) tx.afterCommit(queued)
    const alone = new Set(subscribed.filter(({ svix }) => !svix).map(({ team_id }) => team_id))
    return events.filter(({ team_id }) => !alone.has(team_id))
  },
})

/** @returns whether events were queued */
async function queueForBrokers(tx: PlainTx, events: EventRef[], findDeletedUsers: FindDeletedUsers): Promise<boolean> {
  const matches = await tx.many(
    Match,
    sql`
    select e.team_id, e.id as event_id, e.user_id, l.destination
    from unnest(${events.map((e) => e.team_id)}::uuid[], ${events.map((e) => e.event_id)}::uuid[]) with ordinality as given (team_id, id, n)
    join pipeline p on p.team_id = given.team_id
    join pipeline_queue l on l.team_id = p.team_id
    join event e on e.team_id = given.team_id and e.id = given.id
    where (p.push_historical_data or not e.historical) and (p.provider_raw_data or not starts_with(e.type, 'raw.'))
      and (cardinality(coalesce(p.event_type_prefixes, '{}')) = 0
           or exists (select from unnest(p.event_type_prefixes) prefix where starts_with(e.type, prefix)))
    order by given.n, l.destination`,
  )
  if (matches.length === 0) return false
  const deleted = await findDeletedUsers(tx, matches)
  const sendableMatches = matches.filter(({ user_id }) => user_id === null || !deleted.has(user_id))
  // The queue of a broker may have been deleted meanwhile.
  await tx.run(sql`
    insert into pipeline_delivery (team_id, destination, event_id, user_id, due_at, created_at)
    select l.team_id, l.destination, given.event_id, given.user_id, ${dbNow}, ${dbNow}
    from unnest(${sendableMatches.map((m) => m.team_id)}::uuid[], ${sendableMatches.map((m) => m.destination)}::text[],
                ${sendableMatches.map((m) => m.event_id)}::uuid[], ${sendableMatches.map((m) => m.user_id)}::uuid[])
         with ordinality as given (team_id, destination, event_id, user_id, n)
    join (select team_id, destination from pipeline_queue where team_id = any (${sendableMatches.map((m) => m.team_id)}::uuid[]) for key share) l
      on l.team_id = given.team_id and l.destination = given.destination
    order by given.n
    on conflict (team_id, event_id, destination) do nothing`)
  return true
}
