// The first minutes of a stranger: an endpoint, an order, its result and its signed event, by the page alone.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import type { Page } from '../support/browser.ts'
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

/** Follows the first step that adds an endpoint. → its secret, which is shown once */
async function addEndpoint({ page }: ConsoleVisit, url: string): Promise<string> {
  await page.getByRole('link', { name: 'Add an endpoint' }).click()
  await page.getByRole('button', { name: 'Add an endpoint' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Address' }).fill(url)
  await page.keyboard.press('Enter')
  const secret = await dialog.getByText(/^whsec_/).textContent()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await openFromNavigation(page, 'Overview')
  await page.getByText('Add an endpoint that receives events, done').waitFor()
  return secret!
}

const openFromNavigation = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click()

/** Follows the first step that moves the clock, by a day. */
async function moveClock(page: Page): Promise<void> {
  const steps = page.getByRole('region', { name: /From an order/ })
  await steps.getByRole('button', { name: 'Move the clock' }).click()
  const panel = page.getByRole('dialog', { name: /^Clock of the sandbox/ })
  await panel.getByRole('button', { name: '+1 day' }).click()
  await panel.getByRole('button', { name: 'Move the clock' }).click()
  await panel.getByText(/jobs ran/).waitFor()
  await page.keyboard.press('Escape')
}

/** Opens the only order from the list. → its results, as the rows of the page show them */
async function readResults(page: Page): Promise<{ value: string; range: string }[]> {
  await openFromNavigation(page, 'Orders')
  await page.locator('[data-row-link]').first().click()
  await page.getByRole('region', { name: 'Lifecycle' }).getByText('Completed').waitFor()
  const table = page.getByRole('table', { name: 'Results' })
  await table.waitFor()
  const rows = await table
    .getByRole('row')
    .filter({ has: page.getByRole('cell') })
    .all()
  return Promise.all(
    rows.map(async (row) => {
      const cells = await row.getByRole('cell').allTextContents()
      return { value: cells[1]!, range: cells[3]! }
    }),
  )
}

/** Opens the newest event from the list. → what the page shows of the request that the endpoint accepted */
async function readDelivery(page: Page): Promise<string> {
  await openFromNavigation(page, 'Events')
  await page.locator('[data-row-link]').first().click()
  await page.getByRole('heading', { name: 'Payload' }).waitFor()
  await page.getByRole('table', { name: 'Destinations' }).getByText('Delivered').waitFor()
  await page.getByRole('button', { name: /^204/ }).click()
  return (await page.getByText(/-signature: v1,/).textContent())!
}

function assertSigned(requests: readonly EventRequest[], secret: string): void {
  const verifier = new Webhook(secret)
  for (const { body, headers } of requests) {
    const names = ['id', 'timestamp', 'signature'] as const
    const standard = Object.fromEntries(
      names.map((name) => [`webhook-${name}`, headers[`webhook-${name}`] ?? headers[`svix-${name}`]!]),
    )
    assert.doesNotThrow(() => verifier.verify(body, standard))
  }
}

test(
  'a stranger adds an endpoint, places an order, moves the clock, and sees the results and their signed event',
  inBrowser,
  async (t) => {
    const start_ms = Date.now()
    const visited = await openConsole()
    const { page, complaints } = visited
    const { url, requests } = await startReceiver()
    const secret = await addEndpoint(visited, url)

    await page.getByRole('button', { name: 'Place an example order' }).click()
    await page.getByText('Order a test for a fictional patient, done').waitFor()
    await moveClock(page)
    await page.getByRole('figure').filter({ hasText: 'Completed 1' }).waitFor()
    await page.getByText('Receive the first signed event, done').waitFor()

    const results = await readResults(page)
    assert(results.length > 0 && results.every(({ value }) => value !== ''), JSON.stringify(results))
    assert(
      results.some(({ range }) => /\d/.test(range)),
      JSON.stringify(results),
    )
    const shown = await readDelivery(page)
    t.diagnostic(`${((Date.now() - start_ms) / 1000).toFixed(1)} s from the first page to the signed event`)

    assert(requests.length > 1, `${requests.length} events`)
    assertSigned(requests, secret)
    const shownRequest = requests.find(({ headers }) => shown.includes(headers['webhook-id'] ?? headers['svix-id']!))
    assert(shownRequest?.body.includes('"completed'), 'the event on the page is that of the result')
    assertNoComplaints(complaints)
  },
)
