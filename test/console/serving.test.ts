// How the server serves the console: one page for all its addresses, files with hashed names, and a strict policy.
import assert from 'node:assert/strict'
import { request } from 'undici'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { startServer } from './console.ts'

/** Files that the page loads. */
async function loadedFiles(url: string): Promise<string[]> {
  const html = await (await fetch(`${url}/console`)).text()
  return [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path!)
}

test('every address of the console has the same page, under a policy that allows neither inline code nor other origins', async () => {
  const { url } = await startServer()
  const nonces = new Set<string>()
  for (const path of ['/console', '/console/sign-in', '/console/team/sandbox-us/orders?status=at_lab', '/console/a/b/c/d/']) {
    const response = await fetch(url + path)
    const html = await response.text()
    assert.equal(response.status, 200, path)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    const policy = response.headers.get('content-security-policy')!
    const [, nonce] = /style-src 'self' 'nonce-([\w+/=]{22,})'/.exec(policy)!
    nonces.add(nonce!)
    assert.equal(
      policy.replace(nonce!, ''),
      "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    )
    assert(html.includes(`nonce="${nonce}"`))
    assert(!/<script(?![^>]* src=)| on\w+=|<style| style=/.test(html), 'nothing is inline')
  }
  assert.equal(nonces.size, 4, 'each page has a nonce of its own')
})

test('every answer below the console, also an error, is no page or has a policy that allows neither inline code nor other origins', async () => {
  const { url } = await startServer()
  const [script] = await loadedFiles(url)
  const asked: [path: string, status: number][] = [
    ['/console', 200],
    ['/console/nowhere/at/all', 200],
    ['/console/%00', 200],
    [script!, 200],
    ['/console/assets/nothing.js', 404],
    ['/console/api/session', 401],
    ['/console/api/nothing', 404],
    ['/console/v1/orders', 401],
    ['/console/api/sign-in/oidc', 303],
    ['/auth/session', 401],
    ['/auth/session/nowhere', 401],
    ['/auth/launch', 404],
    [`/auth/launch?token=dl_${'x'.repeat(43)}`, 404],
  ]
  for (const [path, status] of asked) {
    const response = await fetch(url + path, { redirect: 'manual' })
    const body = await response.text()
    assert.equal(response.status, status, path)
    const type = response.headers.get('content-type') ?? ''
    if (body === '' || /^(application\/json|text\/(javascript|css));/.test(type)) continue
    assert.equal(type, 'text/html; charset=utf-8', path)
    const policy = response.headers.get('content-security-policy') ?? ''
    assert.match(policy, /^default-src 'none'; /, path)
    assert.match(policy, /frame-ancestors 'none'$/, path)
    assert(!/unsafe|https?:|\*/.test(policy), `${path} ${policy}`)
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff', path)
  }
})

test('files are cached permanently, compressed as the client accepts, and no others are there', async () => {
  const { url } = await startServer()
  const files = await loadedFiles(url)
  assert(files.length >= 3, files.join())
  for (const file of files) {
    const get = async (encoding: string) => {
      const { statusCode, headers, body } = await request(url + file, { headers: { 'accept-encoding': encoding } })
      assert.equal(statusCode, 200, file)
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
      assert.match(String(headers['content-type']), /^text\/(javascript|css); charset=utf-8$/)
      assert.equal(headers['content-encoding'], encoding === 'identity' ? undefined : encoding)
      return Buffer.from(await body.arrayBuffer())
    }
    const [plain, brotli, gzip] = await Promise.all(['identity', 'br', 'gzip'].map(get))
    assert(brotliDecompressSync(brotli!).equals(plain!) && gunzipSync(gzip!).equals(plain!), file)
  }
  for (const path of ['main.js', '..%2fmanifest.json', '%2e%2e%2fmanifest.json', 'constructor', `${files[1]}.br`]) {
    const response = await fetch(`${url}/console/assets/${path}`)
    assert.equal(response.status, 404, path)
    await response.arrayBuffer()
  }
})

test('`/` leads browsers to the console, and other clients get the landing page', async () => {
  const { url } = await startServer()
  const browser = await fetch(url, { headers: { accept: 'text/html,application/xhtml+xml' }, redirect: 'manual' })
  assert.deepEqual([browser.status, browser.headers.get('location')], [302, '/console'])
  assert.match(await (await fetch(url)).text(), /href="\/console"/)
})

test('unknown operations below the console are errors of the API, not pages', async () => {
  const { url } = await startServer()
  for (const path of ['/console/api/nothing', '/console/v1/nothing', '/console/api', '/console/assets']) {
    const response = await fetch(url + path)
    assert.deepEqual([response.status, await response.json()], [404, { detail: 'Not Found' }], path)
  }
})
