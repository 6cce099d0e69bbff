// The edge of the program as people run it: what callers without a key may cost, the page to try it from, and the port for operators.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { apiPageAddress } from '../../src/cli/demo-file.ts'
import { assertSound } from '../support/axe.ts'
import { keepScreenshot, skipWithoutBrowser, visit } from '../support/browser.ts'
import { caller, connectionOf, demoIn, runCli, stopAll, folder, serving, waitUntil, type Server } from '../support/program.ts'

const sockets: Socket[] = []
const inBrowser = { skip: skipWithoutBrowser }
/** Without the attempt of the API reference to compile code, which it makes to find out that it may not. */
const unexpectedComplaints = (complaints: string[]) =>
  complaints.filter((complaint) => !/kEvalViolation.*api-reference\.js/.test(complaint))
after(async () => {
  for (const socket of sockets) socket.destroy()
  await stopAll()
})

const CHUNK = 62_000

/** The most memory that a process has had so far, in MB. */
function peakOf({ child }: Server): number {
  const [, kB] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))!
  return Number(kB) / 1000
}

/** Waits until a process has nothing left to do: it needs hardly any time of a processor. */
async function idle({ child }: Server): Promise<void> {
  const ticks = () => {
    const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
    return Number(fields[11]) + Number(fields[12])
  }
  const end = performance.now() + 60_000
  for (let before = -10; ; await sleep(400)) {
    const now = ticks()
    if (now - before < 4) return
    before = now
    assert(performance.now() < end, 'it is never idle')
  }
}

/** A connection that sends requests at once, as many as 62 kB hold if nothing else is said, and reads nothing. */
async function flood({ url }: Server, path: string, bytesMax = CHUNK): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  sockets.push(socket)
  await once(socket, 'connect')
  socket.pause()
  const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
  socket.write(request.repeat(Math.min(bytesMax, Math.floor(CHUNK / request.length))))
  return socket
}

describe('a server', () => {
  let server: Server
  before(async () => {
    server = await serving(folder('edge'), { CELLS: 'sandbox-us', OPERATOR_PORT: '0', LOG_LEVEL: 'silent' })
  })
  const operator = () => /Operator +(\S+)\n/.exec(server.stdout())![1]!
  const statusOf = async (address: string) => {
    const response = await fetch(address)
    await response.arrayBuffer()
    return response.status
  }

  test('limits its memory when clients request pages endlessly and read nothing', async (t) => {
    if (process.platform !== 'linux') return t.skip('memory is read from /proc')
    for (const path of ['/docs', '/docs/api-reference.js', '/openapi.json', '/metrics', '/v2/user', '/nowhere'])
      await statusOf(server.url + path)
    const peak = peakOf(server)
    // With more than 16 that wait a connection is closed; with fewer it stays, and the first answer waits to be read.
    for (const most of [CHUNK, 15])
      for (const path of ['/docs', '/docs/api-reference.js', '/openapi.json', '/docs/page.css', '/v2/user', '/nowhere'])
        await Promise.all(Array.from({ length: 40 }, () => flood(server, path, most)))
    await idle(server)
    assert(peakOf(server) - peak < 90, `${Math.round(peakOf(server) - peak)} MB more`)
  })

  test('serves health and metrics on the port for operators only', async () => {
    for (const path of ['/healthz', '/readyz', '/databases', '/metrics']) {
      assert.equal(await statusOf(operator() + path), 200, path)
      assert.equal(await statusOf(server.url + path), 404, path)
    }
    const metrics = await (await fetch(`${operator()}/metrics`)).text()
    for (const name of ['http_request_duration_seconds', 'http_connections', 'http_connections_refused_total'])
      assert.match(metrics, new RegExp(`^drawbridge_${name}`, 'm'))
  })

  test('names its metrics as Prometheus expects, and has all that the alert rules ask for', async () => {
    const text = await (await fetch(`${operator()}/metrics`)).text()
    const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]))
    assert(types.size > 30 && types.has('process_cpu_seconds_total') && types.has('nodejs_heap_size_used_bytes'))
    for (const [name, type] of types) assert.equal(name.endsWith('_total'), type === 'counter', name)
    assert.match(text, /^drawbridge_build_info\{version="\d+\.\d+\.\d+"\} 1$/m)
    const rules = readFileSync(new URL('../../deploy/prometheus/alerts.yaml', import.meta.url), 'utf8')
    const asked = [...rules.matchAll(/\bdrawbridge_\w+/g)].map(([name]) => name.replace(/_(bucket|count)$/, ''))
    assert(asked.length > 5)
    // Those of mail and text messages exist where the settings name a sender.
    const always = asked.filter((name) => !/^drawbridge_(mail|text_messages)_/.test(name))
    for (const name of always) assert(types.has(name), name)
  })

  test('serves an API page that loads its own files only and stores no key', async () => {
    const page = await fetch(`${server.url}/docs`)
    const html = await page.text()
    const policy = page.headers.get('content-security-policy')!
    assert.match(policy, /(^|; )default-src 'none'(;|$)/)
    assert.match(policy, /(^|; )script-src 'self'(;|$)/)
    assert.match(policy, /(^|; )frame-ancestors 'none'(;|$)/)
    assert(!/<script(?![^>]* src=)/.test(html) && !/ on\w+=|<style/.test(html), 'nothing is inline')
    const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)]
      .map(([, address]) => address!)
      .filter((reference) => reference !== 'data:,')
    assert(files.length >= 3 && files.every((file) => file.startsWith('/docs/')), files.join())
    for (const file of files) assert.equal(await statusOf(server.url + file), 200, file)
    const script = await (await fetch(`${server.url}/docs/page.js`)).text()
    assert.match(script, /persistAuth: false/)
    assert.match(script, /url: "\/openapi.json"/)
  })

  test('serves guides as pages under the same policy, and as the text that they are made from', async () => {
    const landing = await (await fetch(server.url)).text()
    assert.match(landing, /href="\/guides\/test-kits"/)
    const page = await fetch(`${server.url}/guides/test-kits`)
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(
      page.headers.get('content-security-policy'),
      (await fetch(`${server.url}/docs`)).headers.get('content-security-policy'),
    )
    assert.match(await page.text(), /<title>Test kits · Drawbridge<\/title>[^]*<a href="\/">[^]*<h1 id="test-kits">/)
    const text = await fetch(`${server.url}/guides/test-kits.md`)
    assert.equal(text.headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.equal(await text.text(), readFileSync(new URL('../../docs/guides/test-kits.md', import.meta.url), 'utf8'))
    for (const path of ['/guides/heart', '/guides/wearables', '/guides/..%2fpackage.json', '/guides/decisions/webhooks'])
      assert.equal(await statusOf(server.url + path), 404, path)
  })

  test('has guides that fit a phone: tables and code scroll, the page does not', inBrowser, async () => {
    const { page, complaints } = await visit('phone')
    for (const path of ['/guides', '/guides/operating/monitor', '/guides/wearables/heart', '/guides/RECEIVING_WEBHOOKS']) {
      await page.goto(server.url + path)
      await keepScreenshot(page, `${path === '/guides' ? 'landing' : path} phone`)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, path)
    }
    assert.equal(
      await page.evaluate(`[...document.querySelectorAll('.wide, pre')].some((one) => one.scrollWidth > one.clientWidth)`),
      true,
    )
    assert.deepEqual(unexpectedComplaints(complaints), [])
  })

  test(
    'has an API page in which axe finds nothing serious, that a browser shows and executes requests with under its policy, and that keeps no key',
    inBrowser,
    async () => {
      const { page, complaints } = await visit()
      const key = demoIn(server.dataDir).api_keys['sandbox-us']!
      await page.goto(apiPageAddress(server.url, key))
      // Of the API reference: a field of credentials does not say whether its list is open, and all examples of responses have one name.
      await page.waitForSelector('.show-api-client-button')
      assert.equal(await page.evaluate('location.href'), `${server.url}/docs`)
      await page.evaluate(`location.hash = '#tag/users/POST/v2/user'`)
      await assertSound(page, '/docs', ['aria-required-attr', 'landmark-unique'])
      await page.locator('[id="api-1/tag/users/POST/v2/user"] .show-api-client-button').click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: /^Send Request/ }).click()
      await dialog
        .getByText(/"user_id": *"[0-9a-f-]{36}"/)
        .first()
        .waitFor()
      await keepScreenshot(page, 'docs request')
      const kept = `JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, await indexedDB.databases()])`
      assert(!(await page.evaluate<string>(`(async () => ${kept})()`)).includes(key))
      assert.deepEqual(unexpectedComplaints(complaints), [])
      // The title of the box of keys is not cut by the name of the scheme.
      const isCut = `((one) => one.scrollWidth > one.clientWidth)([...document.querySelectorAll('button')].find(({ innerText }) => /^Authentication/.test(innerText)))`
      assert.equal(await page.evaluate(isCut), false)

      // The browser reports what the policy forbids, so the empty list above is meaningful.
      await page.evaluate(`document.body.appendChild(document.createElement('script')).textContent = 'window.inline = true'`)
      assert.equal(await page.evaluate('window.inline'), undefined)
      assert.match(complaints.join(), /Content Security Policy|ContentSecurityPolicy/)
    },
  )

  test('has a landing page and guides in which axe finds nothing serious', inBrowser, async () => {
    const { page, complaints } = await visit()
    // One guide of each kind; axe takes three times as long with a long one.
    for (const path of ['/guides', '/guides/RECEIVING_WEBHOOKS', '/guides/test-kits']) {
      await page.goto(server.url + path)
      await assertSound(page, path === '/guides' ? 'landing' : path)
    }
    assert.deepEqual(unexpectedComplaints(complaints), [])
  })

  test('serves no page that contains a key of the demo, and answers for no name that points to it', async () => {
    const { api_keys, management_key } = demoIn(server.dataDir)
    const keys = [...Object.values(api_keys), management_key]
    const { port } = new URL(server.url)
    const ask = async (path: string, host = `localhost:${port}`) => {
      const { statusCode, body } = await request(server.url + path, { headers: { host } })
      return { status: statusCode, text: await body.text() }
    }
    for (const path of ['/', '/docs', '/docs/page.js', '/openapi.json', '/guides/TESTING']) {
      const { status, text } = await ask(path)
      assert.deepEqual([path, status, keys.filter((key) => text.includes(key))], [path, 200, []])
    }
    for (const host of [`rebound.example:${port}`, '127.0.0.1.example', `localhost.example:${port}`])
      for (const path of ['/docs', '/healthz', '/v2/user', '/nowhere', '/%zz'])
        assert.equal((await ask(path, host)).status, 421, host + path)
    const page = await fetch(`${server.url}/docs`, { headers: { origin: 'https://other.example' } })
    assert.equal(page.headers.get('access-control-allow-origin'), null)
    assert.equal(page.headers.get('cross-origin-resource-policy'), 'same-origin')
    await page.arrayBuffer()
  })

  test('compresses its pages for clients that understand it', async () => {
    for (const [accepted, encoding] of [
      ['gzip, deflate, br', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip;q=0.5', 'gzip'],
      ['identity', undefined],
    ] as const) {
      const response = await request(`${server.url}/openapi.json`, { headers: { 'accept-encoding': accepted } })
      const bytes = Buffer.from(await response.body.arrayBuffer())
      assert.equal(response.headers['content-encoding'], encoding, accepted)
      const text = encoding === 'br' ? brotliDecompressSync(bytes) : encoding === 'gzip' ? gunzipSync(bytes) : bytes
      assert.equal(JSON.parse(String(text)).info.title, 'Drawbridge')
    }
  })

  test('refuses a request with two Host headers', async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    sockets.push(socket)
    let heard = ''
    socket.setEncoding('latin1').on('data', (text) => (heard += text))
    socket.write('GET /openapi.json HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n')
    await once(socket, 'close')
    assert.match(heard, /^HTTP\/1\.1 400 /)
  })

  test('has an extra worker that tells operators its health and its jobs and deliveries', async () => {
    const { host, port, user, password, database } = connectionOf(server.dataDir)
    const query = `host=${encodeURIComponent(host)}&port=${port}`
    const DATABASE_URL = `postgres://${user}:${password}@/${database}?${query}`
    const worker = runCli('work', {
      DATA_DIR: folder('edge-worker'),
      CELLS: 'sandbox-us',
      DATABASE_URL,
      DEMO: 'off',
      OPERATOR_PORT: '0',
      LOG_LEVEL: 'silent',
    })
    const [, url] = await worker.says(/Operator +(\S+)\n/)
    assert.equal(await statusOf(`${url}/readyz`), 200)
    assert.equal(await statusOf(`${url}/healthz`), 200)
    const metrics = await (await fetch(`${url}/metrics`)).text()
    for (const name of ['jobs_total', 'webhook_attempt_duration_seconds', 'database_connections'])
      assert.match(metrics, new RegExp(`^# TYPE drawbridge_${name} `, 'm'))
    worker.child.kill('SIGTERM')
    assert.equal(await worker.exitStatus, 0)
  })

  test('answers others while it holds as many connections of one address as it may', async () => {
    const small = await serving(folder('edge-small'), {
      CELLS: 'sandbox-us',
      CONNECTIONS_MAX: '8',
      OPERATOR_PORT: '0',
      LOG_LEVEL: 'silent',
    })
    const port = Number(new URL(small.url).port)
    const open = async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      sockets.push(socket)
      let closed = false
      socket.on('close', () => (closed = true)).resume()
      await once(socket, 'connect')
      return { socket, closed: () => closed }
    }
    const held: Awaited<ReturnType<typeof open>>[] = []
    for (let i = 0; i < 10; i++) held.push(await open())
    await waitUntil(() => held.filter(({ closed }) => closed()).length === 6)
    const [, url] = /Operator +(\S+)\n/.exec(small.stdout())!
    assert.equal(await statusOf(`${url}/readyz`), 200)
    for (const { socket } of held) socket.destroy()
    const api = caller(small.url, demoIn(small.dataDir).api_keys['sandbox-us'])
    await waitUntil(async () => (await api.get('/v2/user').catch(() => ({ status: 0 }))).status === 200)
  })
})
