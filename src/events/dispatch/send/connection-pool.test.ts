// Kept connections: each endpoint reuses its own, and idle ones are closed in favor of those in use.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { receiver } from '../../../../test/support/webhook-receiver.ts'
import { targets } from '../../../../test/support/server.ts'
import { Sender, type HttpResult } from './http-sender.ts'

/** A sender that keeps a number of connections, and the number that its receiver has seen. */
async function sending(idle_max: number) {
  const { url, server } = await receiver()
  let connections = 0
  server.on('connection', () => connections++)
  const sender = new Sender({ targets, sandbox: true, product: 'Drawbridge/test', idle_max, mayBegin: () => true })
  after(() => sender.close())
  const to = async (...endpoints: string[]) => {
    for (const id of endpoints) {
      const { status } = await new Promise<HttpResult>((done) => sender.post({ id, url }, [], Buffer.from('{}'), done))
      assert.equal(status, 200)
    }
    return connections
  }
  return { to }
}

test('an endpoint reuses its own connection and no other', async () => {
  const { to } = await sending(10)
  assert.equal(await to('a', 'a', 'a'), 1)
  assert.equal(await to('b', 'a', 'b', 'a'), 2)
})

test('the pool closes the connection that has been idle longest, not the most recently used one', async () => {
  const { to } = await sending(2)
  assert.equal(await to('a', 'b'), 2)
  assert.equal(await to('c', 'c', 'b', 'c', 'b'), 3)
  assert.equal(await to('a'), 4)
  assert.equal(await to('b', 'a'), 4)
  assert.equal(await to('c'), 5)
})
