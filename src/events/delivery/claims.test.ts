// How many waiting deliveries a process claims at once, and in which order.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../platform/db/sql.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import { endpoint, emitEvents } from '../../../test/support/webhook-receiver.ts'
import { claimDue } from './delivery-rows.ts'
import { DestinationLeases } from './leases.ts'
import { resent } from './delivery-rows.ts'

/** A team's endpoint with a number of waiting events. */
async function createBacklog(count: number, body: Record<string, unknown> = {}) {
  const team = await createTestTeam()
  const hook = await endpoint(team, { url: 'http://127.0.0.1:9/', ...body })
  await emitEvents(team, Array<string>(count).fill('labtest.order.created'), { objects: 'each' })
  await team.db.queries.run(sql`
    insert into delivery (team_id, destination_id, message_id, state, due_at, trigger, created_at)
    select team_id, ${hook.id}, id, 'pending', created_at, 'scheduled', created_at from event where team_id = ${team.team} order by id`)
  return { team, hook }
}

/** The number of deliveries claimed for an endpoint with this capacity, by a process that claims ten for an unknown endpoint. */
const countClaimed = async (scene: Awaited<ReturnType<typeof createBacklog>>, room?: number): Promise<number> =>
  (await claimedInOrder(scene, room)).length

async function claimedInOrder({ team, hook }: Awaited<ReturnType<typeof createBacklog>>, room?: number): Promise<string[]> {
  const destinations = new Map(room === undefined ? [] : [[hook.id, room]])
  const rows = await claimDue(team.db, new DestinationLeases(team.db), { total: 200, others_max: 10, destinations })
  return rows.filter(({ destination_id }) => destination_id === hook.id).map(({ message_id }) => message_id)
}

test('claims up to the known capacity of an endpoint', async () => {
  assert.equal(await countClaimed(await createBacklog(40), 30), 30)
})

test('claims ten deliveries for an unknown endpoint', async () => {
  assert.equal(await countClaimed(await createBacklog(12)), 10)
})

test('never claims more than the rate limit', async () => {
  assert.equal(await countClaimed(await createBacklog(12, { rate_limit: 3 }), 30), 3)
  assert.equal(await countClaimed(await createBacklog(12, { rate_limit: 3 })), 3)
  assert.equal(await countClaimed(await createBacklog(12, { rate_limit: 50 })), 10)
})

test('deliveries due at the same instant are claimed in the order in which they were queued, not in that of the events', async () => {
  const { team, hook } = await createBacklog(5)
  await team.db.queries.run(sql`
    update delivery d set due_at = created.first, queue_position = -nth
    from (select message_id, min(created_at) over () as first, row_number() over (order by message_id) as nth
          from delivery where destination_id = ${hook.id}) created
    where d.destination_id = ${hook.id} and d.message_id = created.message_id`)
  const ids = await claimedInOrder({ team, hook })
  assert.equal(ids.length, 5)
  assert.deepEqual(ids, ids.toSorted().reverse())
})

test('bulk resends keep message order', async () => {
  const { team, hook } = await createBacklog(5)
  await team.db.queries.run(sql`
    update delivery set queue_position = 1
    where destination_id = ${hook.id} and message_id = (select message_id from delivery where destination_id = ${hook.id} order by message_id desc limit 1)`)
  await team.db.queries.run(sql`update delivery set ${resent} where destination_id = ${hook.id}`)
  const ids = await claimedInOrder({ team, hook })
  assert.equal(ids.length, 5)
  assert.deepEqual(ids, ids.toSorted())
})

test('a new owner of a destination that keeps order claims the deliveries of a killed owner in order', async () => {
  const { team, hook } = await createBacklog(12)
  await team.db.queries.run(sql`update destination set keeps_order = true where id = ${hook.id}`)
  await team.db.queries.run(sql`update delivery set order_key = gen_random_uuid() where destination_id = ${hook.id}`)
  const first = await claimedInOrder({ team, hook }, 5)
  assert.equal(first.length, 5)
  await team.db.queries.run(sql`update destination set leased_until = now() - interval '1 second' where id = ${hook.id}`)
  const next = { total: 200, others_max: 10, destinations: new Map([[hook.id, 12]]) }
  const leases = new DestinationLeases(team.db)
  const claimedByNew = async () =>
    (await claimDue(team.db, leases, next))
      .filter(({ destination_id }) => destination_id === hook.id)
      .map(({ message_id }) => message_id)
  assert.deepEqual(await claimedByNew(), [])
  const all = await claimedByNew()
  assert.equal(all.length, 12)
  assert.deepEqual(all.slice(0, 5), first)
})
