import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestTeam } from '../../../test/support/server.ts'
import { createOrder } from '../../../test/support/orders.ts'

const DAY_S = 86_400

test('the preview of an advance counts the jobs that the advance then runs, and changes nothing', async () => {
  const team = await createTestTeam()
  const order = await createOrder(team)
  assert.equal((await team.api.post(`/v3/order/${order.id}/test?delay=3600`)).status, 200)
  // The first step is due at once, the second an hour later.
  assert.equal((await team.api.post('/v1/sandbox/clock/advance', { seconds: 60 })).body.complete, true)
  const user = await team.user()
  await team.api.delete(`/v2/user/${user}`)
  const preview = async (query = '') => (await team.api.get(`/v1/sandbox/clock/preview${query}`)).body
  const week = await preview(`?seconds=${8 * DAY_S}`)
  assert.deepEqual(
    week.data.map(({ kind, job, count }: Record<string, unknown>) => [kind, job, count]),
    [
      ['simulated_step', 'simulator.step', 1],
      ['deadline', 'users.erase', 1],
    ],
  )
  assert.deepEqual(await preview(`?seconds=${8 * DAY_S}`).then(({ data }) => data), week.data)
  // Until the next job, and to its instant.
  const next = await preview()
  assert.equal(next.to, next.next_at)
  assert.equal(next.total, 1)
  assert.equal((await preview(`?to=${encodeURIComponent(next.next_at)}`)).total, next.total)
  const { jobs_run } = (await team.api.post('/v1/sandbox/clock/advance', { to: next.next_at })).body
  assert(jobs_run >= next.total)
})

test('a preview refuses what an advance refuses, and production', async () => {
  const team = await createTestTeam()
  assert.equal((await team.api.get('/v1/sandbox/clock/preview?to=2020-01-01T00:00:00Z')).status, 422)
  assert.equal((await team.api.get('/v1/sandbox/clock/preview?to=2100-01-01T00:00:00Z&seconds=5')).status, 422)
  const production = await createTestTeam('production-us')
  assert.equal((await production.api.get('/v1/sandbox/clock/preview')).status, 404)
})
