// The limit for answers that need no database: bare node:http that knows them as bytes. Started by main.ts as a process, it fetches them
// from ours once.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const { url, headers, paths } = JSON.parse(process.argv[2]!) as { url: string; headers: Record<string, string>; paths: string[] }
const answers = new Map<string, Buffer>()
for (const path of paths) answers.set(path, Buffer.from(await (await fetch(url + path, { headers })).arrayBuffer()))
const server = createServer((request, reply) => {
  const body = answers.get(request.url!)!
  reply.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`))
