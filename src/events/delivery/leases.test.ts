// Leases of deliveries go by the database's clock, and a late process changes nothing that another process has claimed since.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addSeconds } from '../../platform/runtime/clock.ts'
import { dbNow } from '../../platform/db/leases.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { uuid } from '../../platform/runtime/uuid.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { delivering, endpoint, receiver, deliveryStates, emitEvents } from '../../../test/support/webhook-receiver.ts'
import { claimDue, returnDeliveries, recordAttempts, type Claimed } from './delivery-rows.ts'
import type { Attempt, Delivery } from './destination.ts'
import { DestinationLeases } from './leases.ts'

/** A team's endpoint with a waiting event. */
async function scene() {
  const team = await createTestTeam()
  const target = await receiver()
  const hook = await endpoint(team, { url: target.url })
  await emitEvents(team)
  await team.db.queries.run(sql`delete from event_outbox where team_id = ${team.team}`)
  await team.db.queries.run(sql`
    insert into delivery (team_id, destination_id, message_id, state, due_at, trigger, created_at)
    select team_id, ${hook.id}, id, 'pending', ${dbNow}, 'scheduled', ${dbNow} from event where team_id = ${team.team}`)
  return { team, target, hook }
}

const claim = async ({ team, hook }: Awaited<ReturnType<typeof scene>>, owner: string): Promise<Claimed[]> => {
  const rows = await claimDue(team.db, new DestinationLeases(team.db, { owner }), {
    total: 200,
    others_max: 10,
    destinations: new Map(),
  })
  return rows.filter(({ destination_id }) => destination_id === hook.id)
}

/** Ends the leases of an endpoint. */
async function end(team: TestTeam, webhook_id: string): Promise<void> {
  await team.db.queries.run(
    sql`update delivery set leased_until = ${dbNow} where team_id = ${team.team} and destination_id = ${webhook_id}`,
  )
  await team.db.queries.run(
    sql`update destination set leased_until = ${dbNow} where team_id = ${team.team} and id = ${webhook_id}`,
  )
}

const readLease = ({ db, team }: TestTeam, webhook_id: string) =>
  db.queries.one(
    T.Object({ lease: T.Union([T.String(), T.Null()]), state: T.String() }),
    sql`select leased_until::text as lease, state from delivery where team_id = ${team} and destination_id = ${webhook_id}`,
  )

for (const [skew_s, name] of [
  [90, 'ahead'],
  [-90, 'behind'],
] as const)
  test(`a process whose clock is ${name} sends no delivery leased to another process, and unleased ones at once`, async () => {
    const there = await scene()
    assert.equal((await claim(there, uuid())).length, 1)
    const skewed = delivering({ clock: () => addSeconds(new Date(), skew_s), attempt_ms_max: 15_000 })
    await skewed.drain()
    assert.equal(there.target.received.length, 0)
    await end(there.team, there.hook.id)
    await skewed.drain()
    assert.equal(there.target.received.length, 1)
    assert.deepEqual(await deliveryStates(there.team, there.hook.id), { 'delivered after 1': 1 })
  })

test('a delivery that a stalled process releases late stays with the process that has claimed it since', async () => {
  const there = await scene()
  const { team, hook } = there
  const stalled = await claim(there, uuid())
  await end(team, hook.id)
  assert.equal((await claim(there, uuid())).length, 1)
  const { lease } = await readLease(team, hook.id)
  await returnDeliveries(team.db, stalled)
  assert.deepEqual(await readLease(team, hook.id), { lease, state: 'pending' })
})

test('an outcome that a stalled process records late does not end the lease of the process that has claimed it since', async () => {
  const there = await scene()
  const { team, hook } = there
  const [row] = await claim(there, uuid())
  await end(team, hook.id)
  assert.equal((await claim(there, uuid())).length, 1)
  const before = await readLease(team, hook.id)
  const { lease, message_id } = row!
  const delivery = {
    team_id: team.team,
    destination_id: hook.id,
    message_id,
    attempts: 0,
    trigger: 'scheduled',
    last_report: null,
    lease,
  } as Delivery
  const attempt: Attempt = {
    delivery,
    custom_headers: [],
    attempt_id: uuid(),
    begun_at: new Date(),
    duration_ms: 1,
    response_status: 500,
    response_body: '',
    error: null,
    succeeded: false,
    signature: '',
    next_s: 60,
    last_report: null,
  }
  await recordAttempts(team.db.queries, [attempt])
  assert.deepEqual(await readLease(team, hook.id), before)
  await recordAttempts(team.db.queries, [{ ...attempt, delivery: { ...delivery, lease: before.lease! }, attempt_id: uuid() }])
  assert.equal((await readLease(team, hook.id)).lease, null)
})

test('a stalled process neither renews nor ends the lease of an endpoint that another process has acquired since', async () => {
  const there = await scene()
  const { team, hook } = there
  const [stalled, next] = [uuid(), uuid()]
  await claim(there, stalled)
  await end(team, hook.id)
  assert.equal((await claim(there, next)).length, 1)
  const lease = () =>
    team.db.queries.one(
      T.Object({ owner: T.Union([T.String(), T.Null()]), until: T.Union([T.String(), T.Null()]) }),
      sql`select owner, leased_until::text as until from destination where team_id = ${team.team} and id = ${hook.id}`,
    )
  const before = await lease()
  assert.equal(before.owner, next)
  const late = new DestinationLeases(team.db, { owner: stalled })
  assert.deepEqual(await late.renew([{ id: hook.id }]), [])
  assert.equal(await late.endLeases([{ id: hook.id }]), 0)
  assert.deepEqual(await lease(), before)
})
