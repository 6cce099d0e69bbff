// What fails in delivering events, and the brokers beside endpoints.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole } from './console.ts'
import { openConsoleAs } from './members.ts'
import { createOrder } from './orders.ts'
import { deleteEndpoints, manage, startReceiver } from './receiver.ts'

test('failures lead from the overview to their cause, its events and a replay', inBrowser, async () => {
  const receiver = await startReceiver()
  receiver.answer(503, '<img src=x onerror=alert(1)>')
  const visited = await openConsole('events/failures')
  const { page, api, open, complaints } = visited
  await deleteEndpoints(visited)
  await page.reload()
  await page.getByRole('heading', { name: 'No delivery failed' }).waitFor()
  await assertGoodPage(visited, 'failures empty')
  const { id } = await manage(visited, 'POST', '/webhook', { url: receiver.url, filter_types: ['labtest.order.created'] })
  await createOrder(api)
  await open('events/failures')
  const failures = page.getByRole('table', { name: 'Failures' })
  await failures.getByText('status 503').waitFor()
  await failures.getByText(receiver.url).waitFor()
  await assertGoodPage(visited, 'failures')

  await failures.locator('[data-row-link]').first().focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/events?destination=${id}&status=503`)
  await page.getByRole('table', { name: 'Events' }).getByText('labtest.order.created').waitFor()
  await assertGoodPage(visited, 'events of a failure')
  await page.goBack()

  // A delivery that is not sent any more can be replayed from here.
  await manage(visited, 'PATCH', `/webhook/${id}`, { disabled: true })
  await manage(visited, 'PATCH', `/webhook/${id}`, { disabled: false })
  receiver.answer(200)
  await page.reload()
  await failures.getByRole('button', { name: 'Replay' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Sends 1 event to this endpoint').waitFor()
  await dialog.getByRole('button', { name: 'Replay events' }).click()
  await dialog.getByRole('status').filter({ hasText: '1 of 1 delivered, 0 waiting, 0 not delivered' }).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  assertNoComplaints(complaints)
})

test('a broker is added, shown without its password, disabled, and deleted with the name of the team', inBrowser, async () => {
  const visited = await openConsole('events/brokers')
  const { page, demo, server, complaints } = visited
  await page.getByRole('heading', { name: 'No broker yet' }).waitFor()
  await assertGoodPage(visited, 'brokers empty')
  await page.getByRole('button', { name: 'Add a broker' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Address' }).fill('http://broker.example.com')
  await dialog.getByRole('button', { name: 'Add broker' }).click()
  await dialog.getByRole('alert').getByText('422').waitFor()
  await dialog.getByRole('textbox', { name: 'Address' }).fill('amqp://events:swordfish@127.0.0.1:1/clinic')
  await dialog.getByRole('textbox', { name: 'Exchange' }).fill('<b>events</b>')
  await dialog.getByRole('button', { name: 'Add broker' }).click()
  await dialog.waitFor({ state: 'hidden' })
  const card = page.getByRole('region', { name: 'RabbitMQ' })
  await card.getByText('<b>events</b>').waitFor()
  assert.doesNotMatch(await page.content(), /swordfish/)
  await card.getByText('none in 30 days').waitFor()
  const permitted = complaints.filter((complaint) => !/status of 422/.test(complaint))
  await assertGoodPage({ page, complaints: permitted }, 'brokers')

  await card.getByRole('button', { name: 'Edit' }).click()
  await dialog.getByRole('textbox', { name: 'Exchange' }).fill('clinic')
  await assertGoodPage({ page, complaints: permitted }, 'broker edit')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await card.getByText('exchange clinic').waitFor()
  await card.getByRole('button', { name: 'Disable' }).click()
  await dialog.getByRole('button', { name: 'Disable broker' }).click()
  await card.getByText('Disabled').waitFor()

  await page.getByRole('button', { name: 'Delete all brokers' }).click()
  const name = await dialog.locator('code').textContent()
  await dialog.getByRole('textbox').fill(name!)
  await dialog.getByRole('button', { name: 'Delete brokers' }).click()
  await page.getByRole('heading', { name: 'No broker yet' }).waitFor()
  const path = `/v1/org/${demo.org_id}/team_etl_pipelines/sandbox/us?team_id=${demo.teams.us}`
  const response = await fetch(server.url + path, { headers: { 'x-management-key': demo.management_key } })
  assert.deepEqual(((await response.json()) as { pipelines: unknown[] }).pipelines, [])
})

test('a viewer does not see failures and brokers, and their pages say what the API says', inBrowser, async () => {
  const { page, open } = await openConsoleAs('viewer', 'events/failures')
  await page.getByRole('alert').filter({ hasText: 'Your role does not permit this' }).first().waitFor()
  await open('events/brokers')
  await page.getByRole('alert').filter({ hasText: 'Your role does not permit this' }).first().waitFor()
  assert.equal(await page.getByRole('button', { name: 'Add a broker' }).count(), 0)
})
