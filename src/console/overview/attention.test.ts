import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { createOrder } from '../../../test/support/orders.ts'
import { reviewWithoutPatient } from '../../../test/support/reviews.ts'
import { delivering, emitEvents, endpoint, receiver } from '../../../test/support/webhook-receiver.ts'
import { readExample, waitingReport } from '../../../test/support/waiting-reports.ts'

const delivery = delivering({ schedule_s: [0] })

/** The counts that are not 0. */
async function attentionOf(team: TestTeam): Promise<Record<string, number>> {
  const { status, body } = await team.api.get('/console/v1/attention')
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.data.length, 9)
  const counted = body.data as { kind: string; count: number; is_exact: boolean }[]
  assert(counted.every(({ is_exact }) => is_exact))
  return Object.fromEntries(counted.flatMap(({ kind, count }) => (count ? [[kind, count]] : [])))
}

test('a team sees its own items that need attention, and none of another team', async () => {
  const [team, other] = [await createTestTeam(), await createTestTeam()]
  assert.deepEqual(await attentionOf(team), {})
  const refusing = await receiver((_received, response) => response.writeHead(500).end())
  const hook = await endpoint(team, { url: refusing.url })
  const user_id = await emitEvents(team)
  await delivery.drain()
  await waitingReport(team, user_id, readExample)
  assert.deepEqual(await attentionOf(team), { endpoints_failing: 1, deliveries_failed: 1, lab_reports_to_review: 1 })
  const shift = (assignment: string) => team.db.pool.query(`update destination set ${assignment} where id = $1`, [hook.id])
  await shift('first_failure_at = null, paused_until = null')
  assert.equal((await attentionOf(team)).endpoints_failing, undefined)
  await shift(`failing_since = '2026-01-01'`)
  await team.db.pool.query('update webhook set disabled = true where id = $1', [hook.id])
  assert.deepEqual([(await attentionOf(team)).endpoints_failing, (await attentionOf(team)).endpoints_disabled], [undefined, 1])
  await reviewWithoutPatient(team)
  assert.equal((await attentionOf(team)).results_to_review, 1)
  await team.db.pool.query(
    `update job set failed_at = now() where id = (select id from job where team_id = $1 and failed_at is null limit 1)`,
    [team.team],
  )
  assert.equal((await attentionOf(team)).jobs_failed, 1)
  assert.deepEqual(await attentionOf(other), {})
})

test('orders of a laboratory with manual fulfillment wait for staff', async () => {
  const team = await createTestTeam()
  const body = { name: 'By hand', description: 'By hand', method: 'walk_in_test', lab_slug: 'manual', provider_ids: ['MAN-A1C'] }
  const { id: lab_test_id } = (await team.api.post('/v3/lab_tests', body)).body
  const order = await createOrder(team, { lab_test_id })
  assert.deepEqual(await attentionOf(team), { orders_waiting_for_staff: 1 })
  await team.api.delete(`/v2/user/${order.user_id}`)
  assert.deepEqual(await attentionOf(team), {})
})

test('connections in error and text messages that were not sent are counted', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  const demo = { user_id, provider: 'fitbit' }
  await team.api.post('/v2/link/connect/demo', demo)
  const failed = await team.api.post('/v1/sandbox/demo/error', { ...demo, error_type: 'token_refresh_failed' })
  assert.equal(failed.status, 200, JSON.stringify(failed.body))
  const order = await createOrder(team)
  await team.db.pool.query(
    `insert into patient_message (order_id, id, team_id, kind, channel, recipient, body, created_at, state, finished_at)
     values ($1, gen_random_uuid(), $2, 'ordered', 'sms', '+15550100199', 'Fictional', now(), 'failed', now())`,
    [order.id, team.team],
  )
  assert.deepEqual(await attentionOf(team), { connections_failing: 1, messages_failed: 1 })
})
