// Events in the console: the list, and one event with its deliveries to an endpoint.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole, signInToConsole } from './console.ts'
import { createOrder } from './orders.ts'
import { manage, startReceiver } from './receiver.ts'
import { connectionOf, onDatabase } from '../support/program.ts'

test('an event shows its payload and its delivery, and is resent', inBrowser, async () => {
  const receiver = await startReceiver()
  const visited = await signInToConsole()
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

test('an event whose payload is deleted says so, and cannot be resent', inBrowser, async () => {
  const visited = await signInToConsole()
  const { page, api, open, server } = visited
  await manage(visited, 'POST', '/webhook', { url: (await startReceiver()).url })
  const { user_id } = (await api.post('/v2/user', { client_user_id: `payload-${randomUUID()}` })).body
  const samples = [{ value: 61, unit: 'bpm', start_date: '2026-01-31T09:30:00Z', end_date: '2026-01-31T09:30:00Z' }]
  const post = { stage: 'daily', provider: 'apple_health_kit', data: samples }
  assert.equal((await api.post(`/v2/timeseries/${user_id}/heartrate`, post)).status, 200)
  const [{ id }] = (await api.get('/v1/events?type=daily.data.heartrate.created')).body.data
  await open(`events/${id}`)
  await page.getByRole('table', { name: 'Destinations' }).getByText('delivered').first().waitFor()
  await page.getByRole('button', { name: 'Resend event' }).first().waitFor()
  await onDatabase(connectionOf(server.dataDir), (client) =>
    client.query('delete from sandbox_us.event_body where event_id = $1', [id]),
  )
  await page.reload()
  await page.getByText('The payload is deleted.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Resend event' }).count(), 0)
})

test('the list is filtered by type, and says that nothing matches', inBrowser, async () => {
  const { page } = await openConsole('events?type=no.such.event')
  await page.getByRole('heading', { name: 'No event matches' }).waitFor()
})

test('an unknown event is an error as the API says it', inBrowser, async () => {
  const { page } = await openConsole('events/00000000-0000-7000-8000-000000000000')
  await page.getByRole('alert').getByText('404').waitFor()
})
