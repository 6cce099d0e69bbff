// Leases of broker queues go by the database's clock, and a lost claim changes nothing in a later one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { pipe, emitEvent } from '../../../test/support/brokers.ts'
import { BrokerQueue, nextEvents, type ClaimedBroker } from './broker-queue.ts'

/** A team with a broker and a waiting event. */
async function scene(): Promise<TestTeam> {
  const team = await createTestTeam()
  await pipe(team, { cloud_pubsub: { project: 'fictional-clinic', topic: 'leases', message_ordering: false } })
  await emitEvent(team)
  await team.db.pool.query(
    `insert into pipeline_delivery (team_id, destination, event_id, user_id, due_at, created_at)
     select team_id, 'cloud_pubsub', id, user_id, created_at, created_at from event where team_id = $1`,
    [team.team],
  )
  return team
}

async function claim({ team }: TestTeam, queue: BrokerQueue): Promise<ClaimedBroker | undefined> {
  const claimed = await queue.claimBrokers({ max: 1000, failing_max: 0 })
  return claimed.find(({ team_id }) => team_id === team)
}

const end = ({ db, team }: TestTeam) =>
  db.queries.run(sql`update pipeline_queue set leased_until = statement_timestamp() where team_id = ${team}`)

const standing = ({ db, team }: TestTeam) =>
  db.queries.one(
    T.Object({ owner: T.Union([T.String(), T.Null()]), fence: T.Integer(), leased: T.Boolean() }),
    sql`select owner, fence, coalesce(leased_until > statement_timestamp(), false) as leased from pipeline_queue where team_id = ${team}`,
  )

test('a broker queue belongs to one process until its lease ends by the clock of the database', async () => {
  const team = await scene()
  const [one, other] = [new BrokerQueue(team.db), new BrokerQueue(team.db)]
  assert.ok(await claim(team, one))
  assert.equal(await claim(team, other), undefined)
  await end(team)
  assert.ok(await claim(team, other))
})

test('a process that lost a broker queue and claimed it again neither renews nor releases its earlier claim', async () => {
  const team = await scene()
  const queue = new BrokerQueue(team.db)
  const before = (await claim(team, queue))!
  await end(team)
  const now = (await claim(team, queue))!
  const expected = { owner: queue.owner, fence: now.fence, leased: true }
  assert.equal(now.fence, before.fence + 1)
  assert.deepEqual(await queue.renew([before]), [])
  assert.equal(await queue.fail(before, { error: 'late', pause_s: 60 }), 0)
  assert.equal(await queue.complete([before]), 0)
  assert.deepEqual(await standing(team), expected)
  assert.deepEqual(await queue.renew([now]), [now])
  assert.equal(await queue.complete([now]), 1)
  assert.deepEqual(await standing(team), { ...expected, owner: null, leased: false })
})

test('only the claim that owns a broker queue can delay its events', async () => {
  const team = await scene()
  const [one, other] = [new BrokerQueue(team.db), new BrokerQueue(team.db)]
  const lost = (await claim(team, one))!
  await end(team)
  const held = (await claim(team, other))!
  const [waiting] = await nextEvents(team.db, held)
  const refused = [{ id: waiting!.id, pause_s: 60 }]
  await one.postponeEvents(lost, refused)
  assert.equal((await nextEvents(team.db, held)).length, 1)
  await other.postponeEvents(held, refused)
  assert.equal((await nextEvents(team.db, held)).length, 0)
})
