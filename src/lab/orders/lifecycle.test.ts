// Order lifecycles, every pair of statuses: once against the published tables, once in the database.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { kit, getOrder, createOrder } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { lifecycles, lowLevelStatuses, closedStatuses } from './lifecycle.ts'
import {
  nextStatuses,
  isFinal,
  defineLifecycle,
  toLowLevelStatus,
  shortestPath,
  publishedStatus,
  topLevelStatuses,
} from './status-machine.ts'
import { updateOrder } from './change-order.ts'
import { transactionStatus } from './locked-order.ts'
import type { Order } from './schema.ts'
import { publishedStatuses, chosenStatuses, shownAs, names, expected } from '../../../test/support/published-lifecycles.ts'

for (const name of names)
  describe(`lifecycle table of ${name}`, () => {
    const cycle = lifecycles[name]
    const states = Object.keys(cycle.steps)

    test(`the lifecycle of ${name} has exactly the published transitions and the documented additions`, () => {
      const there = states.flatMap((source) => nextStatuses(cycle, source).map((target) => `${source} > ${target}`))
      assert.deepEqual(there.sort(), [...expected(name)].sort())
    })

    test(`the lifecycle of ${name} has no duplicate transitions`, () => {
      for (const from of states) assert.equal(new Set(nextStatuses(cycle, from)).size, nextStatuses(cycle, from).length, from)
      assert.equal(expected(name).size, publishedStatuses[name].length + chosenStatuses[name].length)
    })

    test(`the lifecycle of ${name} starts with ordered, and every status is reachable from there`, () => {
      assert.equal(cycle.start, 'ordered')
      for (const state of states) if (state !== 'ordered') assert.ok(shortestPath(cycle, 'ordered', state), state)
    })

    test(`the lifecycle of ${name} shows every status as published`, () => {
      for (const state of states) assert.equal(publishedStatus(cycle, state), shownAs(name, state))
    })

    test(`exactly the statuses of ${name} that the tables call final have no next status`, () => {
      const sources = new Set([...expected(name)].map((arrow) => arrow.split(' > ')[0]))
      for (const state of states) assert.equal(isFinal(cycle, state), !sources.has(state), state)
    })

    test(`an order by ${name} can be cancelled exactly in the statuses that the API allows`, () => {
      const cancellable =
        'ordered awaiting_registration requisition_created requisition_bypassed registered appointment_pending appointment_scheduled appointment_cancelled draw_completed'
      for (const state of states)
        assert.equal(nextStatuses(cycle, state).includes('cancelled'), cancellable.split(' ').includes(state), state)
    })
  })

test('every low-level and top-level status exists in the API', () => {
  const all = new Set<string>(lowLevelStatuses)
  assert.equal(all.size, 27)
  for (const name of names)
    for (const [state, [top]] of Object.entries(lifecycles[name].steps)) {
      assert.ok(all.has(state), state)
      assert.ok(topLevelStatuses.includes(top), top)
    }
})

test('both spellings of the registered status name the same status', () => {
  assert.equal(toLowLevelStatus('testkit_registered'), 'registered')
  assert.equal(toLowLevelStatus('registered'), 'registered')
  assert.equal(toLowLevelStatus('ordered'), 'ordered')
})

test('the shortest path between two statuses uses existing transitions only', () => {
  const small = defineLifecycle('small', {
    a: ['received', 'b', 'c'],
    b: ['received', 'd'],
    c: ['received', 'b', 'd', 'a'],
    d: ['completed', 'e'],
    e: ['completed'],
  })
  assert.deepEqual(shortestPath(small, 'a', 'e'), ['b', 'd', 'e'])
  assert.deepEqual(shortestPath(small, 'c', 'd'), ['d'])
  assert.equal(shortestPath(small, 'e', 'a'), undefined)
  assert.deepEqual(shortestPath(small, 'c', 'c'), ['a', 'c'])
  assert.equal(shortestPath(small, 'b', 'b'), undefined)
})

test('a transaction is completed when all its orders are closed, and cancelled when all are cancelled', () => {
  for (const [lows, status] of [
    [['ordered'], 'active'],
    [['cancelled'], 'cancelled'],
    [['do_not_process'], 'cancelled'],
    [['cancelled', 'do_not_process'], 'cancelled'],
    [['cancelled', 'completed'], 'completed'],
    [['cancelled', 'ordered'], 'active'],
    [['completed', 'delivered_to_lab'], 'active'],
    [['redraw_available', 'cancelled'], 'completed'],
    [['partial_results'], 'active'],
    ...[...closedStatuses]
      .filter((low) => low !== 'cancelled' && low !== 'do_not_process')
      .map((low) => [[low], 'completed'] as [string[], string]),
  ] as [string[], string][])
    assert.equal(transactionStatus(lows), status, lows.join())
})

const Row = T.Object({ low_level_status: T.String(), document: T.String(), updated_at: T.String(), status_at: T.String() })
const EventRow = T.Object({ type: T.String(), body: T.String() })

for (const name of names)
  describe(`lifecycle transitions of ${name}`, () => {
    let team: TestTeam
    let id: string
    let start: { document: string }

    const row = () =>
      team.db.queries.one(
        Row,
        sql`select low_level_status, document, updated_at, status_at from lab_order where id = ${id} and team_id = ${team.team}`,
      )
    const readEvents = () =>
      team.db.queries.many(
        EventRow,
        sql`select type, body from event where object_id = ${id} and team_id = ${team.team} order by id`,
      )
    /** Resets the order to its created state with another status, and deletes the events emitted since. */
    const arrange = async (low: string) => {
      await team.db.queries.run(
        sql`update lab_order set low_level_status = ${low}, document = ${start.document} where id = ${id} and team_id = ${team.team}`,
      )
      await team.db.queries.run(sql`
        delete from event where team_id = ${team.team}
        and id not in (select id from event where team_id = ${team.team} order by id limit ${baseline})`)
    }
    let baseline = 0
    const move = (target: string) =>
      team.db.tx(team.tenant, (tx) => updateOrder(tx, id, (lockedOrder) => lockedOrder.transitionTo(target)))

    before(async () => {
      team = await createTestTeam()
      id = (
        name === 'registrable_testkit'
          ? await kit(team)
          : await createOrder(team, { lab_test_id: await team.test(lifecycles[name].method) })
      ).id
      start = await row()
      baseline = (await readEvents()).length
    })

    for (const from of Object.keys(lifecycles[name].steps)) {
      test(`${name} in ${from} accepts each allowed transition and emits one event with the order at that time`, async () => {
        const allowed = lowLevelStatuses.filter((target) => expected(name).has(`${from} > ${target}`))
        for (const to of allowed) {
          await arrange(from)
          await move(to)
          const after = await row()
          const order = JSON.parse(after.document) as Order
          const was = JSON.parse(start.document) as Order
          assert.equal(after.low_level_status, to)
          assert.deepEqual(order.events.slice(0, -1), was.events)
          assert.deepEqual([order.last_event.status, order.last_event.status_detail], [shownAs(name, to), null])
          assert.deepEqual(order.events.at(-1), order.last_event)
          assert.ok(order.last_event.id > was.last_event.id)
          assert.equal(order.status, shownAs(name, to).split('.')[0])
          assert.equal(order.order_transaction.orders[0]!.low_level_status, to)
          assert.equal(order.order_transaction.status, transactionStatus([to]))
          assert.deepEqual([order.updated_at, after.updated_at, after.status_at], Array(3).fill(order.last_event.created_at))
          const events = await readEvents()
          // Partial results emit no event, because this team has not enabled them.
          if (to === 'partial_results') {
            assert.equal(events.length, baseline)
            continue
          }
          assert.equal(events.length, baseline + 1)
          assert.equal(events.at(-1)!.type, 'labtest.order.updated')
          assert.deepEqual(JSON.parse(events.at(-1)!.body).data, order)
          assert.deepEqual(await getOrder(team, id), order)
        }
      })

      test(`${name} in ${from} rejects every other transition without side effects`, async () => {
        await arrange(from)
        const before = await row()
        for (const to of [...lowLevelStatuses, 'nowhere', 'constructor']) {
          if (expected(name).has(`${from} > ${to}`)) continue
          await assert.rejects(move(to), {
            status: 400,
            body: { detail: `Transition from ${from} to ${to} is not allowed` },
          })
        }
        assert.deepEqual(await row(), before)
        assert.equal((await readEvents()).length, baseline)
      })
    }
  })
