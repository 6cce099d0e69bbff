// Simulated orders. Source: lab-testing.md 24.
import { dayIn } from '../../platform/runtime/zoned-time.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eraseOrders } from '../../lab/orders/orders.ts'
import type { Order } from '../../lab/orders/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { SECONDS_PER_DAY, jobRunTimes, getOrder, advanceClock, createOrder, advanceTo } from '../../../test/support/orders.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import {
  CARRIER,
  CREATED,
  CRITICAL,
  REGISTERED,
  LABORATORY,
  NONE,
  simulate,
  start,
  startedReply,
  statuses,
  tracking,
  UPDATED,
  updates,
} from '../../../test/support/simulator.ts'

describe('simulating a kit for a known patient', () => {
  test('replies immediately, and the steps follow one by one, each with its event', async () => {
    const team = await createTestTeam()
    const order = await createOrder(team)
    await start(team, order.id)
    assert.deepEqual(await getOrder(team, order.id), order)
    assert.deepEqual(await team.jobs(), ['simulator.step'])
    await team.settle()
    const after = await getOrder(team, order.id)
    assert.deepEqual(statuses(after), REGISTERED)
    assert.equal(after.status, 'completed')
    assert.equal(after.order_transaction.status, 'completed')
    assert.deepEqual(await team.events(order.id), [CREATED, ...updates(7)])
    assert.deepEqual(await team.jobs(), [])
    const emitted = (await team.api.get(`/v1/events?object_id=${order.id}`)).body.data.reverse()
    assert.deepEqual(
      emitted.map((event: { body: { data: Order } }) => event.body.data.last_event.status),
      REGISTERED,
    )
    assert.deepEqual(emitted.at(-1).body.data, after)
  })

  test('sets barcode, parcel and numbers of a kit at their steps, and the dates of the result', async () => {
    const team = await createTestTeam()
    const { id, lab_test } = await createOrder(team)
    await start(team, id, { delay: '60' })
    const seen: Record<string, Order> = {}
    for (let n = 1; n < REGISTERED.length; n++) {
      await (n === 1 ? team.settle() : advanceClock(team, 60))
      const order = await getOrder(team, id)
      assert.deepEqual(statuses(order), REGISTERED.slice(0, n + 1))
      seen[order.last_event.status.split('.')[2]!] = order
    }
    const { requisition_created, transit_customer, with_customer, transit_lab, delivered_to_lab, completed } = seen
    assert.match(requisition_created!.sample_id!, /^DBK[0-9A-Z]{10}$/)
    assert.deepEqual(tracking(requisition_created!), { outbound: NONE, inbound: NONE })
    const out = tracking(transit_customer!)!
    assert.match(out.outbound[0]!, /^\d{20}$/)
    assert.deepEqual(out, {
      outbound: [out.outbound[0], `https://tracking.example/${out.outbound[0]}`, 'usps'],
      inbound: NONE,
    })
    assert.deepEqual(tracking(with_customer!), out)
    assert.equal(with_customer!.expected_result_by_date, null)
    const back = tracking(transit_lab!)!
    assert.deepEqual(back.outbound, out.outbound)
    assert.deepEqual(back.inbound, [back.inbound[0], `https://tracking.example/${back.inbound[0]}`, 'usps'])
    assert.notEqual(back.inbound[0], back.outbound[0])
    assert.deepEqual(tracking(delivered_to_lab!), back)
    const collected = Date.parse(dayIn(new Date(transit_lab!.last_event.created_at), 'America/Phoenix'))
    const after = (days: number | null) =>
      days === null ? null : new Date(collected + days * SECONDS_PER_DAY * 1000).toISOString().slice(0, 10)
    assert.ok(lab_test.common_tat_days)
    for (const order of [transit_lab!, delivered_to_lab!, completed!])
      assert.deepEqual(
        [order.expected_result_by_date, order.worst_case_result_by_date],
        [after(lab_test.common_tat_days), after(lab_test.worst_case_tat_days)],
      )
    assert.deepEqual([delivered_to_lab!.interpretation, delivered_to_lab!.has_missing_results], [null, null])
    assert.deepEqual([completed!.interpretation, completed!.has_missing_results], ['normal', false])
  })

  test('ends with a result for every marker', async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team)
    const before = await team.api.get(`/v3/order/${id}/result`)
    assert.equal(before.status, 404)
    await start(team, id)
    await team.settle()
    const { status, body } = await team.api.get(`/v3/order/${id}/result`)
    assert.equal(status, 200)
    assert.ok(body.results.length > 0)
    assert.deepEqual(body.missing_results ?? [], [])
    assert.deepEqual([body.metadata.status, body.metadata.interpretation], ['final', 'normal'])
    assert.equal(body.order_transaction.status, 'completed')
  })

  for (const interpretation of ['normal', 'abnormal', 'critical'])
    test(`a ${interpretation} result has that interpretation, and a critical one emits its event first`, async () => {
      const team = await createTestTeam()
      const { id } = await createOrder(team)
      await start(team, id, {}, { interpretation, result_types: ['numeric'], has_missing_results: true })
      await team.settle()
      const order = await getOrder(team, id)
      assert.deepEqual([order.interpretation, order.has_missing_results], [interpretation, true])
      const { body } = await team.api.get(`/v3/order/${id}/result`)
      assert.equal(body.metadata.interpretation, interpretation)
      assert.ok(body.missing_results.length > 0)
      assert.ok(body.results.every((result: { type: string }) => result.type === 'numeric'))
      assert.deepEqual(await team.events(), [
        CREATED,
        ...updates(6),
        ...(interpretation === 'critical' ? [CRITICAL] : []),
        UPDATED,
      ])
    })

  test('accepts options, null or no body, and rejects an invalid body', async () => {
    const team = await createTestTeam()
    for (const [body, headers] of [
      [undefined, {}],
      [undefined, { 'content-type': 'application/json' }],
      ['null', { 'content-type': 'application/json' }],
      [{}, {}],
      [{ interpretation: null, result_types: [], has_missing_results: null, unknown: 1 }, {}],
      [{ interpretation: 'CRITICAL', result_types: ['Comment', 'range'] }, {}],
    ] as [unknown, Record<string, string>][]) {
      const { id } = await createOrder(team)
      const reply = await team.api.call('POST', `/v3/order/${id}/test`, body, headers)
      assert.deepEqual([reply.status, reply.body], [200, startedReply])
    }
    const { id } = await createOrder(team)
    for (const [body, place, type] of [
      [{ interpretation: 'bad' }, 'body.interpretation', 'enum'],
      [{ result_types: ['numeric', 'none'] }, 'body.result_types.1', 'enum'],
      [{ result_types: 'numeric' }, 'body.result_types', 'list_type'],
      [{ has_missing_results: 'yes' }, 'body.has_missing_results', 'bool_type'],
      [[], 'body', 'model_attributes_type'],
    ] as const) {
      const reply = await simulate(team, id, {}, body)
      assert.equal(reply.status, 422)
      assert.deepEqual([reply.body.detail[0].loc.join('.'), reply.body.detail[0].type], [place, type])
    }
  })

  const targets: [string, string[]][] = [
    ...REGISTERED.slice(1).map((status, i): [string, string[]] => [status, REGISTERED.slice(1, i + 2)]),
    ['received.testkit.requisition_bypassed', ['received.testkit.requisition_bypassed']],
    ['cancelled.testkit.cancelled', ['cancelled.testkit.cancelled']],
    ['failed.testkit.lost', [...REGISTERED.slice(1, 3), 'failed.testkit.lost']],
    [
      'failed.testkit.failure_to_deliver_to_customer',
      [...REGISTERED.slice(1, 3), 'failed.testkit.failure_to_deliver_to_customer'],
    ],
    [
      'collecting_sample.testkit.problem_in_transit_customer',
      [...REGISTERED.slice(1, 3), 'collecting_sample.testkit.problem_in_transit_customer'],
    ],
    ['cancelled.testkit.do_not_process', [...REGISTERED.slice(1, 3), 'cancelled.testkit.do_not_process']],
    ...['collecting_sample.testkit.problem_in_transit_lab', 'failed.testkit.failure_to_deliver_to_lab'].map(
      (status): [string, string[]] => [
        status,
        [...REGISTERED.slice(1, 3), 'collecting_sample.testkit.with_customer', 'collecting_sample.testkit.transit_lab', status],
      ],
    ),
    ...['failed.testkit.sample_error', 'sample_with_lab.testkit.lab_processing_blocked'].map((status): [string, string[]] => [
      status,
      [...REGISTERED.slice(1, 3), 'collecting_sample.testkit.with_customer', 'sample_with_lab.testkit.delivered_to_lab', status],
    ]),
  ]
  for (const [final_status, steps] of targets)
    test(`stops at the requested status: ${final_status}`, async () => {
      const team = await createTestTeam()
      const { id } = await createOrder(team)
      await start(team, id, { final_status })
      await team.settle()
      assert.deepEqual(statuses(await getOrder(team, id)), ['received.testkit.ordered', ...steps])
      assert.deepEqual(await team.events(), [CREATED, ...updates(steps.length)])
      assert.deepEqual(await team.jobs(), [])
    })

  test('a completed order can be corrected with another report', async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team)
    await start(team, id)
    await team.settle()
    await advanceClock(team, SECONDS_PER_DAY)
    const first = (await team.api.get(`/v3/order/${id}/result`)).body
    await start(team, id, { final_status: 'completed.testkit.corrected' })
    await team.settle()
    assert.deepEqual(statuses(await getOrder(team, id)), [...REGISTERED, 'completed.testkit.corrected'])
    const second = (await team.api.get(`/v3/order/${id}/result`)).body
    assert.notDeepEqual(second, first)
    assert.deepEqual(await team.events(), [CREATED, ...updates(8)])
  })

  test('continues from any status', async () => {
    for (const [past, steps] of [
      [
        ['requisition_created', 'transit_customer', 'problem_in_transit_customer'],
        [CARRIER[2], ...LABORATORY],
      ],
      [['requisition_bypassed'], [...CARRIER, ...LABORATORY]],
      [['requisition_created', 'transit_customer', 'with_customer', 'transit_lab'], LABORATORY.slice(1)],
    ] as [string[], string[]][]) {
      const team = await createTestTeam()
      const { id } = await createOrder(team)
      await advanceTo(team, id, ...past)
      await start(team, id)
      await team.settle()
      assert.deepEqual(statuses(await getOrder(team, id)).slice(1 + past.length), steps)
      assert.equal((await team.api.get(`/v3/order/${id}/result`)).status, 200)
    }
  })

  test('two simulations of an order take each step once', async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team)
    await start(team, id)
    await start(team, id)
    await team.settle()
    assert.deepEqual(statuses(await getOrder(team, id)), REGISTERED)
    assert.deepEqual(await team.events(), [CREATED, ...updates(7)])
  })

  test("spreads its steps over the team's time", async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team)
    await start(team, id, { delay: '3600' })
    await team.settle()
    const first = (await getOrder(team, id)).last_event.created_at
    assert.deepEqual(await jobRunTimes(team), [new Date(Date.parse(first) + 3_600_000).toISOString().slice(0, 19) + '+00:00'])
    await advanceClock(team, 3500)
    assert.equal((await getOrder(team, id)).events.length, 2)
    await advanceClock(team, 100)
    assert.equal((await getOrder(team, id)).events.length, 3)
    await advanceClock(team, SECONDS_PER_DAY)
    const { events } = await getOrder(team, id)
    assert.deepEqual(
      events.map((event) => event.status),
      REGISTERED,
    )
    assert.deepEqual(
      events.slice(1).map((event) => (Date.parse(event.created_at) - Date.parse(first)) / 1000),
      [0, 3600, 7200, 10800, 14400, 18000, 21600],
    )
    const emitted = (await team.api.get('/v1/events')).body.data.reverse()
    assert.deepEqual(
      emitted.map((event: { created_at: string }) => event.created_at),
      events.map((event) => event.created_at),
    )
  })

  test('ends when the order is cancelled meanwhile', async () => {
    const team = await createTestTeam()
    const { id } = await createOrder(team)
    await start(team, id, { delay: '60' })
    await team.settle()
    assert.equal((await team.api.post(`/v3/order/${id}/cancel`)).status, 200)
    await advanceClock(team, 600)
    assert.deepEqual(statuses(await getOrder(team, id)), [...REGISTERED.slice(0, 2), 'cancelled.testkit.cancelled'])
    assert.deepEqual(await team.jobs(), [])
  })

  test('ends when the order is erased meanwhile', async () => {
    const team = await createTestTeam()
    const { id, user_id } = await createOrder(team)
    await start(team, id, { delay: '60' })
    await team.settle()
    await team.db.queries.run(sql`
      update "user" set deleted_at = created_on - interval '8 days' where id = ${user_id} and team_id = ${team.team}`)
    await team.db.tx(team.tenant, (tx) => eraseOrders(tx, user_id))
    assert.equal((await team.api.get(`/v3/order/${id}`)).status, 404)
    await advanceClock(team, 600)
    assert.deepEqual(await team.jobs(), [])
  })
})
