// Endpoints in the console: what developers do with the receivers of their events.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectionOf, onDatabase } from '../support/program.ts'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole, signInToConsole, type ConsoleVisit } from './console.ts'
import { openConsoleAs } from './members.ts'
import { createOrder } from './orders.ts'
import { deleteEndpoints, manage, startReceiver } from './receiver.ts'

const HOSTILE = '<img src=x onerror=alert(1)>'
/** A request that the API refuses is an error of the browser too. */
const REFUSED = /the server responded with a status of 422/
const lookAt = ({ page, complaints }: ConsoleVisit, name: string): Promise<void> =>
  assertGoodPage({ page, complaints: complaints.filter((complaint) => !REFUSED.test(complaint)) }, name)

test('an endpoint is added by keyboard alone, shows its secret once and accepts an example', inBrowser, async () => {
  const receiver = await startReceiver()
  const visited = await openConsole('events')
  const { page, open } = visited
  await deleteEndpoints(visited)
  await page.getByRole('link', { name: 'Endpoints' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'No endpoints yet' }).waitFor()
  await assertGoodPage(visited, 'endpoints empty')
  await page.getByRole('button', { name: 'Add an endpoint' }).first().focus()
  await page.keyboard.press('Enter')
  await page.getByRole('textbox', { name: 'Address' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.type('ftp://receiver.example.com')
  await page.keyboard.press('Tab')
  await page.keyboard.type(`Clinic ${HOSTILE}`)
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('alert').getByText('422').waitFor()
  await page.getByRole('textbox', { name: 'Address' }).and(page.locator('[aria-invalid=true]')).waitFor()
  await lookAt(visited, 'endpoint refused')
  await page.getByRole('textbox', { name: 'Address' }).fill(receiver.url)
  await page.keyboard.press('Enter')
  const secret = await dialog.getByText(/^whsec_/).textContent()
  const [{ id }] = (await manage(visited, 'GET', '/webhook')).data
  assert.equal((await manage(visited, 'GET', `/webhook/${id}/secret`)).key, secret)
  await lookAt(visited, 'endpoint secret')
  await dialog.getByRole('link', { name: 'Open the endpoint' }).click()
  await page.getByRole('heading', { name: receiver.url }).waitFor()
  assert.doesNotMatch(await page.content(), /whsec_/)
  await page.getByText(HOSTILE).waitFor()

  await page.getByRole('button', { name: 'Send an example' }).click()
  await dialog.getByRole('region', { name: 'the example' }).waitFor()
  await lookAt(visited, 'endpoint example')
  await dialog.getByRole('button', { name: 'Send example' }).click()
  await dialog.getByRole('status').filter({ hasText: 'The endpoint accepted the example.' }).waitFor()
  assert.equal(receiver.counts(), 1)
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('table', { name: 'Deliveries' }).getByText('(no event)').waitFor()
  await open('events/endpoints')
  await page.getByRole('table', { name: 'Endpoints' }).getByText(receiver.url).waitFor()
  await page.getByRole('img', { name: /Attempts at .*1 delivered/ }).waitFor()
  await lookAt(visited, 'endpoints')
})

test('events that failed are replayed with their number before and their outcome after', inBrowser, async () => {
  const receiver = await startReceiver()
  const visited = await signInToConsole()
  const { page, api, open, complaints } = visited
  await deleteEndpoints(visited)
  const { id } = await manage(visited, 'POST', '/webhook', { url: receiver.url, filter_types: ['labtest.order.created'] })
  for (let orders = 0; orders < 2; orders++) await createOrder(api)
  await manage(visited, 'PATCH', `/webhook/${id}`, { disabled: true })
  for (let orders = 0; orders < 3; orders++) await createOrder(api)
  await open(`events/endpoints/${id}`)
  await page.getByRole('button', { name: 'Enable' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/those that were stopped/i).waitFor()
  await dialog.getByRole('button', { name: 'Enable endpoint' }).click()
  await page.getByRole('button', { name: 'Replay events' }).click()
  await dialog.getByText('Failed, stopped or never sent here: ', { exact: false }).click()
  await dialog.getByText(/^Sends \d+ events to this endpoint/).waitFor()
  await assertGoodPage(visited, 'endpoint replay')
  await dialog.getByRole('button', { name: 'Replay events' }).click()
  await dialog
    .getByRole('status')
    .filter({ hasText: /^(\d+) of \1 delivered, 0 waiting, 0 not delivered$/ })
    .waitFor()
  await assertGoodPage(visited, 'endpoint replayed')
  assert(receiver.counts() >= 5)
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('table', { name: 'Deliveries' }).waitFor()
  await assertGoodPage(visited, 'endpoint')
  await page.getByRole('table', { name: 'Deliveries' }).locator('[data-row-link]').first().click()
  await page.getByRole('heading', { name: 'Payload' }).waitFor()
  assertNoComplaints(complaints)
})

test('the secret rotates with an overlap, headers are set, and the endpoint is deleted by its address', inBrowser, async () => {
  const receiver = await startReceiver()
  const visited = await signInToConsole()
  const { page, open } = visited
  const { id } = await manage(visited, 'POST', '/webhook', { url: receiver.url })
  const before = (await manage(visited, 'GET', `/webhook/${id}/secret`)).key
  await open(`events/endpoints/${id}`)
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Signing secret' }).click()
  await dialog.getByRole('button', { name: 'Rotate secret' }).click()
  const rotated = await dialog.getByText(/^whsec_/).textContent()
  assert.notEqual(rotated, before)
  await dialog.getByRole('status').filter({ hasText: '24 hours' }).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()

  await page.getByRole('button', { name: 'Headers' }).click()
  await dialog.getByRole('button', { name: 'Add a header' }).click()
  await dialog.getByRole('textbox', { name: 'Name' }).fill('host')
  await dialog.getByRole('textbox', { name: 'Value of host' }).fill('example.com')
  await dialog.getByRole('button', { name: 'Save headers' }).click()
  await dialog.getByText('this header is set by the server').first().waitFor()
  await dialog.getByRole('textbox', { name: 'Name' }).fill('x-clinic-token')
  await dialog.getByRole('textbox', { name: 'Value of x-clinic-token' }).fill('swordfish')
  await dialog.getByRole('button', { name: 'Save headers' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Headers' }).click()
  await dialog.getByPlaceholder('hidden: write it again').waitFor()
  await lookAt(visited, 'endpoint headers')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await manage(visited, 'POST', `/webhook/${id}/test`, { event_type: 'labtest.order.created' })
  await page.getByRole('table', { name: 'Deliveries' }).getByText('Delivered').waitFor()
  assert.equal(receiver.headers()['x-clinic-token'], 'swordfish')
  assert.equal(String(receiver.headers()['webhook-signature']).split(' ').length, 2)

  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await lookAt(visited, 'endpoint delete')
  assert(await dialog.getByRole('button', { name: 'Delete endpoint' }).isDisabled())
  await dialog.getByRole('textbox').fill(receiver.url)
  await dialog.getByRole('button', { name: 'Delete endpoint' }).click()
  await page.waitForURL('**/events/endpoints')
  assert(!(await manage(visited, 'GET', '/webhook')).data.some((endpoint: { id: string }) => endpoint.id === id))
})

test('a viewer sees events and no endpoints, and their page says what the API says', inBrowser, async () => {
  const { page, open } = await openConsoleAs('viewer', 'events')
  await page.getByRole('navigation', { name: 'Events' }).getByRole('link', { name: 'Events' }).waitFor()
  assert.equal(await page.getByRole('link', { name: 'Endpoints' }).count(), 0)
  await open('events/endpoints')
  await page.getByRole('alert').filter({ hasText: 'Your role does not permit this' }).first().waitFor()
  assert.equal(await page.getByRole('button', { name: 'Add an endpoint' }).count(), 0)
})

test('an unknown endpoint is an error as the API says it', inBrowser, async () => {
  const { page } = await openConsole('events/endpoints/ep_00000000000070008000000000000000')
  await page.getByRole('alert').getByText('404').waitFor()
})

test('the first steps lead to endpoints, and what needs attention to failures', inBrowser, async () => {
  const receiver = await startReceiver()
  receiver.answer(503)
  const visited = await openConsole()
  const { page, api, open, server, complaints } = visited
  await deleteEndpoints(visited)
  await page.reload()
  await page.getByRole('link', { name: 'Add an endpoint' }).click()
  await page.getByRole('heading', { name: 'No endpoints yet' }).waitFor()
  const { id } = await manage(visited, 'POST', '/webhook', { url: receiver.url, filter_types: ['labtest.order.created'] })
  await createOrder(api)
  await open(`events/endpoints/${id}`)
  await page.getByRole('table', { name: 'Deliveries' }).getByText('Pending').waitFor()
  await page.getByRole('img', { name: /^Attempts: .*1 failed/ }).waitFor()
  // As after the last attempt of the schedule, which takes days.
  await onDatabase(connectionOf(server.dataDir), (client) =>
    client.query(`update sandbox_us.delivery set state = 'failed', due_at = null where destination_id = $1`, [id]),
  )
  await open('')
  await page.getByRole('link', { name: 'Send an example' }).waitFor()
  await page.getByRole('link', { name: /was not delivered|were not delivered/ }).click()
  await page.waitForURL('**/events/failures?hours=720')
  await page.getByRole('table', { name: 'Failures' }).getByText(receiver.url).waitFor()
  assertNoComplaints(complaints)
})

test('a developer sees the endpoints of production without their deliveries, and changes nothing', inBrowser, async () => {
  const visited = await openConsoleAs('developer', 'events')
  const { page, server, demo, complaints } = visited
  const created = await fetch(`${server.url}/v1/org/${demo.org_id}/team/${demo.teams.us}/production/webhook`, {
    method: 'POST',
    headers: { 'x-management-key': demo.management_key },
    body: JSON.stringify({ url: 'https://receiver.example.com/events' }),
  })
  const { id } = (await created.json()) as { id: string }
  await page.goto(`${server.url}/console/${demo.teams.us}/production-us/requests`)
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Events' }).click()
  await page.getByRole('table', { name: 'Endpoints' }).getByText('https://receiver.example.com/events').click()
  await page.waitForURL(`**/production-us/events/endpoints/${id}`)
  await page.getByRole('heading', { name: 'Health' }).waitFor()
  await assertGoodPage(visited, 'endpoint developer')
  assert.equal(await page.getByRole('heading', { name: 'Deliveries' }).count(), 0)
  assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0)
  assertNoComplaints(complaints)
})
