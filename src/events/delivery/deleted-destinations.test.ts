// Deleting an endpoint: it returns 404 at once, however large the log of its deliveries is, and the log is erased in batches.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eraseEvents } from '../../platform/queue/outbox.ts'
import { cells, expire, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { delivering, endpoint, receiver, deliveryStates, emitEvents } from '../../../test/support/webhook-receiver.ts'
import { deletedDestinationsCleanup } from './deleted-destinations.ts'
import { eraseTeamDeliveries } from './delivery-rows.ts'
import { eventually } from '../../../test/support/eventually.ts'

type Hook = Awaited<ReturnType<typeof endpoint>>

const ROWS = 30_000

/** Inserts a log of deliveries, the first of which have further attempts. */
async function log({ db, team }: TestTeam, { id }: Hook, rows: number, attempts = 0): Promise<void> {
  await db.pool.query(
    `insert into delivery (team_id, destination_id, message_id, state, attempts, trigger, created_at)
     select $1, $2, gen_random_uuid(), 'delivered', 1, 'scheduled', now() from generate_series(1, $3::int)`,
    [team, id, rows],
  )
  await db.pool.query(
    `insert into delivery_attempt (id, team_id, destination_id, message_id, trigger, at, duration_ms, response_body, succeeded, signature, custom_headers)
     select gen_random_uuid(), $1, $2, message_id, 'manual', now(), 1, '', false, '', '{}'
     from delivery where destination_id = $2 limit $3::int`,
    [team, id, attempts],
  )
}

const count = async ({ db }: TestTeam, table: string, { id }: Hook): Promise<number> =>
  (await db.pool.query(`select count(*)::int as n from ${table} where destination_id = $1`, [id])).rows[0].n

/** The number of rows of each erasing transaction, in order, by one process after the other. */
async function batches({ db }: TestTeam, times: number): Promise<number[]> {
  const sizes: number[] = []
  while (sizes.length < times) {
    if ((await deletedDestinationsCleanup.overdueFor(db, cells.control)) === undefined) break
    sizes.push(await deletedDestinationsCleanup.remove(db, cells.control, () => false))
  }
  return sizes
}

test('an endpoint is deleted at once, and its log of thirty thousand rows a thousand rows at a time', async () => {
  const team = await createTestTeam()
  const hook = await endpoint(team, { url: 'http://127.0.0.1:9/' })
  const other = await endpoint(team, { url: 'http://127.0.0.1:9/' })
  await expire(team.db, deletedDestinationsCleanup)
  await log(team, hook, ROWS, 2500)
  await log(team, other, 10, 10)
  assert.equal((await team.manage.delete(hook.path)).status, 204)
  assert.equal((await team.manage.get(hook.path)).status, 404)
  assert.equal((await team.manage.get(`${hook.path}/message`)).status, 404)
  // The request has not waited for the log: all of it still exists.
  assert.deepEqual([await count(team, 'delivery', hook), await count(team, 'delivery_attempt', hook)], [ROWS, 2500])
  const first = await batches(team, 5)
  assert.deepEqual(first, [1000, 1000, 500, 1000, 1000])
  assert.deepEqual([await count(team, 'delivery', hook), await count(team, 'delivery_attempt', hook)], [ROWS - 2000, 0])
  const rest = await batches(team, 100)
  assert.deepEqual([rest.length, Math.max(...rest)], [29, 1000])
  assert.deepEqual([await count(team, 'delivery', hook), await count(team, 'deleted_destination', hook)], [0, 0])
  assert.deepEqual([await count(team, 'delivery', other), await count(team, 'delivery_attempt', other)], [10, 10])
})

test('pending deliveries of an endpoint are not sent after its deletion', async () => {
  const team = await createTestTeam()
  const target = await receiver((_received, response) => response.writeHead(500).end())
  const hook = await endpoint(team, { url: target.url })
  await emitEvents(team, Array<string>(3).fill('labtest.order.created'), { objects: 'each' })
  await delivering({ schedule_s: [0, 3600] }).drain()
  assert.equal(target.received.length, 3)
  await team.manage.delete(hook.path)
  await team.db.pool.query('update delivery set due_at = created_at where destination_id = $1', [hook.id])
  await delivering().drain()
  assert.equal(target.received.length, 3)
})

test('erasing a user erases the deliveries to a deleted endpoint', async () => {
  const team = await createTestTeam()
  const target = await receiver()
  const hook = await endpoint(team, { url: target.url })
  const user = await emitEvents(team)
  await delivering().drain()
  await team.manage.delete(hook.path)
  assert.equal(await count(team, 'delivery', hook), 1)
  await team.db.tx(team.tenant, (tx) => eraseEvents(tx, user))
  assert.equal(await count(team, 'delivery', hook), 0)
})

test('erasing a team erases the rest of its deleted endpoints', async () => {
  const team = await createTestTeam()
  const [gone, there] = [
    await endpoint(team, { url: 'http://127.0.0.1:9/' }),
    await endpoint(team, { url: 'http://127.0.0.1:9/' }),
  ]
  await log(team, gone, 30, 10)
  await log(team, there, 30, 10)
  await team.manage.delete(gone.path)
  let left: number
  do left = await team.db.plainTx((tx) => eraseTeamDeliveries(tx, team.team, 20))
  while (left > 0)
  for (const hook of [gone, there])
    for (const table of ['delivery', 'delivery_attempt', 'deleted_destination'])
      assert.equal(await count(team, table, hook), 0, table)
})

test('a message that is sent again while its endpoint is being deleted leaves nothing behind', async () => {
  const team = await createTestTeam()
  const target = await receiver()
  const hook = await endpoint(team, { url: target.url, filter_types: ['labtest.order.updated'] })
  await emitEvents(team)
  const { data } = (await team.api.get('/v1/events')).body
  const message = `msg_${data[0].id.replaceAll('-', '')}`
  const client = await team.db.pool.connect()
  try {
    await client.query('begin')
    await client.query('delete from webhook where id = $1', [hook.id])
    const again = team.manage.post(`${hook.path}/message/${message}/resend`)
    const waits = async () =>
      (await team.db.pool.query("select 1 from pg_locks where not granted and locktype in ('transactionid', 'tuple')")).rowCount
    await eventually(waits, 'the message waits for the deletion')
    await client.query('commit')
    assert.equal((await again).status, 404)
  } finally {
    client.release()
  }
  assert.equal(await count(team, 'delivery', hook), 0)
  assert.deepEqual(await deliveryStates(team, hook.id), {})
})
