// Deliveries of fresh events: each has a row before it is sent, and its outcome is recorded there.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, arrayLiteral, textArrayLiteral } from '../../platform/db/sql.ts'
import { Nullable, T } from '../../platform/schema/schema.ts'
import { expire, createTestTeam } from '../../../test/support/server.ts'
import { delivering, endpoint, receiver, deliveryStates, emitEvents } from '../../../test/support/webhook-receiver.ts'
import type { DeliveryOptions } from './delivery-worker.ts'
import { deletedDestinationsCleanup } from './deleted-destinations.ts'
import { eventually } from '../../../test/support/eventually.ts'

/** A worker that delivers to a receiver whose responses the test releases. */
async function createBlockedDelivery(changes: Partial<DeliveryOptions> = {}) {
  const team = await createTestTeam()
  const answers: (() => void)[] = []
  const target = await receiver((_received, response) => void answers.push(() => response.end()))
  const hook = await endpoint(team, { url: target.url })
  const delivery = delivering({ attempt_ms_max: 15_000, ...changes })
  delivery.start()
  return { team, answers, target, hook, delivery }
}

test('a message is listed as pending while its receiver takes long to answer, and as delivered after that', async () => {
  const { team, answers, target, hook, delivery } = await createBlockedDelivery()
  await emitEvents(team)
  const states = async (): Promise<string[]> =>
    (await team.manage.get(`${hook.path}/message`)).body.data.map(({ state }: { state: string }) => state)
  await eventually(async () => (await states()).length, 'the message is listed')
  assert.deepEqual(await states(), ['pending'])
  assert.equal(answers.length, 1)
  answers[0]!()
  await eventually(async () => (await states())[0] !== 'pending', 'the message is delivered')
  assert.deepEqual(await deliveryStates(team, hook.id), { 'delivered after 1': 1 })
  await delivery.stop()
  assert.equal(target.received.length, 1)
})

test('a message that is sent again before its first attempt is answered is one delivery with two attempts', async () => {
  const { team, answers, target, hook, delivery } = await createBlockedDelivery()
  await emitEvents(team, ['labtest.order.created', 'labtest.order.updated'], { objects: 'each' })
  await eventually(() => answers.length >= 2, 'both messages are attempted')
  const id = target.received[0]!.headers['webhook-id'] as string
  assert.equal((await team.manage.post(`${hook.path}/message/${id}/resend`)).status, 200)
  for (const answer of answers.splice(0)) answer()
  // The next delivery for the same object leaves when the attempt before it has been answered.
  await eventually(() => answers.length >= 1, 'the next message of the object is attempted')
  answers[0]!()
  const attempts = async () => (await team.manage.get(`${hook.path}/message/${id}/attempt`)).body.data.length
  await eventually(async () => (await attempts()) >= 2, 'the second attempt is listed')
  await delivery.stop()
  assert.equal(await attempts(), 2)
  assert.deepEqual(await deliveryStates(team, hook.id), { 'delivered after 1': 2 })
})

test('two attempts of a message that was sent again are recorded together as one delivery, which is not sent a third time', async () => {
  // Outcomes are written when the worker stops.
  const { team, answers, target, hook, delivery } = await createBlockedDelivery({ gather_ms: 0 })
  const { id: other } = await endpoint(team, { url: target.url, disabled: true })
  // So many that PostgreSQL looks each one up by its key: which of two attempts it takes first depends on that.
  await team.db.queries.run(sql`
    insert into delivery (team_id, destination_id, message_id, state, trigger, created_at)
    select ${team.team}, ${other}, gen_random_uuid(), 'delivered', 'scheduled', now() from generate_series(1, 3000)`)
  await emitEvents(team)
  await eventually(() => answers.length === 1, 'the message is attempted')
  const id = target.received[0]!.headers['webhook-id'] as string
  assert.equal((await team.manage.post(`${hook.path}/message/${id}/resend`)).status, 200)
  answers[0]!()
  await eventually(() => answers.length === 2, 'the message is attempted again')
  answers[1]!()
  await delivery.stop()
  assert.deepEqual(await deliveryStates(team, hook.id), { 'delivered after 1': 1 })
  const { data } = (await team.manage.get(`${hook.path}/message/${id}/attempt`)).body
  assert.deepEqual(data.map(({ trigger }: { trigger: string }) => trigger).toSorted(), ['manual', 'scheduled'])
  assert.equal(await team.db.queries.run(sql`select 1 from delivery where team_id = ${team.team} and due_at is not null`), 0)
})

test('an attempt that fails after its endpoint was disabled is not retried', async () => {
  const team = await createTestTeam()
  const target = await receiver((_received, response) => {
    void team.manage.patch(hook.path, { disabled: true }).then(() => response.writeHead(500).end())
  })
  const hook = await endpoint(team, { url: target.url })
  await emitEvents(team)
  await delivering({ attempt_ms_max: 5000 }).drain()
  assert.deepEqual(await deliveryStates(team, hook.id), { 'stopped after 1': 1 })
  assert.equal(target.received.length, 1)
})

test('deliveries behind a failed one return to the queue and arrive in the order of their events', async () => {
  const team = await createTestTeam()
  let asked = 0
  const target = await receiver((_received, response) => response.writeHead(++asked === 1 ? 500 : 200).end())
  const hook = await endpoint(team, { url: target.url })
  const types = ['labtest.order.created', ...Array<string>(30).fill('labtest.order.updated')]
  await emitEvents(team, types)
  await emitEvents(team, Array<string>(30).fill('labtest.order.updated'), { objects: 'each' })
  await delivering({ attempt_ms_max: 15_000 }).drain()
  assert.deepEqual(await deliveryStates(team, hook.id), { 'delivered after 1': 60, 'delivered after 2': 1 })
  const { rows } = await team.db.pool.query<{ id: string }>(
    `select 'msg_' || replace(id::text, '-', '') as id from event where team_id = $1 and type = 'labtest.order.updated' and object_id =
       (select object_id from event where team_id = $1 and type = 'labtest.order.created') order by id`,
    [team.team],
  )
  const known = new Set(rows.map(({ id }) => id))
  const arrived = target.received.map(({ headers }) => String(headers['webhook-id'])).filter((id) => known.has(id))
  assert.deepEqual(
    arrived,
    rows.map(({ id }) => id),
  )
})

test('a connection that its receiver closes at the moment it is used again costs no attempt', async () => {
  const team = await createTestTeam()
  const asked = new WeakMap<object, number>()
  const target = await receiver((_received, response, { socket }) => {
    const times = (asked.get(socket) ?? 0) + 1
    asked.set(socket, times)
    if (times > 1) socket.destroy()
    else response.end('thanks')
  })
  const hook = await endpoint(team, { url: target.url })
  const delivery = delivering()
  for (let i = 0; i < 3; i++) {
    await emitEvents(team)
    await delivery.drain()
  }
  assert.deepEqual(await deliveryStates(team, hook.id), { 'delivered after 1': 3 })
  assert.equal(target.received.length, 5)
})

test('deliveries and their attempts are deleted with their endpoint', async () => {
  const team = await createTestTeam()
  let status = 500
  const target = await receiver((_received, response) => response.writeHead(status).end())
  const hook = await endpoint(team, { url: target.url })
  const other = await endpoint(team, { url: target.url })
  const delivery = delivering({ schedule_s: [0] })
  await emitEvents(team)
  await delivery.drain()
  status = 200
  await emitEvents(team)
  await delivery.drain()
  const count = async (table: string) =>
    (await team.db.pool.query(`select 1 from ${table} where team_id = $1`, [team.team])).rowCount
  assert.deepEqual([await count('delivery'), await count('delivery_attempt')], [4, 2])
  await team.manage.delete(hook.path)
  await expire(team.db, deletedDestinationsCleanup)
  assert.deepEqual([await count('delivery'), await count('delivery_attempt')], [2, 1])
  assert.deepEqual(await deliveryStates(team, other.id), { 'failed after 1': 1, 'delivered after 1': 1 })
})

test('array literals are read back as they were written', async () => {
  const { db } = await createTestTeam()
  const texts = ['', 'NULL', null, 'a,b', '{x}', 'say "no"', 'back\\slash', '\\"', ' edge ', 'línea\nnueva', '💉']
  const { read } = await db.queries.one(
    T.Object({ read: T.Array(Nullable(T.String())) }),
    sql`select to_json(${textArrayLiteral(texts)}::text[]) as read`,
  )
  assert.deepEqual(read, texts)
  const numbers = [0, -7, 1.5, 1_790_000_000.123]
  const { back } = await db.queries.one(
    T.Object({ back: T.Array(T.Number()) }),
    sql`select to_json(${arrayLiteral(numbers)}::float8[]) as back`,
  )
  assert.deepEqual(back, numbers)
})
