// The first minutes of a stranger: an order, its result and its signed events, without reading.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { assertNoComplaints, inBrowser, openConsole, type ConsoleVisit } from './console.ts'

interface EventRequest {
  headers: Record<string, string>
  body: string
}

/** Where events are received on this machine. */
async function startReceiver(): Promise<{ url: string; requests: EventRequest[] }> {
  const requests: EventRequest[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      requests.push({ headers: request.headers as Record<string, string>, body })
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`, requests }
}

/** Adds an endpoint with the management key. → its secret */
async function addEndpoint({ server, demo }: ConsoleVisit, url: string): Promise<string> {
  const address = `${server.url}/v1/org/${demo.org_id}/team/${demo.teams.us}/sandbox/webhook`
  const headers = { 'x-management-key': demo.management_key, 'content-type': 'application/json' }
  const created = await fetch(address, { method: 'POST', headers, body: JSON.stringify({ url }) })
  assert.equal(created.status, 200)
  const { id } = (await created.json()) as { id: string }
  const secret = await fetch(`${address}/${id}/secret`, { headers })
  return ((await secret.json()) as { key: string }).key
}

test(
  'a stranger places an order, moves the clock, and sees that it is completed and its signed events are delivered',
  inBrowser,
  async () => {
    const visited = await openConsole()
    const { page, complaints } = visited
    const { url, requests } = await startReceiver()
    const secret = await addEndpoint(visited, url)

    await page.getByRole('button', { name: 'Place an example order' }).click()
    await page.getByText('Order a test for a fictional patient, done').waitFor()
    await page
      .getByRole('region', { name: /From an order/ })
      .getByRole('button', { name: 'Move the clock' })
      .click()
    const panel = page.getByRole('dialog', { name: /^Clock of the sandbox/ })
    await panel.getByRole('button', { name: '+1 day' }).click()
    await panel.getByRole('button', { name: 'Move the clock' }).click()
    await panel.getByText(/jobs ran/).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('figure').filter({ hasText: 'Completed 1' }).waitFor()
    await page.getByText('Receive the first signed event, done').waitFor()

    assert(requests.length > 1, `${requests.length} events`)
    const verifier = new Webhook(secret)
    for (const { body, headers } of requests) {
      const names = ['id', 'timestamp', 'signature'] as const
      const standard = Object.fromEntries(
        names.map((name) => [`webhook-${name}`, headers[`webhook-${name}`] ?? headers[`svix-${name}`]!]),
      )
      assert.doesNotThrow(() => verifier.verify(body, standard))
    }
    assert(requests.some(({ body }) => body.includes('"completed')))
    assertNoComplaints(complaints)
  },
)
