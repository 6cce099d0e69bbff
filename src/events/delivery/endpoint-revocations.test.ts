// Deleting and disabling an endpoint: once the request returns, no attempt at it begins any more, whatever the delivering
// processes do.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { uuid } from '../../platform/runtime/uuid.ts'
import { expire, createTestTeam, targets, type TestTeam } from '../../../test/support/server.ts'
import { delivering, endpoint, receiver, deliveryStates, emitEvents } from '../../../test/support/webhook-receiver.ts'
import { DESTINATION_LEASE_S } from './leases.ts'
import { revokedLeaseCleanup } from './leases.ts'
import { Sender, type HttpResult } from './http-sender.ts'
import { eventually } from '../../../test/support/eventually.ts'

const EVENTS = 400

type Hook = Awaited<ReturnType<typeof endpoint>>

const move = async (team: TestTeam, hook: Hook, url: string) =>
  assert.equal((await team.manage.patch(hook.path, { url: `${url}?moved` })).status, 200)

const ways = {
  deleted: async (team: TestTeam, hook: Hook) => assert.equal((await team.manage.delete(hook.path)).status, 204),
  disabled: async (team: TestTeam, hook: Hook) =>
    assert.equal((await team.manage.patch(hook.path, { disabled: true })).status, 200),
  'moved to another address': (team: TestTeam, hook: Hook) => move(team, hook, 'http://127.0.0.1:9/'),
}

const countRevoked = async ({ db, team }: TestTeam): Promise<number> =>
  (await db.queries.one(T.Object({ n: T.Integer() }), sql`select count(*) as n from revoked_lease where team_id = ${team}`)).n

for (const [how, end] of Object.entries(ways))
  describe(`an endpoint that is ${how}`, () => {
    test('an endpoint that is no longer active receives no buffered deliveries', async () => {
      const team = await createTestTeam()
      const target = await receiver((_received, response) => void setTimeout(() => response.end(), 50))
      const hook = await endpoint(team, { url: target.url })
      const worker = delivering({ attempt_ms_max: 15_000 })
      worker.start()
      await emitEvents(team, Array<string>(EVENTS).fill('labtest.order.created'), { objects: 'each' })
      await eventually(() => target.received.length >= 3, 'nothing was delivered')
      await end(team, hook)
      const begun = target.received.length
      assert.ok(begun < EVENTS, 'everything was delivered before')
      assert.equal(await countRevoked(team), 0)
      // A delivery to another endpoint continues, and so shows that the process has had its time.
      const other = await receiver()
      await endpoint(team, { url: other.url })
      await emitEvents(team)
      await eventually(() => other.received.length === 1, 'another endpoint got nothing')
      await sleep(200)
      await worker.stop()
      assert.equal(target.received.length, begun)
      // Deliveries that are left are not attempted by later tests.
      await team.manage.delete(hook.path)
    })

    test('the request returns when the lease has ended if its owner does not respond', async () => {
      const team = await createTestTeam()
      const hook = await endpoint(team, { url: 'http://127.0.0.1:9/' })
      await team.db.pool.query(
        `update destination set owner = $3, leased_until = clock_timestamp() + interval '1 s' where team_id = $1 and id = $2`,
        [team.team, hook.id, uuid()],
      )
      const { rows } = await team.db.pool.query('select leased_until::text as lease from destination where id = $1', [hook.id])
      await end(team, hook)
      const { ended } = (await team.db.pool.query('select clock_timestamp() >= $1::timestamptz as ended', [rows[0].lease]))
        .rows[0]
      assert.equal(ended, true, 'it was answered while the lease lasted')
      assert.ok(DESTINATION_LEASE_S <= 5)
    })

    test('the request does not wait when no process has the lease of the endpoint', async () => {
      const team = await createTestTeam()
      const hook = await endpoint(team, { url: 'http://127.0.0.1:9/' })
      await end(team, hook)
      assert.equal(await countRevoked(team), 0)
    })
  })

test('buffered deliveries of an endpoint, including deliveries that wait for the same object, go to its new address', async () => {
  const team = await createTestTeam()
  const held: (() => void)[] = []
  let isQuick = true
  const former = await receiver((_received, response) => (isQuick ? response.end() : void held.push(() => response.end())))
  const latter = await receiver()
  const hook = await endpoint(team, { url: former.url })
  const worker = delivering({ attempt_ms_max: 15_000 })
  worker.start()
  // Several attempts at a time are made to an endpoint that has responded.
  await emitEvents(team)
  await eventually(async () => (await deliveryStates(team, hook.id))['delivered after 1'] === 1, 'nothing was delivered')
  isQuick = false
  await emitEvents(team, Array<string>(5).fill('labtest.order.created'))
  await eventually(() => former.received.length === 2, 'nothing was delivered')
  await move(team, hook, latter.url)
  // The first response, for which the others wait, comes only after the endpoint is served again.
  await emitEvents(team)
  await eventually(() => latter.received.length >= 1, 'the new address gets nothing')
  held[0]!()
  await eventually(() => latter.received.length === 5, 'not everything went to the new address')
  assert.equal(former.received.length, 2)
  await eventually(async () => (await deliveryStates(team, hook.id))['delivered after 1'] === 7, 'not everything is delivered')
  await worker.stop()
})

test('an endpoint is not disabled by responses from its former address', async () => {
  const team = await createTestTeam()
  const held: (() => void)[] = []
  const former = await receiver((_received, response) => void held.push(() => response.writeHead(410).end()))
  const latter = await receiver()
  const hook = await endpoint(team, { url: former.url })
  const worker = delivering({ attempt_ms_max: 15_000, schedule_s: [0, 0, 0] })
  worker.start()
  await emitEvents(team)
  await eventually(() => former.received.length === 1, 'nothing was delivered')
  await move(team, hook, latter.url)
  held[0]!()
  await eventually(() => latter.received.length === 1, 'the new address gets nothing')
  await worker.stop()
  assert.equal((await team.manage.get(hook.path)).body.disabled, false)
})

test('an endpoint that is enabled again is served as soon as the previous process has released its lease', async () => {
  const team = await createTestTeam()
  const target = await receiver()
  const hook = await endpoint(team, { url: target.url })
  const worker = delivering()
  worker.start()
  await emitEvents(team)
  await eventually(() => target.received.length === 1, 'nothing was delivered')
  await ways.disabled(team, hook)
  assert.equal((await team.manage.patch(hook.path, { disabled: false })).status, 200)
  await emitEvents(team)
  await eventually(() => target.received.length === 2, 'it is not served any more')
  await worker.stop()
})

test('a revoked lease is not acquired by another process before its owner has released it', async () => {
  const team = await createTestTeam()
  const target = await receiver()
  const hook = await endpoint(team, { url: target.url })
  const lease = (s: number, owner: string | null) =>
    team.db.pool.query(
      `update destination set owner = $3, leased_until = clock_timestamp() + make_interval(secs => $4) where team_id = $1 and id = $2`,
      [team.team, hook.id, owner, s],
    )
  await lease(60, null)
  await emitEvents(team)
  await delivering().drain()
  assert.equal(target.received.length, 0)
  await lease(-1, null)
  await delivering().drain()
  assert.equal(target.received.length, 1)
})

test('a request is not written if its connection is ready only after the lease was revoked', async () => {
  const target = await receiver()
  let asked = 0
  const mayBegin = () => ++asked === 1
  const sender = new Sender({ targets, sandbox: true, product: 'Drawbridge/test', mayBegin })
  const post = () =>
    new Promise<HttpResult>((resolve) => sender.post({ id: 'ep_fictional', url: target.url }, [], Buffer.from('{}'), resolve))
  assert.deepEqual([(await post()).withheld, target.received.length], [false, 1])
  assert.deepEqual([(await post()).withheld, target.received.length], [true, 1])
  sender.close()
})

test('a revocation that the owner of the lease never acknowledged is deleted', async () => {
  const team = await createTestTeam()
  await team.db.pool.query(
    `insert into revoked_lease (destination_id, team_id, owner, leased_until) values ($1, $2, $3, clock_timestamp() - interval '2 min')`,
    [`ep_${uuid()}`, team.team, uuid()],
  )
  await expire(team.db, revokedLeaseCleanup)
  assert.equal(await countRevoked(team), 0)
})

/** An endpoint with an event, which is resent while the endpoint is changed. */
async function resending(change: (hook: Hook) => string[]) {
  const team = await createTestTeam()
  const target = await receiver()
  const hook = await endpoint(team, { url: target.url })
  await emitEvents(team)
  await delivering().drain()
  const message = target.received[0]!.headers['webhook-id'] as string
  const client = await team.db.pool.connect()
  try {
    await client.query('begin')
    for (const text of change(hook)) await client.query(text)
    const again = team.manage.post(`${hook.path}/message/${message}/resend`)
    const waits = async () =>
      (await team.db.pool.query("select 1 from pg_locks where not granted and locktype in ('transactionid', 'tuple')"))
        .rowCount! > 0
    let answered = false
    void again.then(() => (answered = true))
    await eventually(async () => answered || (await waits()), 'it neither waits nor answers')
    await client.query('commit')
    return { status: (await again).status, standing: await deliveryStates(team, hook.id) }
  } finally {
    client.release()
  }
}

test('a message that arrived before and is sent again while its endpoint is deleted stays as it was', async () => {
  const { status, standing } = await resending(({ id }) => [`delete from webhook where id = '${id}'`])
  assert.deepEqual({ status, standing }, { status: 404, standing: { 'delivered after 1': 1 } })
})

test('a message that arrived before and is sent again while its endpoint is disabled stays as it was', async () => {
  const { status, standing } = await resending(({ id }) => [
    `update webhook set disabled = true where id = '${id}'`,
    `update delivery set state = 'stopped', due_at = null where destination_id = '${id}' and due_at is not null`,
  ])
  assert.deepEqual({ status, standing }, { status: 400, standing: { 'delivered after 1': 1 } })
})
