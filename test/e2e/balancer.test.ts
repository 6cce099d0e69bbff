// The proxy of deploy/haproxy.cfg does what docs/operating/balancer.md asks of a balancer.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-ports.ts'
import { configureHaproxy, HAPROXY, hasHaproxy } from '../support/haproxy.ts'
import { folder, stopAll } from '../support/program.ts'

const skip = hasHaproxy() || process.env.CI_FAILOVER === 'required' ? false : 'haproxy (Debian) is not installed'

/** A server behind the proxy, with its operator port. */
class Backend {
  readonly requests: { method: string; url: string; forwardedFor: string[] }[] = []
  isReady = true
  respond: RequestListener = (_request, response) => response.end('served')
  readonly api = createServer((request, response) => {
    this.requests.push({
      method: request.method!,
      url: request.url!,
      forwardedFor: request.headersDistinct['x-forwarded-for'] ?? [],
    })
    this.respond(request, response)
  })
  readonly operator = createServer((request, response) =>
    response.writeHead(request.url === '/readyz' && this.isReady ? 200 : 503).end(),
  )
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port

describe('the proxy in front of the servers', { skip, concurrency: false }, () => {
  const backends = [new Backend(), new Backend()]
  let url: string
  let proxy: ChildProcess
  before(async () => {
    const servers = backends.flatMap(({ api, operator }) => [api, operator])
    await Promise.all(servers.map((server) => once(server.listen(0, '127.0.0.1'), 'listening')))
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const file = `${folder('haproxy')}.cfg`
    const addresses = backends.map(({ api, operator }) => ({ port: portOf(api), check_port: portOf(operator) }))
    writeFileSync(file, configureHaproxy({ api: { port, servers: addresses } }))
    proxy = spawn(HAPROXY, ['-db', '-f', file], { stdio: 'ignore' })
    await eventually(() =>
      fetch(url).then(
        ({ ok }) => ok || undefined,
        () => undefined,
      ),
    )
  })
  after(async () => {
    proxy?.kill('SIGKILL')
    for (const { api, operator } of backends)
      for (const server of [api, operator]) {
        server.closeAllConnections()
        server.close()
      }
    await stopAll()
  })

  /** The requests for a path that have reached a server. */
  const arrivals = (path: string) => backends.flatMap(({ requests }) => requests.filter((request) => request.url === path))

  test('adds the address of the caller after those that the caller names', async () => {
    const response = await fetch(`${url}/address`, { headers: { 'x-forwarded-for': '192.0.2.7' } })
    assert.equal(response.status, 200)
    assert.deepEqual(arrivals('/address')[0]!.forwardedFor, ['192.0.2.7', '127.0.0.1'])
  })

  test('passes a refusal of a server on, with its body and Retry-After', async () => {
    for (const backend of backends)
      backend.respond = (_request, response) => response.writeHead(503, { 'retry-after': '1' }).end('{"detail":"try again"}')
    const response = await fetch(`${url}/refused`, { method: 'POST', body: 'fictional' })
    assert.deepEqual(
      [response.status, response.headers.get('retry-after'), await response.text()],
      [503, '1', '{"detail":"try again"}'],
    )
    assert.equal(arrivals('/refused').length, 1)
  })

  test('does not repeat a request that a server has received', async () => {
    for (const backend of backends) backend.respond = (request) => request.socket.destroy()
    // On a connection that was used before, HAProxy closes it in place of a response.
    const status = await fetch(`${url}/lost`, { method: 'POST', body: 'fictional' }).then(
      (response) => response.status,
      () => 'closed',
    )
    assert([502, 'closed'].includes(status))
    assert.equal(arrivals('/lost').length, 1)
  })

  test('sends nothing to a server that is not ready, and nothing is lost when a server is gone', async () => {
    for (const backend of backends) backend.respond = (_request, response) => response.end('served')
    const [first, second] = backends as [Backend, Backend]
    first.isReady = false
    await eventually(async () => {
      const count = first.requests.length
      for (let i = 0; i < 4; i++) await fetch(`${url}/one`)
      return first.requests.length === count || undefined
    })
    first.isReady = true
    await eventually(async () => {
      const count = first.requests.length
      for (let i = 0; i < 4; i++) await fetch(`${url}/both`)
      return first.requests.length > count || undefined
    })
    second.api.closeAllConnections()
    second.api.close()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => fetch(`${url}/gone`, { method: 'POST', body: 'fictional' })),
    )
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    assert.equal(arrivals('/gone').length, 8)
  })
})
