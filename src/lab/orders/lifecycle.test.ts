// Order lifecycles, every pair of statuses: once against the published tables, once in the database.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { kit, orderOf, createOrder } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { lifecycles, lowLevelStatuses, closedStatuses, type LifecycleName } from './lifecycle.ts'
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

/** Transitions as text, `from > to, to`, with one or more statuses on the left. */
const arrows = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [from, to] = line.split('>').map((side) => side.split(',').map((status) => status.trim()))
      return from!.flatMap((a) => to!.map((b) => `${a} > ${b}`))
    })

/** The tables of lab-testing.md 9.2 to 9.6 with the cancellations of 11, transcribed row by row. */
const published: Record<LifecycleName, string[]> = {
  testkit: arrows(`
    ordered > requisition_created
    ordered > requisition_bypassed
    ordered > cancelled
    requisition_created > transit_customer
    requisition_bypassed > transit_customer
    requisition_created, requisition_bypassed > cancelled
    transit_customer > out_for_delivery
    transit_customer > failure_to_deliver_to_customer
    transit_customer, out_for_delivery > problem_in_transit_customer
    transit_customer > with_customer
    out_for_delivery > with_customer
    out_for_delivery > failure_to_deliver_to_customer
    problem_in_transit_customer > transit_customer, out_for_delivery, with_customer, failure_to_deliver_to_customer, lost
    with_customer > transit_lab
    with_customer > delivered_to_lab
    transit_lab > delivered_to_lab
    transit_lab > failure_to_deliver_to_lab
    transit_lab > problem_in_transit_lab
    problem_in_transit_lab > transit_lab, delivered_to_lab, failure_to_deliver_to_lab, lost
    transit_customer, transit_lab > lost
    delivered_to_lab > completed
    delivered_to_lab > sample_error
    delivered_to_lab > lab_processing_blocked
    lab_processing_blocked > delivered_to_lab, completed, sample_error
    transit_customer, out_for_delivery, with_customer, transit_lab > do_not_process
    problem_in_transit_customer, problem_in_transit_lab > do_not_process
    delivered_to_lab, lab_processing_blocked > do_not_process
    completed > corrected
    corrected > corrected`),
  registrable_testkit: arrows(`
    ordered > awaiting_registration
    ordered, awaiting_registration > cancelled
    awaiting_registration > transit_customer
    transit_customer > out_for_delivery, failure_to_deliver_to_customer
    out_for_delivery > with_customer, failure_to_deliver_to_customer
    with_customer > registered
    registered > requisition_created
    requisition_created > transit_lab
    transit_lab > delivered_to_lab, failure_to_deliver_to_lab
    delivered_to_lab > completed, sample_error
    awaiting_registration, transit_customer, out_for_delivery > requisition_created
    with_customer, problem_in_transit_customer > requisition_created
    requisition_created > registered
    registered > transit_customer, out_for_delivery, with_customer
    registered > transit_lab, delivered_to_lab
    registered > cancelled
    requisition_created > cancelled
    transit_customer, out_for_delivery > problem_in_transit_customer
    problem_in_transit_customer > transit_customer, out_for_delivery, with_customer, failure_to_deliver_to_customer, lost
    transit_lab > problem_in_transit_lab
    problem_in_transit_lab > transit_lab, delivered_to_lab, failure_to_deliver_to_lab, lost
    transit_customer, transit_lab > lost
    delivered_to_lab > lab_processing_blocked
    lab_processing_blocked > delivered_to_lab, completed, sample_error
    completed > corrected
    corrected > corrected`),
  walk_in_test: arrows(`
    ordered > requisition_created, requisition_bypassed, cancelled
    requisition_created, requisition_bypassed > appointment_pending, partial_results, cancelled
    appointment_pending > appointment_scheduled, appointment_cancelled, cancelled
    appointment_scheduled > appointment_pending, appointment_cancelled, partial_results, completed, cancelled
    appointment_cancelled > appointment_pending, cancelled
    partial_results > completed, partial_results
    requisition_created, requisition_bypassed, appointment_pending, appointment_cancelled > completed
    appointment_pending, appointment_cancelled > partial_results
    requisition_created, requisition_bypassed, partial_results > redraw_available, sample_error
    appointment_pending, appointment_scheduled, appointment_cancelled > redraw_available, sample_error
    completed > corrected
    corrected > corrected`),
  at_home_phlebotomy: arrows(`
    ordered > requisition_created, requisition_bypassed, cancelled
    requisition_created, requisition_bypassed > appointment_pending, appointment_scheduled, cancelled
    appointment_pending > appointment_scheduled, appointment_cancelled, cancelled
    appointment_scheduled > appointment_scheduled, appointment_cancelled, draw_completed, cancelled
    appointment_cancelled > appointment_pending, appointment_scheduled, cancelled
    draw_completed > partial_results, completed, cancelled
    partial_results > completed, partial_results
    appointment_scheduled > partial_results, completed
    draw_completed, partial_results > sample_error
    completed > corrected
    corrected > corrected`),
  on_site_collection: arrows(`
    ordered > requisition_created, requisition_bypassed, cancelled
    requisition_created, requisition_bypassed > draw_completed, cancelled, partial_results, completed
    draw_completed > partial_results, completed, cancelled
    partial_results > completed, partial_results
    draw_completed, partial_results > sample_error
    completed > corrected
    corrected > corrected`),
}

/**
 * Transitions that the published tables lack and this project added. A kit registered before its delivery returns to
 * `with_customer` and needs a transition from there to the laboratory; and 9.2 lets any kit in transit or at the laboratory be stopped.
 */
const chosen: Record<LifecycleName, string[]> = {
  testkit: [],
  walk_in_test: [],
  at_home_phlebotomy: [],
  on_site_collection: [],
  registrable_testkit: arrows(`
    with_customer > transit_lab, delivered_to_lab
    transit_customer, out_for_delivery, with_customer, transit_lab > do_not_process
    problem_in_transit_customer, problem_in_transit_lab > do_not_process
    delivered_to_lab, lab_processing_blocked > do_not_process`),
}

/** The top-level status for each low-level status of a draw, where all draws agree. Source: lab-testing.md 9.1. */
const drawn: Record<string, string> = {
  ordered: 'received',
  requisition_created: 'received',
  requisition_bypassed: 'received',
  appointment_pending: 'collecting_sample',
  appointment_scheduled: 'collecting_sample',
  appointment_cancelled: 'collecting_sample',
  redraw_available: 'collecting_sample',
  partial_results: 'sample_with_lab',
  completed: 'completed',
  corrected: 'completed',
  sample_error: 'failed',
  cancelled: 'cancelled',
}

/** The published status for each low-level status. Source: lab-testing.md 9.1. */
function shownAs(name: LifecycleName, low: string): string {
  if (name === 'testkit' || name === 'registrable_testkit') return shown[low]!
  if (low === 'draw_completed') return `${name === 'on_site_collection' ? 'sample_with_lab' : 'collecting_sample'}.${name}.${low}`
  return `${drawn[low]}.${name}.${low}`
}

/** The top-level status for each low-level status of kits. */
const shown: Record<string, string> = {
  ordered: 'received.testkit.ordered',
  awaiting_registration: 'received.testkit.awaiting_registration',
  registered: 'received.testkit.testkit_registered',
  requisition_created: 'received.testkit.requisition_created',
  requisition_bypassed: 'received.testkit.requisition_bypassed',
  transit_customer: 'collecting_sample.testkit.transit_customer',
  out_for_delivery: 'collecting_sample.testkit.out_for_delivery',
  with_customer: 'collecting_sample.testkit.with_customer',
  transit_lab: 'collecting_sample.testkit.transit_lab',
  problem_in_transit_customer: 'collecting_sample.testkit.problem_in_transit_customer',
  problem_in_transit_lab: 'collecting_sample.testkit.problem_in_transit_lab',
  delivered_to_lab: 'sample_with_lab.testkit.delivered_to_lab',
  lab_processing_blocked: 'sample_with_lab.testkit.lab_processing_blocked',
  completed: 'completed.testkit.completed',
  corrected: 'completed.testkit.corrected',
  sample_error: 'failed.testkit.sample_error',
  failure_to_deliver_to_customer: 'failed.testkit.failure_to_deliver_to_customer',
  failure_to_deliver_to_lab: 'failed.testkit.failure_to_deliver_to_lab',
  lost: 'failed.testkit.lost',
  cancelled: 'cancelled.testkit.cancelled',
  do_not_process: 'cancelled.testkit.do_not_process',
}

const names = Object.keys(lifecycles) as LifecycleName[]
const expected = (name: LifecycleName) => new Set([...published[name], ...chosen[name]])

for (const name of names)
  describe(`lifecycle table of ${name}`, () => {
    const cycle = lifecycles[name]
    const states = Object.keys(cycle.steps)

    test(`the lifecycle of ${name} has exactly the published transitions and the documented additions`, () => {
      const there = states.flatMap((from) => nextStatuses(cycle, from).map((to) => `${from} > ${to}`))
      assert.deepEqual(there.sort(), [...expected(name)].sort())
    })

    test(`the lifecycle of ${name} has no duplicate transitions`, () => {
      for (const from of states) assert.equal(new Set(nextStatuses(cycle, from)).size, nextStatuses(cycle, from).length, from)
      assert.equal(expected(name).size, published[name].length + chosen[name].length)
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
    const move = (to: string) => team.db.tx(team.tenant, (tx) => updateOrder(tx, id, (open) => open.transitionTo(to)))

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
        const allowed = lowLevelStatuses.filter((to) => expected(name).has(`${from} > ${to}`))
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
          assert.deepEqual(await orderOf(team, id), order)
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
