// Pages of other origins, in a browser in which a member has signed in to the console: they read nothing and change nothing.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { inBrowser, openConsole, signInToConsole, type ConsoleVisit } from './console.ts'

/** An empty page at an origin of its own, with what its form or script wants. */
async function startForeignPage(host: string): Promise<string> {
  const server = createServer((_request, response) => {
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<!doctype html><html lang="en"><title>Elsewhere</title><iframe name="target"></iframe><form method="post"></form>')
  })
  server.listen(0, host)
  await once(server, 'listening')
  after(() => server.close())
  return `http://${host}:${(server.address() as AddressInfo).port}`
}

/** Requests that a page can send to another origin: what the page sees of each response. */
const ATTEMPTS = (url: string, org_id: string): string => `(async () => {
  const seen = {}
  const attempt = async (name, send) => {
    try { const response = await send(); seen[name] = response.type + ' ' + response.status } catch { seen[name] = 'refused by the browser' }
  }
  const json = { 'content-type': 'application/json' }
  const console_ = { 'x-drawbridge-console': '1', 'x-drawbridge-team': 'x', 'x-drawbridge-cell': 'sandbox-us' }
  const credentials = 'include'
  await attempt('read', () => fetch('${url}/console/api/session', { credentials }))
  await attempt('read without cors', () => fetch('${url}/console/api/session', { credentials, mode: 'no-cors' }))
  await attempt('read with the header', () => fetch('${url}/console/api/session', { credentials, headers: console_ }))
  await attempt('sign out', () => fetch('${url}/console/api/sign-out', { method: 'POST', credentials, mode: 'no-cors', body: '{}' }))
  await attempt('sign out with the header', () => fetch('${url}/console/api/sign-out', { method: 'POST', credentials, headers: { ...json, ...console_ }, body: '{}' }))
  await attempt('rename', () => fetch('${url}/v1/org/${org_id}', { method: 'PATCH', credentials, headers: { ...json, ...console_ }, body: '{"name":"Stolen"}' }))
  await attempt('sign in as another', () => fetch('${url}/console/api/sign-in/demo', { method: 'POST', credentials, mode: 'no-cors', body: '{}' }))
  return seen
})()`

/** Posts a form of the page at an origin to an address, as a page can to any. @returns the status of the response */
async function postForm({ page }: ConsoleVisit, origin: string, address: string): Promise<number> {
  await page.goto(origin)
  const navigation = page.waitForEvent('response', (response) => response.url() === address)
  await page.evaluate(`(() => {
    const form = document.querySelector('form')
    form.action = ${JSON.stringify(address)}
    form.enctype = 'text/plain'
    form.submit()
  })()`)
  const response = await navigation
  await page.waitForURL(address)
  return response.status()
}

for (const [where, isSameSite] of [
  ['another site', false],
  ['the same host at another port', true],
] as const)
  test(`a page of ${where} reads nothing, and changes nothing for the member who opens it`, inBrowser, async () => {
    const visited = await openConsole()
    const { page, server, demo } = visited
    const own = new URL(server.url)
    const other = own.hostname === 'localhost' ? '127.0.0.1' : 'localhost'
    const origin = await startForeignPage(isSameSite ? own.hostname : other)
    const sessions = async () => {
      const response = await page.request.get(`${server.url}/console/api/sessions`, { headers: { 'x-drawbridge-console': '1' } })
      return ((await response.json()) as { sessions: { id: string }[] }).sessions.map(({ id }) => id)
    }
    const orgName = async () => {
      const response = await page.request.get(`${server.url}/v1/org/${demo.org_id}`, { headers: { 'x-drawbridge-console': '1' } })
      return ((await response.json()) as { name: string }).name
    }
    const before = [await sessions(), await orgName()]
    await page.goto(origin)
    const seen = await page.evaluate<Record<string, string>>(ATTEMPTS(own.origin, demo.org_id))
    for (const [attempt, response] of Object.entries(seen)) assert.match(response, /^(opaque 0|refused by the browser)$/, attempt)
    for (const path of ['/console/api/sign-out', '/console/api/sign-in/demo', '/v2/user'])
      assert((await postForm(visited, origin, own.origin + path)) >= 400, path)
    assert.deepEqual([await sessions(), await orgName()], before)
    await visited.open('')
    await page.getByRole('button', { name: /Account of/ }).waitFor()
  })

test('no page of another origin frames the console', inBrowser, async () => {
  const { page, server, complaints } = await signInToConsole()
  await page.goto(await startForeignPage(new URL(server.url).hostname))
  await page.evaluate(`document.querySelector('iframe').src = ${JSON.stringify(`${server.url}/console`)}`)
  await eventually(() => complaints.some((text) => text.includes('frame-ancestors')), 'the browser refuses the frame', 30_000)
})
