// Connections that are kept: used again by their endpoint, and given up for those that are used more.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { receiver } from '../../../../test/support/webhook-receiver.ts'
import { targets } from '../../../../test/support/server.ts'
import { Sender, type HttpResult } from './http-sender.ts'

/** A sender that keeps so many connections, and how many its receiver has seen. */
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

test('an endpoint uses its connection again, and no other', async () => {
  const { to } = await sending(10)
  assert.equal(await to('a', 'a', 'a'), 1)
  assert.equal(await to('b', 'a', 'b', 'a'), 2)
})

test('of too many connections the one that has been idle longest goes, not the one that was used last', async () => {
  const { to } = await sending(2)
  assert.equal(await to('a', 'b'), 2)
  assert.equal(await to('c', 'c', 'b', 'c', 'b'), 3)
  assert.equal(await to('a'), 4)
  assert.equal(await to('b', 'a'), 4)
  assert.equal(await to('c'), 5)
})
