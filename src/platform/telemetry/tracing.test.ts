// Traces: what a collector receives of requests, jobs and webhook attempts, and what it does not.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { assembleProcess, createTestTeam } from '../../../test/support/server.ts'
import { createLog } from './log.ts'
import { createMetrics } from './metrics.ts'
import { openTracing } from './tracing.ts'

interface Span {
  name: string
  kind: number
  traceId: string
  parentSpanId?: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  status: { code: number }
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
}

/** A collector that keeps what it receives. */
async function collector(status = 200) {
  const received: { path: string; text: string }[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => (text += part))
    request.on('end', () => {
      received.push({ path: request.url!, text })
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const spans = () =>
    received.flatMap(({ text }) =>
      (JSON.parse(text) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }).resourceSpans.flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap((scope) => scope.spans),
      ),
    )
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, spans }
}

const attributesOf = ({ attributes }: Span) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]))
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'

test('the log names the trace of a caller whose header is well-formed, and no other trace', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-traces-'))
  after(() => rmSync(folder, { recursive: true }))
  const log = createLog('info', { path: join(folder, 'log') })
  const { app } = assembleProcess({ log })
  after(() => app.close())
  const headers = [
    `00-${TRACE}-${CALLER}-01`,
    `01-${TRACE}-${CALLER}-00-more`,
    `00-${TRACE}-${CALLER}-01-Fictional`,
    '00-Testa.Fictional+1980-01-31-01',
    `00-${TRACE.toUpperCase()}-${CALLER}-01`,
    `00-${TRACE}\u00e9-${CALLER}-01`,
    `ff-${TRACE}-${CALLER}-01`,
    `00-${'0'.repeat(32)}-${CALLER}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    'Fictional',
  ]
  for (const traceparent of headers) await app.inject({ url: '/v2/user', headers: { traceparent } })
  const lines = await eventually(() => {
    log.flush()
    const written = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n')
    return written.length >= headers.length ? written.map((line) => JSON.parse(line) as Record<string, unknown>) : undefined
  }, 'a line for each request')
  assert.deepEqual(
    lines.map((line) => line['trace.id']),
    [TRACE, TRACE, ...headers.slice(2).map(() => undefined)],
  )
  assert(!JSON.stringify(lines).includes('Fictional'))
})

describe('a collector', () => {
  test('receives a span of each request with the template of its path, as a child of the caller, and nothing of the patient', async () => {
    const { url, received, spans } = await collector()
    const tracing = await openTracing(url, createLog('silent'))
    const team = await createTestTeam()
    const { app } = assembleProcess({ metrics: createMetrics(() => undefined, tracing) })
    after(() => app.close())
    const user_id = await team.user()
    const ask = async (path: string, headers: Record<string, string> = {}) =>
      (await app.inject({ url: path, headers: { 'x-vital-api-key': team.key, ...headers } })).statusCode
    const traceparent = `00-${TRACE}-${CALLER}-01`
    assert.equal(await ask(`/v2/user/${user_id}?name=Fictional-Name`, { traceparent }), 200)
    assert.equal(await ask('/nothing/Fictional-Name'), 404)
    assert.equal(await ask(`/v2/user/${user_id}`, { traceparent: `00-${'0'.repeat(32)}-${CALLER}-01` }), 200)
    await tracing.stop()
    assert.deepEqual([...new Set(received.map(({ path }) => path))], ['/v1/traces'])
    const [asked, unknown, unparented] = spans()
    assert.deepEqual(
      [asked!.name, asked!.kind, asked!.traceId, asked!.parentSpanId, asked!.status.code],
      ['GET /v2/user/{user_id}', 2, TRACE, CALLER, 0],
    )
    assert.deepEqual(attributesOf(asked!), {
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'http.route': '/v2/user/{user_id}',
      'drawbridge.operation': 'get_user',
    })
    assert(BigInt(asked!.endTimeUnixNano) > BigInt(asked!.startTimeUnixNano))
    assert.deepEqual([unknown!.name, attributesOf(unknown!)['http.response.status_code']], ['GET', 404])
    assert.equal(unparented!.parentSpanId, undefined)
    const all = received.map(({ text }) => text).join('\n')
    for (const secret of [user_id, team.key, team.team, 'Fictional-Name']) assert(!all.includes(secret), `a span holds ${secret}`)
    assert.match(all, /"service\.name".{1,40}"drawbridge"/)
  })

  test('receives spans of jobs and webhook attempts, failed ones as errors', async () => {
    const { url, spans } = await collector()
    const tracing = await openTracing(url, createLog('silent'))
    const metrics = createMetrics(() => undefined, tracing)
    metrics.countJob('orders.dispatch', 'completed', 0.25)
    metrics.countJob('orders.dispatch', 'retried', 0.25)
    metrics.countDelivery('sandbox-us', 'failure', 0.5)
    metrics.request('get_user', 503, 0.1, { method: 'TRACK', route: '/v2/user/{user_id}', caller: undefined })
    await tracing.stop()
    assert.deepEqual(
      spans().map(({ name, kind, status }) => [name, kind, status.code]),
      [
        ['job orders.dispatch', 5, 0],
        ['job orders.dispatch', 5, 2],
        ['webhook attempt', 3, 2],
        ['_OTHER /v2/user/{user_id}', 2, 2],
      ],
    )
    const [job] = spans()
    assert.equal(Number(BigInt(job!.endTimeUnixNano) - BigInt(job!.startTimeUnixNano)) / 1e6, 250)
  })

  test('that refuses spans or is away is named in the log once, and holds nothing up', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'drawbridge-traces-'))
    after(() => rmSync(folder, { recursive: true }))
    const log = createLog('info', { path: join(folder, 'log') })
    const { url } = await collector(400)
    const tracing = await openTracing(url, log)
    const metrics = createMetrics(() => undefined, tracing)
    for (let i = 0; i < 2000; i++) metrics.countJob('orders.dispatch', 'completed', 0)
    await tracing.stop()
    const lines = await eventually(() => {
      log.flush()
      const written = readFileSync(join(folder, 'log'), 'utf8').trim()
      return written ? written.split('\n') : undefined
    }, 'a line of the log')
    assert.equal(lines.length, 1)
    assert.match(lines[0]!, /"msg":"spans could not be sent to OTEL_EXPORTER_OTLP_ENDPOINT"/)
  })
})
