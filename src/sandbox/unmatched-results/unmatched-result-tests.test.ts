// Unmatched-result tests. Source: lab-testing.md 14.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import { getOrder } from '../../../test/support/orders.ts'
import { acceptedOrder, advanceOrder } from '../../../test/support/results.ts'
import { cells, createTestTeam, guard, type TestTeam } from '../../../test/support/server.ts'
import { examplePhysician } from '../../people/person/example-patient.ts'
import { unmatchedResultTestCases, requiredRoles } from './cases.ts'
import { command } from '../../../test/support/commands.ts'

const PATH = '/v3/unmatched_result_test'
const post = ({ api }: TestTeam, body: unknown, key: string = randomUUID()) => api.post(PATH, body, { 'x-idempotency-key': key })

/** Starts a run and waits for its end. */
async function testRun(team: TestTeam, body: Record<string, unknown>) {
  const { status, body: started } = await post(team, body)
  assert.deepEqual([status, started.status], [202, 'queued'], JSON.stringify(started))
  await team.settle()
  return (await team.api.get(`${PATH}/${started.run_id}`)).body
}

test('lists eight unmatched-result test cases with their orders', async () => {
  const { body } = await (await createTestTeam()).api.get(`${PATH}/case`)
  assert.deepEqual(
    body.data.map((test: { case: string }) => test.case),
    unmatchedResultTestCases,
  )
  assert.equal(body.data.length, 8)
  for (const one of body.data) assert.deepEqual(one.order_roles, Object.keys(one.required_statuses))
})

describe('unmatched-result tests with managed orders', () => {
  for (const name of unmatchedResultTestCases.filter((testCase) => testCase !== 'wrong_collection'))
    test(`${name} ends in a review with that code, also when it runs again`, async () => {
      const team = await createTestTeam()
      for (const interpretation of ['normal', 'critical']) {
        const run = await testRun(team, { case: name, order_source: 'managed', interpretation })
        assert.deepEqual([run.status, run.stage, run.error], ['succeeded', 'succeeded', null])
        assert.deepEqual(Object.keys(run.orders), Object.keys(requiredRoles[name]))
        const review = (await team.api.get(`/v3/unmatched_result/${run.raw_result_id}`)).body
        assert.deepEqual([review.decision_code, review.interpretation], [name, interpretation])
        assert.deepEqual(await team.events(run.raw_result_id), ['labtest.match_review.created'])
      }
      assert((await team.api.get('/v2/user')).body.total <= 2)
    })

  test('a run waits for a worker, and shows its times', async () => {
    const team = await createTestTeam()
    const { body } = await post(team, { case: 'no_match', order_source: 'managed', result_status: 'partial' })
    const queued = (await team.api.get(`${PATH}/${body.run_id}`)).body
    assert.deepEqual([queued.status, queued.stage, queued.started_at, queued.completed_at], ['queued', 'queued', null, null])
    await team.settle()
    const done = (await team.api.get(`${PATH}/${body.run_id}`)).body
    assert(done.started_at && done.completed_at)
    assert.equal((await team.api.get(`/v3/unmatched_result/${done.raw_result_id}`)).body.result_status, 'partial')
  })

  test('a run of a team with several suitable tests fails with an error, unless its case orders no test', async () => {
    const team = await createTestTeam()
    const { name, lab_id, markers } = (await team.api.get(`/v3/lab_tests?collection_method=walk_in_test`)).body.map(
      (test: { name: string; lab: { id: number }; markers: { id: number }[] }) => ({
        name: test.name,
        lab_id: test.lab.id,
        markers: test.markers.map(({ id }) => id),
      }),
    )[0]
    const duplicate = await team.api.post('/v3/lab_tests', {
      name: `${name} again`,
      description: 'A duplicate',
      method: 'walk_in_test',
      lab_id,
      marker_ids: markers,
    })
    assert.equal(duplicate.status, 200, JSON.stringify(duplicate.body))
    const run = await testRun(team, { case: 'match_completed', order_source: 'managed' })
    assert.deepEqual([run.status, run.stage, run.error.code], ['failed', 'failed', 'ambiguous_configuration'])
    const any = await testRun(team, { case: 'no_match', order_source: 'managed' })
    assert.deepEqual([any.status, any.error], ['succeeded', null])
    const chosen = await testRun(team, {
      case: 'no_match',
      order_source: 'managed',
      lab_test_id: await team.test('walk_in_test'),
    })
    assert.equal(chosen.status, 'succeeded')
    const kit = await testRun(team, { case: 'no_match', order_source: 'managed', lab_test_id: await team.test() })
    assert.equal(kit.error.code, 'invalid_configuration')
  })

  for (const delegated_flow of ['order_delegated', 'fully_delegated'] as const)
    test(`a run sends a physician if the lab account is ${delegated_flow}`, async () => {
      const team = await createTestTeam()
      const lab = (await team.api.get(`/v3/lab_tests/${await team.test('walk_in_test')}`)).body.lab.slug
      assert.equal(lab, 'quest')
      await labAccount(team, { lab, delegated_flow })
      for (const name of ['match_completed', 'match_demo', 'no_match']) {
        const run = await testRun(team, { case: name, order_source: 'managed' })
        assert.deepEqual([run.status, run.error], ['succeeded', null], name)
        for (const { order_id } of Object.values(run.orders as Record<string, { order_id: string }>))
          assert.deepEqual((await getOrder(team, order_id)).physician, examplePhysician)
      }
    })

  test('fails a run whose review is not visible to the team', async () => {
    const team = await createTestTeam()
    await command(cells, ['team', 'feature', team.team, 'unmatched_results', 'off'])
    guard.invalidate(team.team)
    assert.equal((await testRun(team, { case: 'no_match', order_source: 'managed' })).error.code, 'not_reviewable')
  })
})

describe('unmatched-result tests with provided orders', () => {
  test('wrong_collection requires an at-home phlebotomy order', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team, 'at_home_phlebotomy')
    const body = { case: 'wrong_collection', order_source: 'provided', orders: { original: order.id } }
    const run = await testRun(team, body)
    assert.deepEqual([run.status, run.orders.original.order_id], ['succeeded', order.id])
    const other = await acceptedOrder(team)
    const refused = await testRun(team, { ...body, orders: { original: other.id } })
    assert.equal(refused.error.code, 'invalid_order')
  })

  test('a run fails if an order is not in the state that the case needs, and succeeds otherwise', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const body = { case: 'match_cancelled', order_source: 'provided', orders: { original: order.id } }
    assert.equal((await testRun(team, body)).error.code, 'invalid_order')
    await advanceOrder(team, order, 'cancelled')
    assert.equal((await testRun(team, body)).status, 'succeeded')
  })

  test('wrong_lab and no_match require no lab tests of the team', async () => {
    const team = await createTestTeam()
    const order = await acceptedOrder(team)
    const run = await testRun(team, { case: 'wrong_lab', order_source: 'provided', orders: { original: order.id } })
    assert.equal(run.status, 'succeeded')
    assert.equal((await testRun(team, { case: 'no_match', order_source: 'provided' })).status, 'succeeded')
  })
})

describe('rejected unmatched-result tests', () => {
  const id = randomUUID()
  const refused: [string, Record<string, unknown>, number, (string | number)[]][] = [
    ['an at-home case without an order', { case: 'wrong_collection', order_source: 'managed' }, 422, ['order_source']],
    [
      'managed orders that are also provided',
      { case: 'no_match', order_source: 'managed', orders: { original: id } },
      422,
      ['orders'],
    ],
    ['a missing role', { case: 'match_demo', order_source: 'provided', orders: { first: id } }, 422, ['orders']],
    ['an unknown role', { case: 'no_match', order_source: 'provided', orders: { first: id } }, 422, ['orders']],
    ['an unknown field', { case: 'no_match', order_source: 'managed', unknown: 1 }, 422, ['unknown']],
  ]
  for (const [what, body, status, loc] of refused)
    test(`rejects ${what}`, async () => {
      const reply = await post(await createTestTeam(), body)
      assert.equal(reply.status, status)
      assert.deepEqual(reply.body.detail[0].loc, ['body', ...loc])
    })

  test('rejects a lab test for a case that has no lab test', async () => {
    const team = await createTestTeam()
    const body = { case: 'no_match', order_source: 'managed', wrong_lab_test_id: await team.test() }
    assert.equal((await post(team, body)).status, 422)
  })

  test('rejects unknown orders and lab tests', async () => {
    const team = await createTestTeam()
    assert.equal((await post(team, { case: 'no_match', order_source: 'managed', lab_test_id: id })).status, 404)
    const body = { case: 'match_cancelled', order_source: 'provided', orders: { original: id } }
    assert.equal((await post(team, body)).status, 404)
    assert.equal((await team.api.get(`${PATH}/${id}`)).status, 404)
  })

  test('rejects a missing idempotency key, and a key that was used for another request', async () => {
    const team = await createTestTeam()
    const body = { case: 'no_match', order_source: 'managed' }
    const missing = await team.api.post(PATH, body)
    assert.deepEqual([missing.status, missing.body.detail[0].loc], [422, ['header', 'X-Idempotency-Key']])
    const first = await post(team, body, 'one')
    assert.deepEqual((await post(team, { order_source: 'managed', case: 'no_match' }, 'one')).body, first.body)
    assert.equal((await post(team, { ...body, result_status: 'partial' }, 'one')).status, 409)
  })
})

test('unmatched-result tests are unavailable in production and without the feature', async () => {
  const [production, team] = [await createTestTeam('production-us'), await createTestTeam()]
  await command(cells, ['team', 'feature', team.team, 'unmatched_result_test', 'off'])
  guard.invalidate(team.team)
  for (const one of [production, team]) {
    const replies = [
      await one.api.get(`${PATH}/case`),
      await post(one, { case: 'no_match', order_source: 'managed' }),
      await one.api.get(`${PATH}/${randomUUID()}`),
    ]
    assert.deepEqual(
      replies.map(({ status, body }) => [status, body]),
      replies.map(() => [404, { detail: 'Not Found' }]),
    )
  }
})
