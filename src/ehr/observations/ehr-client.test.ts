// Requests to EHR systems that do not behave.
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import { EhrClient, EhrError } from './ehr-client.ts'

async function server(listener: RequestListener): Promise<string> {
  const running = createServer(listener)
  await new Promise<void>((resolve) => running.listen(0, '127.0.0.1', resolve))
  after(() => {
    running.closeAllConnections()
    running.close()
  })
  return `http://127.0.0.1:${(running.address() as AddressInfo).port}/fhir`
}
const targets = new TargetPolicy({ loopback: true })
const post = (url: string, options: object = {}, sandbox = true) => {
  const client = new EhrClient({ targets, product: 'Drawbridge/test', ...options })
  after(() => client.close())
  return client.post(sandbox, { url, headers: {}, body: '{}' })
}
const failsWith = (work: Promise<unknown>, code: string) =>
  assert.rejects(work, (error) => error instanceof EhrError && error.code === code)

describe('a request to an EHR system', () => {
  test('ends at its deadline, also while the name of the server is resolved', { timeout: 10_000 }, async () => {
    const never = new TargetPolicy({ resolve: () => new Promise<string[]>(() => {}) })
    await failsWith(post('https://ehr.example/fhir', { targets: never, request_ms_max: 50 }), 'unreachable')
    const stuck = await server(() => {})
    await failsWith(post(stuck, { request_ms_max: 50 }), 'unreachable')
  })

  test('fails for answers other than success, with redirects among them, and for answers that are too long', async () => {
    const to = await server((request, response) =>
      response.writeHead(Number(request.headers['x-status'] ?? 302), { location: '/elsewhere' }).end('a long answer'),
    )
    await failsWith(post(to), 'http_302')
    await failsWith(post(to, { answer_bytes_max: 5 }), 'answer_too_long')
  })

  test('reaches no http server and no loopback address in production', async () => {
    const to = await server((_request, response) => response.end('{}'))
    assert.equal(await post(to), '{}')
    await failsWith(post(to, {}, false), 'unreachable')
    await failsWith(post(to.replace('http:', 'https:'), {}, false), 'unreachable')
  })
})
