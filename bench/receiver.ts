// A receiver of webhooks that does nothing but count them and, of those for /latency, remember when each arrived. Started by main.ts as
// a process.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

let arrived = new Map<string, number>()
let count = 0

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify({ count, arrived: [...arrived] }))
    arrived = new Map()
    return
  }
  if (request.method === 'DELETE') {
    count = 0
    arrived = new Map()
    return void response.end()
  }
  request.resume().on('end', () => {
    response.writeHead(204).end()
    count++
    if (request.url !== '/latency') return
    const id = String(request.headers['webhook-id'])
    if (!arrived.has(id)) arrived.set(id, performance.timeOrigin + performance.now())
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`))
