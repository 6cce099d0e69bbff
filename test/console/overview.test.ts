// The overview of a team, and the frame around every page.
import { test } from 'node:test'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole } from './console.ts'
import { createOrder } from './orders.ts'

test('the overview shows how many users and orders the team has', inBrowser, async () => {
  const visited = await openConsole()
  const { page, api } = visited
  await api.post('/v2/user', { client_user_id: 'overview-fictional' })
  await page.reload()
  await page.getByRole('term').filter({ hasText: 'Users' }).waitFor()
  const { number_of_users } = (await api.get('/v2/user/metrics')).body
  await page
    .getByRole('definition')
    .filter({ hasText: String(number_of_users) })
    .first()
    .waitFor()
  await assertGoodPage(visited, 'overview')
})

test('the step of the first key leads to the keys, and is done when a key was used', inBrowser, async () => {
  const { page, open } = await openConsole()
  const step = page.getByRole('listitem').filter({ hasText: 'Call the API with a key' })
  await step.getByRole('button', { name: 'As curl or code' }).click()
  await page.getByText(/x-service-api-key: \$KEY/).waitFor()
  await page.keyboard.press('Escape')
  await step.getByRole('link', { name: 'Create a key' }).click()
  await page.getByRole('heading', { name: 'Keys of the team, sandbox' }).waitFor()
  // The server writes uses once a minute: the page sees the list as it will be then.
  await page.route('**/team_api_keys/**', async (route) => {
    const { api_keys } = (await (await route.fetch()).json()) as { api_keys: Record<string, unknown>[] }
    const last_used_at = new Date().toISOString()
    await route.fulfill({ json: { api_keys: api_keys.map((key) => ({ ...key, last_used_at })), next_cursor: null } })
  })
  await open('')
  await page.getByText('Call the API with a key, which is seen here within a minute, done').waitFor()
  await page.unroute('**/team_api_keys/**')
})

test('switching the environment keeps the page, and production has neither the clock nor the band', inBrowser, async () => {
  const { page, complaints, demo } = await openConsole()
  const header = page.locator('header')
  await header.getByText(/\d{2}:\d{2}/).waitFor()
  await page.getByRole('button', { name: /^Team / }).click()
  await page.getByRole('menuitem', { name: /production US/ }).click()
  await page.waitForURL(`**/console/${demo.teams.us}/production-us`)
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Overview' }).waitFor()
  await header.getByText(/\d{2}:\d{2}/).waitFor({ state: 'detached' })
  assertNoComplaints(complaints)
})

test('a color scheme that was chosen stays after a reload', inBrowser, async () => {
  const { page } = await openConsole()
  await page.getByRole('button', { name: /Account of/ }).click()
  await page.getByRole('menuitemradio', { name: 'Dark' }).click()
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
  await page.reload()
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
  await page.getByRole('button', { name: /Account of/ }).click()
  await page.getByRole('menuitemradio', { name: 'As the system' }).click()
  await page.locator('html[data-mantine-color-scheme=light]').waitFor()
})

test('on a phone the navigation opens over the page, and closes when a page is chosen', inBrowser, async () => {
  const { page } = await openConsole('', 'phone')
  await page.getByRole('button', { name: /^Open the navigation/ }).click()
  const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Overview' })
  await link.click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'hidden' })
})

test('the command palette goes to pages and teams by keyboard alone, and ? lists the keys', inBrowser, async () => {
  const { page, demo, complaints } = await openConsole()
  await page.keyboard.press('Control+K')
  await page.getByPlaceholder('Search, jump to an id, or run an action').fill('production us')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/console/${demo.teams.us}/production-us`)
  // The frame of the other environment is there.
  await page.getByRole('button', { name: /^Clock of the sandbox/ }).waitFor({ state: 'detached' })
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await page.keyboard.press('Shift+?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' })
  assertNoComplaints(complaints)
})

test(
  'the command palette leads from the id of a transaction, a lab test and a key to the page that shows it',
  inBrowser,
  async () => {
    const { page, api, demo, server } = await openConsole()
    const order_id = await createOrder(api)
    const { order_transaction, lab_test } = (await api.get(`/v3/order/${order_id}`)).body
    const keys = await fetch(`${server.url}/v1/org/${demo.org_id}/team_api_keys/sandbox/us`, {
      headers: { 'x-management-key': demo.management_key },
    })
    const [key] = ((await keys.json()) as { api_keys: { id: string }[] }).api_keys
    const pages = [
      { id: order_transaction.id, kind: 'Order transaction', address: `**/orders?transaction=${order_transaction.id}` },
      { id: lab_test.id, kind: 'Lab test', address: `**/catalog/tests/${lab_test.id}` },
      { id: key!.id, kind: 'Key', address: '**/settings/keys' },
    ]
    for (const { id, kind, address } of pages) {
      await page.keyboard.press('Control+K')
      await page.getByPlaceholder('Search, jump to an id, or run an action').fill(id)
      await page
        .getByRole('dialog')
        .getByText(new RegExp(`^${kind} `))
        .waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(address)
    }
  },
)

test('the command palette opens an order by its id', inBrowser, async () => {
  const { page, complaints, api } = await openConsole()
  await page.getByRole('button', { name: 'Place an example order' }).click()
  await page.getByText('Order a test for a fictional patient, done').waitFor()
  const { orders } = (await api.get('/v3/orders')).body
  await page.keyboard.press('Control+K')
  await page.getByPlaceholder('Search, jump to an id, or run an action').fill(orders[0].id)
  await page
    .getByRole('dialog')
    .getByText(/^Order /)
    .waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/orders/${orders[0].id}`)
  assertNoComplaints(complaints)
})
