import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Gauge } from 'prom-client'
import { request } from 'undici'
import { eventually } from '../../../test/support/eventually.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { cachedFor, openOperatorPort, operatorAnswers } from './operator.ts'

const closing: (() => Promise<void>)[] = []
after(() => Promise.all(closing.map((close) => close())))

describe('a cached result', () => {
  test('is computed once for all concurrent callers, and while it is valid', async () => {
    let made = 0
    const ask = cachedFor(60_000, async () => {
      await sleep(20)
      return ++made
    })
    const results = await Promise.all(Array.from({ length: 100 }, ask))
    assert.deepEqual([new Set(results), await ask(), made], [new Set([1]), 1, 1])
  })

  test('is computed again when it is too old', async () => {
    let made = 0
    const ask = cachedFor(1, async () => ++made)
    assert.equal(await ask(), 1)
    await eventually(async () => (await ask()) > 1, 'it is computed again')
  })

  test('is computed again after a failure, which the waiting callers get', async () => {
    let made = 0
    const ask = cachedFor(60_000, async () => {
      if (++made === 1) throw new Error('not yet')
      return made
    })
    const outcomes = await Promise.allSettled([ask(), ask()])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    assert.equal(await ask(), 2)
  })
})

describe('the port for operators', async () => {
  const state = { reason: undefined as string | undefined, draining: false, asked: 0 }
  const metrics = createMetrics(() => undefined)
  const answers = operatorAnswers({
    metrics,
    isDraining: () => state.draining,
    notReady: async () => {
      state.asked += 1
      return state.reason
    },
    checkDatabases: () =>
      Promise.resolve(
        new Map([
          ['control', undefined],
          ['sandbox-eu', state.reason],
        ]),
      ),
  })
  const { url, close } = await openOperatorPort(answers, { port: 0, host: '127.0.0.1' })
  closing.push(close)
  const ask = async (path: string, method = 'GET') => {
    const response = await fetch(url + path, { method })
    return { status: response.status, text: await response.text(), headers: response.headers }
  }

  test('reports whether the process is alive and ready, and its metrics', async () => {
    assert.deepEqual([(await ask('/healthz')).status, (await ask('/readyz?x=1')).text], [200, '{"status":"ready"}'])
    const { status, text, headers } = await ask('/metrics')
    assert.equal(status, 200)
    assert.match(headers.get('content-type')!, /^text\/plain/)
    assert.match(text, /^process_resident_memory_bytes \d/m)
  })

  test('queries the database once a second, however often it is requested', async () => {
    const before = state.asked
    const began_ms = performance.now()
    await Promise.all(Array.from({ length: 100 }, () => ask('/readyz')))
    const seconds = Math.ceil((performance.now() - began_ms) / 1000)
    assert(state.asked - before <= seconds, `${state.asked - before} times in ${seconds} s`)
  })

  test('measures once a second, however often its metrics are requested', async () => {
    let measured = 0
    const collect = () => void measured++
    new Gauge({ name: 'fictional_gauge', help: 'Counts how often it is read.', registers: [metrics.registry], collect })
    const began_ms = performance.now()
    for (let i = 0; i < 10; i++) {
      const replies = await Promise.all(Array.from({ length: 10 }, () => ask('/metrics')))
      assert(replies.every(({ status }) => status === 200))
    }
    const seconds = Math.ceil((performance.now() - began_ms) / 1000)
    assert(measured <= seconds, `${measured} times in ${seconds} s`)
  })

  test('returns 503 with the reason, and at once when the process stops', async () => {
    state.reason = 'The database does not answer'
    await eventually(async () => (await ask('/readyz')).status === 503, 'the server is not ready')
    assert.equal((await ask('/readyz')).text, '{"detail":"The database does not answer"}')
    const databases = await ask('/databases')
    assert.deepEqual(
      [databases.status, JSON.parse(databases.text)],
      [503, { control: 'ready', 'sandbox-eu': 'The database does not answer' }],
    )
    state.draining = true
    assert.equal((await ask('/readyz')).text, '{"detail":"The server is shutting down"}')
    assert.equal((await ask('/healthz')).status, 200)
  })

  test('answers for no host that a demo server does not know', async () => {
    const demo = await openOperatorPort(answers, { port: 0, host: '127.0.0.1' }, (host) => host === 'localhost')
    closing.push(demo.close)
    const statusOf = async (path: string, host: string) => {
      const { statusCode, body } = await request(demo.url + path, { headers: { host } })
      await body.dump()
      return statusCode
    }
    for (const path of ['/metrics', '/healthz', '/nowhere']) assert.equal(await statusOf(path, 'rebound.example'), 421, path)
    assert.equal(await statusOf('/healthz', 'localhost'), 200)
  })

  test('serves no other path', async () => {
    for (const path of ['/', '/docs', '/openapi.json', '/v2/user', '/__proto__', '/constructor'])
      assert.equal((await ask(path)).status, 404, path)
    for (const method of ['POST', 'DELETE']) assert.equal((await ask('/readyz', method)).status, 404)
    assert.deepEqual([(await ask('/healthz', 'HEAD')).status, (await ask('/healthz', 'HEAD')).text], [200, ''])
  })
})
