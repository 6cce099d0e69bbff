// The sequence of reports of one order: partial, final and corrected ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectedResults } from '../catalog/lab-tests.ts'
import { updateOrder } from '../orders/change-order.ts'
import { getOrder, createOrder, tenantOf, advanceTo } from '../../../test/support/orders.ts'
import { createTestTeam, guard } from '../../../test/support/server.ts'
import { expectations } from './expected-results.ts'
import { receiveReport } from './results.ts'
import { atLab, toMeasured, numeric, unorderedResult, report, deliver, getResult } from '../../../test/support/reports.ts'

const UPDATED = 'labtest.order.updated'

test('a partial result is readable, emits no event, and is replaced by the final result', async () => {
  const { team, order, expected } = await atLab()
  const before = await team.events(order.id)
  await deliver(team, order.id, report([numeric(expected[0]!, '50')], { status: 'partial' }))
  assert.deepEqual(await team.events(order.id), before)
  const shown = await getOrder(team, order.id)
  assert.equal(shown.last_event.status, 'sample_with_lab.testkit.delivered_to_lab')
  assert.deepEqual([shown.interpretation, shown.has_missing_results], ['abnormal', false])
  const partial = (await getResult(team, order.id)).body
  assert.deepEqual([partial.metadata.status, partial.results.length, partial.missing_results], ['partial', 1, []])
  await deliver(team, order.id, report(expected.map((item) => numeric(item))))
  const final = (await getResult(team, order.id)).body
  assert.deepEqual([final.metadata.status, final.results.length], ['final', expected.length])
  assert.equal((await getOrder(team, order.id)).interpretation, 'normal')
})

test('results that a final report omits or that the laboratory could not measure are missing', async () => {
  const { team, order, expected } = await atLab()
  const [silent, refused, ...rest] = expected
  const missing = [{ ...toMeasured(refused!), failure: 'quantity_not_sufficient_failure' as const, note: 'Half a drop' }]
  await deliver(
    team,
    order.id,
    report(
      rest.map((item) => numeric(item)),
      { missing },
    ),
  )
  const { body } = await getResult(team, order.id)
  assert.deepEqual(body.missing_results, [
    { ...toMeasured(refused!), inferred_failure_type: 'quantity_not_sufficient_failure', note: 'Half a drop' },
    { ...toMeasured(silent!), inferred_failure_type: 'unknown_failure', note: null },
  ])
  assert.equal((await getOrder(team, order.id)).has_missing_results, true)
})

test('a result with an unknown name but the expected code is not missing', async () => {
  const { team, order, expected } = await atLab()
  const [first, ...rest] = expected
  assert.ok(first!.loinc)
  const renamed = numeric(first!, '5', { name: "The laboratory's name", slug: 'of-the-laboratory' })
  await deliver(team, order.id, report([renamed, ...rest.map((item) => numeric(item))]))
  assert.deepEqual((await getResult(team, order.id)).body.missing_results, [])
})

test('an order without any reportable result fails and lists the missing results', async () => {
  const { team, order, expected } = await atLab()
  await deliver(team, order.id, report([]))
  const shown = await getOrder(team, order.id)
  assert.equal(shown.last_event.status, 'failed.testkit.sample_error')
  assert.deepEqual([shown.interpretation, shown.has_missing_results], ['unknown', true])
  const { body } = await getResult(team, order.id)
  assert.deepEqual([body.results, body.missing_results.length], [[], expected.length])
})

test('a final report after the final one corrects the result', async () => {
  const { team, order, expected } = await atLab()
  await deliver(team, order.id, report(expected.map((item) => numeric(item))))
  for (const value of ['50', '60']) {
    await deliver(
      team,
      order.id,
      report(
        expected.map((item) => numeric(item, value)),
        { amended: true },
      ),
    )
    const shown = await getOrder(team, order.id)
    assert.equal(shown.last_event.status, 'completed.testkit.corrected')
    assert.equal(shown.interpretation, 'abnormal')
    assert.equal((await getResult(team, order.id)).body.results[0].result, value)
  }
})

test('a report for an order that is not at the laboratory is rejected and changes nothing', async () => {
  const team = await createTestTeam()
  const order = await createOrder(team)
  const before = await team.events(order.id)
  for (const [status, target] of [
    ['final', 'completed'],
    ['partial', 'partial_results'],
  ] as const)
    await assert.rejects(deliver(team, order.id, report([unorderedResult('any', { flag: 'CRIT' })], { status })), {
      status: 400,
      body: { detail: `Transition from ordered to ${target} is not allowed` },
    })
  assert.deepEqual(await team.events(order.id), before)
  assert.equal((await getResult(team, order.id)).status, 404)
  assert.deepEqual(await getOrder(team, order.id), order)
})

test('a late partial report does not replace the final one', async () => {
  const { team, order, expected } = await atLab()
  await deliver(team, order.id, report(expected.map((item) => numeric(item))))
  await assert.rejects(deliver(team, order.id, report([numeric(expected[0]!)], { status: 'partial' })), { status: 400 })
  assert.equal((await getResult(team, order.id)).body.metadata.status, 'final')
})

test('every partial report emits an event for a team that enabled these events', async () => {
  const team = await createTestTeam()
  await team.manage.patch(`/team/${team.team}`, { sandbox: { partial_webhooks_enabled: true } })
  guard.invalidate(team.team)
  const order = await createOrder(team, { lab_test_id: await team.test('walk_in_test') })
  await advanceTo(team, order.id, 'requisition_created')
  const tenant = await tenantOf(team)
  const markers = await team.db.tx(tenant, (tx) => expectedResults(tx, order.lab_test.id))
  const [first] = expectations(markers)
  for (let n = 0; n < 2; n++)
    await team.db.tx(tenant, (tx) =>
      updateOrder(tx, order.id, (lockedOrder) =>
        receiveReport(tx, lockedOrder, report([numeric(first!)], { status: 'partial' })),
      ),
    )
  const shown = await getOrder(team, order.id)
  assert.deepEqual(
    shown.events.slice(-2).map(({ status }) => status),
    ['sample_with_lab.walk_in_test.partial_results', 'sample_with_lab.walk_in_test.partial_results'],
  )
  assert.deepEqual((await team.events(order.id)).slice(-2), [UPDATED, UPDATED])
  assert.equal((await getResult(team, order.id)).body.metadata.status, 'partial')
})
