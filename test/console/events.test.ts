// Events in the console: the list, and one event with its deliveries to an endpoint.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole } from './console.ts'
import { createOrder } from './orders.ts'
import { manage, startReceiver } from './receiver.ts'

test('an event shows its payload and its delivery, and is resent', inBrowser, async () => {
  const receiver = await startReceiver()
  const visited = await openConsole()
  const { page, api, open, complaints } = visited
  await manage(visited, 'POST', '/webhook', { url: receiver.url })
  await createOrder(api)
  await open('events')
  await page.getByRole('table', { name: 'Events' }).waitFor()
  await page.getByText('delivered 1/1').first().waitFor()
  await assertGoodPage(visited, 'events')
  await page.locator('[data-row-link]').first().click()
  await page.getByRole('heading', { name: 'Payload' }).waitFor()
  await page.getByRole('table', { name: 'Destinations' }).waitFor()
  const before = receiver.counts()
  await page.getByRole('button', { name: 'Resend event' }).click()
  await page.getByText(', resent').first().waitFor()
  assert(receiver.counts() > before)
  await page.getByRole('button', { name: /200/ }).first().click()
  await page.getByText('thank you').first().waitFor()
  await assertGoodPage(visited, 'event')
  assertNoComplaints(complaints)
})

test('the list is filtered by type, and says that nothing matches', inBrowser, async () => {
  const { page } = await openConsole('events?type=no.such.event')
  await page.getByRole('heading', { name: 'No event matches' }).waitFor()
})

test('an unknown event is an error as the API says it', inBrowser, async () => {
  const { page } = await openConsole('events/00000000-0000-7000-8000-000000000000')
  await page.getByRole('alert').getByText('404').waitFor()
})
