// Slow receivers of one team do not delay the deliveries of another team.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { subscribeTeam, takeOutboxEntries } from '../../platform/queue/outbox.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { delivering, endpoint, receiver, deliveryStates, emitEvents } from '../../../test/support/webhook-receiver.ts'
import type { BufferedDelivery, Delivery } from './destination.ts'
import { DestinationQueues } from './limits.ts'
import { healthy } from './retry-schedule.ts'
import { eventually } from '../../../test/support/eventually.ts'

const ENDPOINTS = 50
const WAIT_MS_MAX = 60_000

describe('deliveries of a team', () => {
  test('deliveries arrive while none of the fifty endpoints of another team answers', async () => {
    const [slow, quiet] = await Promise.all([createTestTeam(), createTestTeam()])
    const held: (() => void)[] = []
    let isOpen = false
    const late = await receiver((_received, response) => {
      if (isOpen) response.end()
      else held.push(() => response.end())
    })
    const hooks: Awaited<ReturnType<typeof endpoint>>[] = []
    for (let i = 0; i < ENDPOINTS; i++) hooks.push(await endpoint(slow, { url: `${late.url}/${i}` }))
    const target = await receiver()
    const hook = await endpoint(quiet, { url: target.url })
    const [slowUser, quietUser] = [await slow.user(), await quiet.user()]
    const delivery = delivering({ attempt_ms_max: 2 * WAIT_MS_MAX })
    delivery.start()
    // Fifteen hundred attempts without a response, where a process makes five hundred at a time.
    for (let i = 0; i < 3; i++)
      await emitEvents(slow, Array<string>(10).fill('labtest.order.created'), { objects: 'each', user: slowUser })
    for (let n = 1; n <= 20; n++) {
      await emitEvents(quiet, undefined, { user: quietUser })
      await eventually(() => target.received.length === n, `event ${n} of the quiet team arrived`)
    }
    await eventually(() => held.length >= ENDPOINTS, 'each of the slow endpoints was sent something')
    assert.ok(late.received.length <= 250, `${late.received.length} of 500 attempts are the slow team's`)
    assert.equal(held.length, late.received.length, 'none of the slow endpoints has been answered')
    isOpen = true
    for (const answer of held.splice(0)) answer()
    await eventually(() => late.received.length === 30 * ENDPOINTS, 'everything of the slow team arrived')
    await delivery.stop()
    assert.deepEqual(await deliveryStates(quiet, hook.id), { 'delivered after 1': 20 })
    for (const { id } of hooks) assert.deepEqual(await deliveryStates(slow, id), { 'delivered after 1': 30 })
  })
})

const createBufferedDelivery = (id: string, team_id: string): BufferedDelivery => {
  const target = {
    id,
    team_id,
    kind: 'webhook',
    address: 'https://receiver.example.com',
    rate_limit: null,
    isBatch: false,
  } as const
  return { delivery: { destination_id: id } as Delivery, target: { ...target, health: healthy }, leased_ms: 0 }
}

/** Deliveries for endpoints of several teams, selected by a process whose clock the test sets. */
function process(teams: Record<string, number>) {
  const queues = new DestinationQueues()
  const ids = Object.entries(teams).flatMap(([team, n]) => Array.from({ length: n }, (_, i) => ({ team, id: `${team} ${i}` })))
  const inFlight = new Map<string, number>()
  const fill = (now_ms: number) => {
    for (const { team, id } of ids) {
      for (let n = 0; n < 20; n++) queues.add(createBufferedDelivery(id, team), now_ms)
      queues.hold(id, now_ms, Infinity)
    }
  }
  /** Begins every attempt that may begin. @returns the number of attempts of each team */
  const beginAll = (now_ms: number): Record<string, number> => {
    const left: Record<string, number> = {}
    for (const { team, id } of ids)
      while (queues.next(id, now_ms) !== undefined) {
        inFlight.set(id, (inFlight.get(id) ?? 0) + 1)
        left[team] = (left[team] ?? 0) + 1
      }
    return left
  }
  /** All attempts of a team that are in flight get a response now. */
  const answer = (team: string, outcome: { succeeded: boolean; duration_ms: number }, now_ms: number) => {
    for (const { team: of, id } of ids) {
      if (of !== team) continue
      for (let n = inFlight.get(id) ?? 0; n > 0; n--) {
        queues.recordResult(id, outcome, now_ms)
        queues.releaseSlot(id)
        queues.release(1)
      }
      inFlight.delete(id)
    }
  }
  return { queues, fill, leave: beginAll, answer }
}

const quick = { succeeded: true, duration_ms: 20 }
const late = { succeeded: true, duration_ms: 14_000 }

describe('the attempts of a process', () => {
  test('an endpoint gets two attempts at a time before its first response, and ten after it', () => {
    const { fill, leave, answer } = process({ a: 1 })
    fill(0)
    assert.deepEqual(leave(0), { a: 2 })
    answer('a', quick, 20)
    assert.deepEqual(leave(20), { a: 10 })
  })

  test('one team uses at most half of the attempts, and the next team half of the rest', () => {
    const { fill, leave, answer } = process({ a: 50, b: 50, c: 1 })
    fill(0)
    assert.deepEqual(leave(0), { a: 100, b: 100, c: 2 })
    for (const team of ['a', 'b', 'c']) answer(team, quick, 20)
    assert.deepEqual(leave(20), { a: 250, b: 125, c: 10 })
  })

  test('slow endpoints of one team use at most a quarter of the attempts, whatever they respond', () => {
    const { fill, leave, answer } = process({ a: 50, b: 50 })
    fill(0)
    leave(0)
    answer('a', late, 14_000)
    answer('b', quick, 14_000)
    assert.deepEqual(leave(14_000), { a: 125, b: 188 })
  })

  test('endpoints that have not responded for a second count as slow', () => {
    const { queues, fill, leave } = process({ a: 50, b: 1 })
    fill(0)
    assert.deepEqual(leave(0), { a: 100, b: 2 })
    queues.claimLimits(1500)
    assert.equal(queues.leaseCapacity('a 0', 1500), 0)
    assert.deepEqual(queues.fanOutBudget(1500), { forAll: 400, forSome: 400 })
  })

  test('an endpoint that waits for a share is sent to as soon as a slot is free', () => {
    const { queues, fill, leave, answer } = process({ a: 30 })
    fill(0)
    leave(0)
    answer('a', quick, 20)
    assert.deepEqual(leave(20), { a: 250 })
    assert.equal(queues.next('a 29', 20), undefined)
    queues.recordResult('a 0', quick, 30)
    queues.releaseSlot('a 0')
    assert.notEqual(queues.nextBlocked(false), undefined)
  })

  test('one team has at most half of the buffered deliveries', () => {
    const { queues } = process({})
    for (let n = 0; n < 3000; n++) queues.add(createBufferedDelivery(`a ${n % ENDPOINTS}`, 'a'), 0)
    assert.equal(queues.teamCapacity('a'), 0)
    assert.equal(queues.teamCapacity('b'), 3000)
    const { total, destinations: rooms } = queues.claimLimits(0)
    assert.equal(total, 3000)
    assert.deepEqual(new Set(rooms.values()), new Set([0]))
  })
})

describe('outbox entries of many events', () => {
  /** Inserts outbox entries with a number of events each. */
  const announce = (team: TestTeam, count: number, events: number) =>
    team.db.pool.query(
      'insert into event_outbox (team_id, event_ids) select $1, array_fill(gen_random_uuid(), array[$3::int]) from generate_series(1, $2::int)',
      [team.team, count, events],
    )

  test('outbox entries of one team do not wait for all earlier entries of another', async () => {
    const [busy, quiet] = await Promise.all([createTestTeam(), createTestTeam()])
    for (const { db, team } of [busy, quiet]) await subscribeTeam(db.queries, team)
    await busy.db.pool.query('delete from event_outbox')
    await announce(busy, 30, 50)
    await announce(quiet, 3, 1)
    const weigh = async (teams: string[]) => new Map(teams.map((id) => [id, id === busy.team ? 50 : 1]))
    const take = () =>
      busy.db.asyncCommitTx((tx) => takeOutboxEntries(tx, { entries: 500, events: 2000, deliveries: 2000 }, weigh))
    const first = await take()
    const of = (team: TestTeam) => first.entries.filter(({ team_id }) => team_id === team.team).length
    assert.deepEqual([of(busy), of(quiet), first.isMore], [1, 3, true])
    let [taken, rounds] = [1, 1]
    for (let isMore = true; isMore; rounds++) {
      const next = await take()
      taken += next.entries.length
      isMore = next.isMore
    }
    assert.deepEqual([taken, rounds], [30, 30])
  })
})
