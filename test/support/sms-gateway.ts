// An SMS gateway for tests: it speaks HTTP, sends the responses that a test sets, and records the requests.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

interface SmsRequest {
  reference: string
  authorization: string | undefined
  body: { from: string; to: string; text: string; reference: string }
}

/** @param answer a status, now or later, or nothing at all; asked for each message with how many came before */
export async function startSmsGateway(answer: (requestCount: number) => number | 'never' | Promise<number> = () => 202) {
  const asked: SmsRequest[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const { 'idempotency-key': reference, authorization } = request.headers
      asked.push({
        reference: String(reference),
        authorization,
        body: JSON.parse(Buffer.concat(chunks).toString('utf8')) as SmsRequest['body'],
      })
      const status = await answer(asked.length - 1)
      if (status === 'never') return request.socket.destroy()
      response.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' })
      response.end('{"swordfish":"+15550100199"}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/messages`, asked }
}
