import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathWithIds, RecentRequests } from './recent-requests.ts'
import { client, createTestTeam } from '../../../test/support/server.ts'

const request = (n: number) => ({
  id: `r${n}`,
  at: '2026-01-31T09:30:00+00:00',
  method: 'GET',
  path: '/v3/orders',
  operation: 'get_orders',
  status: 200,
  duration_ms: n,
  error: null,
})

test('a team sees its own requests in order, once each, with the reason of a refusal and nothing of a patient', async () => {
  const [team, other] = [await createTestTeam(), await createTestTeam()]
  await other.api.get('/v3/lab_tests')
  const id = '01890000-0000-7000-8000-000000000000'
  await team.api.get(`/v3/order/${id}`)
  await team.api.get('/v2/user/resolve/swordfish?secret=swordfish')
  const first = (await team.api.get('/v1/sandbox/requests')).body
  assert.deepEqual(
    first.data.map(({ method, path, status, operation }: Record<string, unknown>) => [method, path, status, operation]),
    [
      ['GET', `/v3/order/${id}`, 404, 'get_order'],
      ['GET', '/v2/user/resolve/{client_user_id}', 404, first.data[1].operation],
    ],
  )
  assert.equal(first.data[0].error, "This order doesn't exist.")
  assert.doesNotMatch(JSON.stringify(first), /swordfish/)
  const next = (cursor: string) => team.api.get(`/v1/sandbox/requests?next_cursor=${cursor}`)
  assert.deepEqual((await next(first.next_cursor)).body.data, [])
  await team.api.post('/v3/order', {})
  const { data } = (await next(first.next_cursor)).body
  assert.equal(data.length, 1)
  assert.match(data[0].error, /^body\.\w+: /)
  // A server that was started again knows nothing of positions before.
  assert.equal((await next('elsewhere.7')).body.data.length, 3)
})

test('a production team has no list of requests', async () => {
  const team = await createTestTeam('production-us')
  assert.equal((await team.api.get('/v1/sandbox/requests')).status, 404)
  assert.equal((await client('sk_us_wrong').get('/v1/sandbox/requests')).status, 401)
})

test('a process keeps the last 200 requests of a team, and a client that comes late gets them', () => {
  const requests = new RecentRequests()
  requests.add('a', request(0))
  const { next_cursor } = requests.requestsAfter('a', undefined)
  for (let n = 1; n <= 250; n++) requests.add('a', request(n))
  const late = requests.requestsAfter('a', next_cursor)
  assert.deepEqual([late.requests.length, late.requests[0]!.id, late.requests.at(-1)!.id], [200, 'r51', 'r250'])
  assert.deepEqual(requests.requestsAfter('a', late.next_cursor).requests, [])
  assert.deepEqual(requests.requestsAfter('b', undefined).requests, [])
})

test('a path shows ids, and the name of any other value', () => {
  const id = '01890000-0000-7000-8000-000000000000'
  assert.equal(pathWithIds('/v2/user/{user_id}/{provider}', { user_id: id, provider: 'oura' }), `/v2/user/${id}/{provider}`)
  assert.equal(pathWithIds('/v1/{rest...}', { rest: 'a/b' }), '/v1/{rest}')
})
