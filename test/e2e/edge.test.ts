// The edge of the program as people run it: what callers without a key may cost, the page to try it from, and the port for operators.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { browser, hasBrowser } from '../support/browser.ts'
import { caller, connectionOf, demoIn, runCli, stopAll, folder, serving, waitUntil, type Server } from '../support/program.ts'

const sockets: Socket[] = []
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
async function flood({ url }: Server, path: string, most = CHUNK): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  sockets.push(socket)
  await once(socket, 'connect')
  socket.pause()
  const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
  socket.write(request.repeat(Math.min(most, Math.floor(CHUNK / request.length))))
  return socket
}

describe('a server', () => {
  let server: Server
  before(async () => {
    server = await serving(folder('edge'), { CELLS: 'sandbox-us', OPERATOR_PORT: '0', LOG_LEVEL: 'silent' })
  })
  const operator = () => /Operator +(\S+)\n/.exec(server.out())![1]!
  const statusOf = async (address: string) => {
    const response = await fetch(address)
    await response.arrayBuffer()
    return response.status
  }

  test('limits its memory when clients request pages endlessly and read nothing', async (t) => {
    if (process.platform !== 'linux') return t.skip('memory is read from /proc')
    for (const path of ['/docs', '/docs/swagger-ui-bundle.js', '/openapi.json', '/metrics', '/v2/user', '/nowhere'])
      await statusOf(server.url + path)
    const peak = peakOf(server)
    // With more than 16 that wait a connection is closed; with fewer it stays, and the first answer waits to be read.
    for (const most of [CHUNK, 15])
      for (const path of ['/docs', '/docs/swagger-ui-bundle.js', '/openapi.json', '/docs/swagger-ui.css', '/v2/user', '/nowhere'])
        await Promise.all(Array.from({ length: 40 }, () => flood(server, path, most)))
    await idle(server)
    assert(peakOf(server) - peak < 90, `${Math.round(peakOf(server) - peak)} MB more`)
  })

  test('serves health and metrics on the port for operators only', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      assert.equal(await statusOf(operator() + path), 200, path)
      assert.equal(await statusOf(server.url + path), 404, path)
    }
    const metrics = await (await fetch(`${operator()}/metrics`)).text()
    for (const name of ['http_request_duration_seconds', 'http_connections', 'http_connections_refused_total'])
      assert.match(metrics, new RegExp(`^drawbridge_${name}`, 'm'))
  })

  test('serves an API page that loads its own files only and stores no key', async () => {
    const page = await fetch(`${server.url}/docs`)
    const html = await page.text()
    const policy = page.headers.get('content-security-policy')!
    assert.match(policy, /(^|; )default-src 'none'(;|$)/)
    assert.match(policy, /(^|; )script-src 'self'(;|$)/)
    assert.match(policy, /(^|; )frame-ancestors 'none'(;|$)/)
    assert(!/<script(?![^>]* src=)/.test(html) && !/ on\w+=|<style/.test(html), 'nothing is inline')
    const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!).filter((one) => one !== 'data:,')
    assert(files.length >= 4 && files.every((file) => file.startsWith('/docs/')), files.join())
    for (const file of files) assert.equal(await statusOf(server.url + file), 200, file)
    const script = await (await fetch(`${server.url}/docs/page.js`)).text()
    assert.match(script, /persistAuthorization: false/)
    assert.match(script, /url: "\/openapi.json"/)
  })

  test('has a page that a browser shows, authorizes and executes requests with under its policy, and that keeps nothing', async (t) => {
    if (!hasBrowser()) {
      assert.notEqual(process.env.CI_BROWSER, 'required', 'Chromium is not installed')
      return t.skip("Debian's package chromium is not installed")
    }
    const key = demoIn(server.dataDir).api_keys['sandbox-us']!
    const chromium = await browser()
    t.after(() => chromium.close())
    const page = await chromium.page()
    await page.open(`${server.url}/docs`)
    await page.press(`document.querySelector('.btn.authorize')`)
    // The first of the credentials that it asks for.
    await page.type(`document.querySelector('.auth-container input')`, key)
    await page.press(`document.querySelector('.auth-container .btn.authorize')`)
    await page.press(`document.querySelector('.auth-container .btn-done')`)
    await page.type(`document.querySelector('.operation-filter-input')`, 'users')
    const block = `document.querySelector('#operations-users-create_user')`
    await page.press(`${block}?.querySelector('.opblock-summary')`)
    await page.press(`${block}?.querySelector('.btn.execute')`)
    await page.until(`${block}?.querySelector('.live-responses-table tbody .response-col_status')?.innerText.startsWith('200')`)
    const answer = await page.value<string>(`${block}?.querySelector('.live-responses-table .highlight-code').innerText`)
    assert.match(answer, /"user_id": *"[0-9a-f-]{36}"/)
    const kept = `[Object.entries(localStorage), Object.entries(sessionStorage), document.cookie, await indexedDB.databases()]`
    assert.deepEqual(await page.value(`(async () => ${kept})()`), [[], [], '', []])
    assert.deepEqual(page.complaints, [])

    // The browser reports what the policy forbids, so the empty list above is meaningful; and the page no longer holds the key.
    await page.open(`${server.url}/docs`)
    assert.equal(await page.value(`document.documentElement.outerHTML.includes(${JSON.stringify(key)})`), false)
    await page.value(`document.body.appendChild(document.createElement('script')).textContent = 'window.inline = true'`)
    assert.equal(await page.value('window.inline'), undefined)
    assert.match(page.complaints.join(), /Content Security Policy|ContentSecurityPolicy/)
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

  test('has a worker beside it that tells operators how it is and what jobs and deliveries it did', async () => {
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
    assert.equal(await worker.ended, 0)
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
    const [, url] = /Operator +(\S+)\n/.exec(small.out())!
    assert.equal(await statusOf(`${url}/readyz`), 200)
    for (const { socket } of held) socket.destroy()
    const api = caller(small.url, demoIn(small.dataDir).api_keys['sandbox-us'])
    await waitUntil(async () => (await api.get('/v2/user').catch(() => ({ status: 0 }))).status === 200)
  })
})
