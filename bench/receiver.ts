// A receiver of webhooks that does nothing but count them and, of those for /latency, remember when each arrived. Those for /late/ get
// their answer after 14 s, those for /never/ none. Started by main.ts as a process.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Arrivals } from './delivery.ts'

const LATE_MS = 14_000

let arrived = new Map<string, number>()
let count = 0

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify({ count, arrivals: [...arrived] } satisfies Arrivals))
    arrived = new Map()
    return
  }
  if (request.method === 'DELETE') {
    count = 0
    arrived = new Map()
    return void response.end()
  }
  request.resume().on('end', () => {
    count++
    if (request.url!.startsWith('/never/')) return
    if (request.url!.startsWith('/late/')) return void setTimeout(() => response.writeHead(200).end(), LATE_MS)
    response.writeHead(204).end()
    if (request.url !== '/latency') return
    const id = String(request.headers['webhook-id'])
    if (!arrived.has(id)) arrived.set(id, performance.timeOrigin + performance.now())
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`))
