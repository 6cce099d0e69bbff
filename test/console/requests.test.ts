// The log of requests in the console, and the explorer that runs operations.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { keepScreenshot } from '../support/browser.ts'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole, signInToConsole, type ConsoleVisit } from './console.ts'
import { openConsoleAs } from './members.ts'

/** A response that the API refuses is an error of the browser too. */
const REFUSED = /the server responded with a status of (404|422)/
const lookAt = ({ page, complaints }: ConsoleVisit, name: string): Promise<void> =>
  assertGoodPage({ page, complaints: complaints.filter((complaint) => !REFUSED.test(complaint)) }, name)

test('the log is filtered, zoomed by keys and by dragging, and one request opens with its error', inBrowser, async () => {
  const visited = await signInToConsole()
  const { page, api, open, complaints } = visited
  await api.get('/v3/lab_tests')
  await api.post('/v3/order', {})
  await open('requests')
  const requests = page.getByRole('table', { name: 'Requests' })
  await requests.getByText('create_order').first().waitFor()
  await assertGoodPage(visited, 'requests')

  await page.getByRole('combobox', { name: 'Filter' }).fill('outcome:client_error')
  await page.keyboard.press('Enter')
  await page.waitForURL(/outcome=client_error/)
  await requests.getByText('get_lab_tests_for_team').first().waitFor({ state: 'detached' })

  const histogram = page.getByRole('slider', { name: 'Requests over time' })
  await histogram.focus()
  await page.keyboard.press('End')
  await page.keyboard.press('Shift+ArrowLeft')
  assert.match((await histogram.getAttribute('aria-valuetext'))!, /refused/)
  await page.keyboard.press('Enter')
  await page.waitForURL(/since=.*until=/)
  const { searchParams } = new URL(page.url())
  assert.equal(Date.parse(searchParams.get('until')!) - Date.parse(searchParams.get('since')!), 2 * 900_000)
  assert.equal(searchParams.get('outcome'), 'client_error')
  await requests.getByText('create_order').first().waitFor()
  // Six bars of five minutes: those of the chosen time alone.
  await histogram.and(page.locator('[aria-valuemax="5"]')).waitFor()
  await assertGoodPage(visited, 'requests zoomed')
  await page.goBack()
  await page.waitForURL((url) => !url.searchParams.has('since'))

  const box = (await histogram.boundingBox())!
  const middle = box.y + box.height / 2
  await page.mouse.move(box.x + box.width * 0.25, middle)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.5, middle, { steps: 4 })
  await page.mouse.up()
  await page.waitForURL(/since=.*until=/)
  const dragged = new URL(page.url()).searchParams
  const hours = (Date.parse(dragged.get('until')!) - Date.parse(dragged.get('since')!)) / 3_600_000
  assert(hours > 5.5 && hours < 7, `${hours} hours of 24`)
  await page.getByRole('heading', { name: 'No request matches' }).waitFor()
  await assertGoodPage(visited, 'requests empty')
  await page.getByRole('button', { name: 'All of the last 24 hours' }).click()

  await requests.locator('[data-row-link]').first().focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'create_order' }).waitFor()
  await page.getByText(/body\.user_id: Field required/).waitFor()
  await page.getByRole('button', { name: 'As curl or code' }).click()
  await page.getByText('"x-service-api-key: $KEY"').waitFor()
  await page.getByRole('tab', { name: 'SDK' }).click()
  await page.getByText(/await client\.labTests\.createOrder\(/).waitFor()
  await page.keyboard.press('Escape')
  await assertGoodPage(visited, 'request')
  assertNoComplaints(complaints)
})

test('the explorer runs a change after it asked, and reads it again by an id that was typed', inBrowser, async () => {
  const visited = await openConsole('requests/explorer')
  const { page, complaints } = visited
  const reference = `<img src=x onerror=alert(1)> ${randomUUID()}`
  const operation = page.getByRole('combobox', { name: 'Operation' })
  await operation.fill('create user')
  await page.getByRole('option', { name: /^create_user POST/ }).waitFor()
  await keepScreenshot(page, 'console explorer search')
  await page.getByRole('option', { name: /^create_user POST/ }).click()
  const body = page.getByRole('textbox', { name: 'Body' })
  await body.fill('{ "client_user_id": ')
  await page.getByText('This is not JSON').waitFor()
  assert(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled())
  await body.fill(JSON.stringify({ client_user_id: reference }))
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/^Sends POST \/v2\/user to the sandbox/).waitFor()
  await assertGoodPage(visited, 'explorer confirmation')
  await dialog.getByRole('button', { name: 'Run operation' }).click()
  await page.getByRole('status').filter({ hasText: /^200/ }).waitFor()
  const response = page.getByRole('region', { name: 'the response' })
  const user_id = /"user_id": "([0-9a-f-]{36})"/.exec((await response.textContent())!)![1]!
  assert.match((await response.textContent())!, /<img src=x onerror=alert\(1\)>/)
  await assertGoodPage(visited, 'explorer')

  await operation.fill('get_user GET')
  await page.getByRole('option', { name: /^get_user GET/ }).click()
  await page.getByRole('textbox', { name: 'user_id' }).fill(user_id)
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'the response' }).getByText(reference).waitFor()
  await page.getByRole('button', { name: /\d+ headers/ }).click()
  await page.getByText(/content-type: application\/json/).waitFor()
  assertNoComplaints(complaints)

  await page.getByRole('textbox', { name: 'user_id' }).fill('00000000-0000-7000-8000-000000000000')
  await page.keyboard.press('Enter')
  await page.getByRole('status').filter({ hasText: /^404/ }).waitFor()
  await lookAt(visited, 'explorer not found')
})

test('a request that waits for an answer is cancelled without an error', inBrowser, async () => {
  const { page } = await openConsole('requests/explorer?operation=follow_events')
  await page.getByRole('textbox', { name: 'wait_s' }).fill('20')
  await page.getByRole('combobox', { name: 'start' }).click()
  await page.getByRole('option', { name: 'newest' }).click()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' })
  assert.equal(await page.getByRole('alert').count(), 0)
})

test('a deletion asks for the name of the operation', inBrowser, async () => {
  const visited = await openConsole('requests/explorer?operation=delete_user')
  const { page, api } = visited
  const { user_id } = (await api.post('/v2/user', { client_user_id: `explorer-${randomUUID()}` })).body
  await page.getByRole('textbox', { name: 'user_id' }).fill(user_id)
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const dialog = page.getByRole('dialog')
  assert(await dialog.getByRole('button', { name: 'Run operation' }).isDisabled())
  await dialog.getByRole('textbox').fill('delete_user')
  await dialog.getByRole('button', { name: 'Run operation' }).click()
  await page.getByRole('status').filter({ hasText: /^200/ }).waitFor()
  assert.equal((await api.get(`/v2/user/${user_id}`)).status, 404)
})

test('in production the explorer only reads, and everywhere only what the role permits', inBrowser, async () => {
  const visited = await signInToConsole()
  const { page, server, demo, complaints } = visited
  const production = `${server.url}/console/${demo.teams.us}/production-us/requests/explorer`
  await page.goto(`${production}?operation=create_user`)
  await page.getByText('In production the explorer only reads.', { exact: true }).waitFor()
  assert(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled())
  await assertGoodPage(visited, 'explorer production')
  await page.goto(`${production}?operation=get_teams_metrics`)
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByRole('status').filter({ hasText: /^200/ }).waitFor()
  assertNoComplaints(complaints)
  await visited.open('requests/explorer?operation=update_org')
  await page.getByText(/^This operation changes production too/).waitFor()

  const viewer = await openConsoleAs('viewer', 'requests/explorer?operation=create_order')
  await viewer.page.getByText('Your role does not permit this operation.', { exact: true }).waitFor()
  assert(await viewer.page.getByRole('button', { name: 'Run', exact: true }).isDisabled())
})

test('an unknown request is an error as the API says it', inBrowser, async () => {
  const { page } = await openConsole('requests/no-such-request')
  await page.getByRole('alert').getByText('404').waitFor()
})
