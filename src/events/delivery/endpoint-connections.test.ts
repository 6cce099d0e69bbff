// Kept connections: each endpoint reuses its own, and idle ones are closed in favor of those in use. Whom a connection trusts.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { certificate, secureContext } from '../../../test/support/smtp-server.ts'
import { receiver } from '../../../test/support/webhook-receiver.ts'
import { targets } from '../../../test/support/server.ts'
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
      const { status } = await new Promise<HttpResult>((resolve) => sender.post({ id, url }, [], Buffer.from('{}'), resolve))
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

test('an untrusted certificate stops delivery to a receiver, and a trusted one does not', async () => {
  let requests = 0
  const server = createServer({ SNICallback: (_name, callback) => callback(null, secureContext()) }, (_request, response) => {
    requests++
    response.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const trusted = getCACertificates('default')
  after(() => {
    setDefaultCACertificates(trusted)
    server.closeAllConnections()
    server.close()
  })
  const url = `https://localhost:${(server.address() as AddressInfo).port}/`
  const sent = async (...ids: string[]) => {
    const sender = new Sender({ targets, sandbox: true, product: 'Drawbridge/test', mayBegin: () => true })
    after(() => sender.close())
    const results: HttpResult[] = []
    for (const id of ids)
      results.push(await new Promise<HttpResult>((resolve) => sender.post({ id, url }, [], Buffer.from('{}'), resolve)))
    return results.map(({ status, error }) => [status, error !== null])
  }
  assert.deepEqual(await sent('a', 'b'), [
    [null, true],
    [null, true],
  ])
  assert.equal(requests, 0)
  setDefaultCACertificates([...trusted, certificate])
  assert.deepEqual(await sent('a', 'b', 'a'), [
    [200, false],
    [200, false],
    [200, false],
  ])
  assert.equal(requests, 3)
})
