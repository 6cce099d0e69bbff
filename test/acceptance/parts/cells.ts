// The four cells behind one address: each key opens its own, and nothing of one is in another.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { JunctionClient } from '@junction-api/sdk'
import { customer, assertRejected, type Customer } from '../client.ts'
import { cells, type Cell, type Server } from '../server.ts'

export const cellsAndKeys = (server: Server): void =>
  void describe('cells and keys', () => {
    const all = new Map<Cell, Customer>()
    for (const cell of cells) if (server.keys[cell]) all.set(cell, customer(server, cell))
    const others = (cell: Cell) => [...all].filter(([name]) => name !== cell).map(([, other]) => other)
    const missing = cells.filter((cell) => !all.has(cell))
    const skip = missing.length ? `there are no keys for ${missing.join(', ')}` : false

    test('the same reference is a user of its own in each cell', { skip }, async () => {
      const reference = `acceptance-${randomUUID()}`
      const made = new Map<Cell, string>()
      for (const [cell, { user }] of all) made.set(cell, (await user(reference)).userId)
      assert.equal(new Set(made.values()).size, 4)
      for (const [cell, { sdk }] of all) {
        assert.equal((await sdk.user.getByClientUserId({ clientUserId: reference })).userId, made.get(cell))
        const listed = (await sdk.user.getAll({ limit: 500 })).users.map(({ userId }) => userId)
        for (const [name, userId] of made) assert.equal(listed.includes(userId), name === cell)
        for (const [name, userId] of made) if (name !== cell) await assertRejected(sdk.user.get({ userId }), 404)
      }
    })

    test('an order is there in its own cell only', { skip }, async () => {
      for (const [cell, own] of all) {
        const placed = await own.order()
        for (const { sdk } of others(cell)) {
          await assertRejected(sdk.labTests.getOrder({ orderId: placed.id }), 404)
          await assertRejected(sdk.labTests.cancelOrder({ orderId: placed.id }), 404)
          await assertRejected(sdk.orderTransaction.getTransaction({ transactionId: placed.orderTransaction!.id }), 404)
          assert.deepEqual((await sdk.labTests.getOrders({ orderIds: [placed.id] })).orders, [])
          assert.deepEqual((await sdk.order.resendEvents({ orderIds: [placed.id] })).orderIds, [])
        }
        const found = await own.sdk.labTests.getOrder({ orderId: placed.id })
        assert.notEqual(found.status, 'cancelled')
      }
    })

    test('a lab test of another region cannot be ordered', { skip }, async () => {
      const [us, eu] = [all.get('sandbox-us')!, all.get('sandbox-eu')!]
      await assertRejected(us.order({ labTestId: await eu.kitTest() }), 404)
    })

    test('what plays the world is there in the sandbox only', { skip }, async () => {
      for (const cell of ['production-us', 'production-eu'] as const) {
        const { sdk, order, passthrough } = all.get(cell)!
        const { id: orderId } = await order()
        await assertRejected(sdk.labTests.simulateOrderProcess({ orderId }), 404)
        assert.equal((await passthrough('/v1/sandbox/clock')).status, 404)
      }
    })

    test('a sandbox team sees its newest requests', async () => {
      const { order, passthrough } = all.get('sandbox-us')!
      await order()
      const { status, body } = await passthrough('/v1/sandbox/requests')
      assert.equal(status, 200)
      const { data } = body as { data: { path: string; status: number }[] }
      assert(data.some((request) => request.path.startsWith('/v3/order') && request.status === 200))
    })

    test(
      'a sandbox team sets, reads and removes faults of its own requests, which production does not have',
      { skip },
      async () => {
        const path = '/v1/sandbox/faults'
        const { passthrough, sdk } = all.get('sandbox-eu')!
        const body = JSON.stringify({ requests: [{ operation: 'get_teams_users', status: 503, times: 1 }] })
        const put = { method: 'PUT', body, headers: { 'content-type': 'application/json' } }
        assert.equal((await passthrough(path, put)).status, 200)
        const { requests } = (await passthrough(path)).body as { requests: unknown[] }
        assert.equal(requests.length, 1)
        assert.equal((await passthrough(path, { method: 'DELETE' })).status, 204)
        await sdk.user.getAll({ limit: 1 })
        assert.equal((await all.get('production-eu')!.passthrough(path)).status, 404)
      },
    )

    test("a sandbox team's clock moves forward and takes its work with it", async () => {
      // The clock of the first cell stays where it is: other tests look at its dates.
      const { order, sdk, passthrough } = all.get('sandbox-eu') ?? all.get('sandbox-us')!
      const before = (await passthrough('/v1/sandbox/clock')).body as { offset_s: number }
      assert.equal((await passthrough('/v1/sandbox/clock/preview?seconds=60')).status, 200)
      const { id: orderId } = await order()
      await sdk.labTests.simulateOrderProcess({ orderId, delay: 3600 })
      const init = { method: 'POST', body: '{"seconds":86400}', headers: { 'content-type': 'application/json' } }
      const moved = await passthrough('/v1/sandbox/clock/advance', init)
      assert.equal(moved.status, 200)
      const after = (await passthrough('/v1/sandbox/clock')).body as { offset_s: number }
      assert(after.offset_s >= before.offset_s + 86_399)
      assert.equal((await sdk.labTests.getOrder({ orderId })).lastEvent.status, 'completed.testkit.completed')
    })

    test(
      'the 51st user of a sandbox team is refused, until one leaves',
      { skip: !server.log && 'its limit may be another' },
      async () => {
        const { sdk, user, leave } = customer(server, 'sandbox-eu')
        for (let { total } = await sdk.user.getAll({ limit: 1 }); total! < 50; total!++) await user()
        const detail = {
          error_type: 'INVALID_REQUEST',
          error_message: 'You have reached the maximum of 50 Sandbox users',
        }
        assert.deepEqual((await assertRejected(user(), 400)).body, { detail })
        await leave()
        await user()
        await leave()
      },
    )

    test('a key that is unknown, cut off, of another cell or of another kind is refused', async () => {
      const key = server.keys['sandbox-us']!
      const wrong = [
        `sk_us_${'x'.repeat(43)}`,
        key.slice(0, -1),
        key.replace('sk_us_', 'sk_eu_'),
        key.replace('sk_us_', 'pk_us_'),
        'x',
      ]
      if (server.management_key) wrong.push(server.management_key)
      for (const apiKey of wrong) {
        const sdk = new JunctionClient({ apiKey, environment: server.base_url })
        const calls = [() => sdk.user.getAll(), () => sdk.user.create({ clientUserId: 'x' }), () => sdk.labTests.getLabs()]
        for (const call of calls) {
          const error = await assertRejected(call(), 401)
          assert.equal(typeof (error.body as { detail: unknown }).detail, 'string')
        }
      }
    })

    test('a team key does not pass for a management key, nor a bearer token for a key', async () => {
      const key = server.keys['sandbox-us']!
      for (const headers of [{ 'x-management-key': key }, { authorization: `Bearer ${key}` }]) {
        const sdk = new JunctionClient({ apiKey: 'none', auth: async () => ({ headers }), environment: server.base_url })
        await assertRejected(sdk.user.getAll(), 401)
      }
    })

    test('both spellings of the key header may be sent, if they agree', async () => {
      const apiKey = server.keys['sandbox-us']!
      const sdk = (headers: Record<string, string>) => new JunctionClient({ apiKey, headers, environment: server.base_url })
      assert.deepEqual(await sdk({ 'x-service-api-key': apiKey }).labTests.getLabs(), await sdk({}).labTests.getLabs())
      await assertRejected(sdk({ 'x-service-api-key': 'another' }).labTests.getLabs(), 401)
    })

    test('the address may be given as base URL, with a slash at its end', async () => {
      const apiKey = server.keys['sandbox-us']!
      for (const baseUrl of [server.base_url, `${server.base_url}/`]) {
        const sdk = new JunctionClient({ apiKey, baseUrl })
        assert((await sdk.labTests.getLabs()).length > 0)
      }
    })

    test('a request id comes with every answer, refusals too', async () => {
      const { sdk } = all.get('sandbox-us')!
      const { rawResponse } = await sdk.labTests.getLabs().withRawResponse()
      assert(rawResponse.headers.get('x-request-id'))
      assert((await assertRejected(sdk.user.get({ userId: 'nonsense' }), 422)).requestId)
    })

    test('a body that is far too large is refused, and who sends it sees that', async () => {
      const { passthrough } = all.get('sandbox-us')!
      const init = { method: 'POST', body: `"${'x'.repeat(5_000_000)}"`, headers: { 'content-type': 'application/json' } }
      for (let i = 0; i < 10; i++) assert.equal((await passthrough('/v2/user', init)).status, 413)
    })

    test('users of these tests leave', async () => {
      for (const { leave } of all.values()) await leave()
    })
  })
