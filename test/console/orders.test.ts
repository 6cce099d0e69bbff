// Orders in the console: the list, one order, and placing one.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole, signInToConsole, type ConsoleVisit } from './console.ts'
import { readFile } from 'node:fs/promises'
import { createOrder, storeDocuments } from './orders.ts'

/** The console at the orders of a team that has some. */
async function openOrders(query = ''): Promise<ConsoleVisit> {
  const visited = await signInToConsole()
  for (let count = 0; count < ORDERS; count++) await createOrder(visited.api)
  await visited.open(`orders${query}`)
  return visited
}
const ORDERS = 3

/** Places an order of the fictional patient through the page, and returns its id. */
async function placeOrder({ page, open }: ConsoleVisit): Promise<string> {
  await open('orders/new')
  await page.getByRole('combobox', { name: 'Test' }).click()
  await page.getByRole('option').first().click()
  await page.getByRole('button', { name: 'Place order' }).click()
  await page.getByRole('heading', { name: 'What happened' }).waitFor()
  return new URL(page.url()).pathname.split('/').at(-1)!
}

describe('the list of orders', () => {
  test('shows the orders of the team, which a row opens', inBrowser, async () => {
    const visited = await openOrders()
    const { page } = visited
    await page.getByRole('table', { name: 'Orders' }).waitFor()
    await assertGoodPage(visited, 'orders')
    await page.locator('[data-row-link]').first().click()
    await page.getByRole('heading', { name: 'What happened' }).waitFor()
    assert.match(page.url(), /\/orders\/[0-9a-f-]{36}$/)
    await page.goBack()
    await page.getByRole('table', { name: 'Orders' }).waitFor()
    assertNoComplaints(visited.complaints)
  })

  test('keeps filters in the address, so that a reload and the back button restore them', inBrowser, async () => {
    const { page, complaints } = await openOrders()
    const filter = page.getByRole('combobox', { name: 'Filter' })
    await filter.fill('state:cancelled')
    await filter.press('Enter')
    await page.waitForURL(/state=cancelled/)
    await page.reload()
    await page.getByText('state:cancelled').waitFor()
    await page.goBack()
    await page.getByRole('table', { name: 'Orders' }).waitFor()
    assert.doesNotMatch(page.url(), /state=/)
    assertNoComplaints(complaints)
  })

  test('says what is wrong with a filter, and that nothing matches', inBrowser, async () => {
    const { page } = await openOrders()
    const filter = page.getByRole('combobox', { name: 'Filter' })
    await filter.fill('state:nowhere')
    await filter.press('Enter')
    await page.getByText(/^state is one of received/).waitFor()
    await page.getByRole('textbox', { name: /^Search/ }).fill('zzzzzz nobody')
    await page.getByRole('heading', { name: 'No order matches' }).waitFor()
  })

  test('says that the server cannot be reached, and tries again', inBrowser, async () => {
    const { page } = await openOrders()
    await page.getByRole('table', { name: 'Orders' }).waitFor()
    await page.context().setOffline(true)
    try {
      await page.getByRole('textbox', { name: /^Search/ }).fill('Testa')
      await page.getByRole('alert').getByText('The server cannot be reached').waitFor()
    } finally {
      await page.context().setOffline(false)
    }
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('alert').waitFor({ state: 'detached' })
  })

  test('is opened and read by keyboard alone', inBrowser, async () => {
    const { page } = await openOrders()
    await page.getByRole('table', { name: 'Orders' }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.getByText('1 selected').waitFor()
    await page.locator('[data-index="1"] [data-row-link]:focus').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'What happened' }).waitFor()
  })

  test('cancels the selected orders after a preview, and leaves those that have ended', inBrowser, async () => {
    const { page, api, open } = await openOrders()
    const id = await createOrder(api)
    await api.post(`/v3/order/${id}/cancel`)
    await open('orders')
    await page.getByRole('table', { name: 'Orders' }).waitFor()
    await page.getByRole('checkbox', { name: 'Select the row' }).nth(0).check()
    await page.getByRole('checkbox', { name: 'Select the row' }).nth(1).check()
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/^Cancels 1 order\./).waitFor()
    await dialog.getByText(/^1 order of the selection cannot be changed/).waitFor()
    await dialog.getByRole('button', { name: 'Cancel', exact: true }).click()
    await dialog.getByText('1 done, 0 failed').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    const { data } = (await api.get('/console/v1/orders?limit=2')).body
    assert.deepEqual(
      data.map(({ status }: { status: string }) => status),
      ['cancelled', 'cancelled'],
    )
  })

  test('shows the outcome of a batch also when its orders have left the list', inBrowser, async () => {
    const { page, api, open } = await openOrders()
    const id = await createOrder(api)
    await open('orders?state=received')
    const row = page.getByRole('row').filter({ has: page.locator(`a[href$="${id}"]`) })
    await row.getByRole('checkbox', { name: 'Select the row' }).check()
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.locator(`a[href$="${id}"]`).waitFor({ state: 'detached' })
    await dialog.getByText('1 done, 0 failed').waitFor()
  })

  test('saves a view, opens it and deletes it', inBrowser, async () => {
    const { page } = await openOrders('?state=failed')
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Save this view' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Failed orders')
    await page.getByRole('button', { name: 'Save view' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('combobox', { name: 'Filter' }).press('Backspace')
    await page.waitForURL((url) => !url.search.includes('state'))
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Failed orders' }).click()
    await page.waitForURL(/state=failed/)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('button', { name: 'Delete the view Failed orders' }).click()
    await page.getByRole('menuitem', { name: 'Failed orders' }).waitFor({ state: 'detached' })
  })
})

describe('one order', () => {
  test('is placed, led to its result in the sandbox, and shows its values and events', inBrowser, async () => {
    const visited = await signInToConsole()
    const { page } = visited
    const id = await placeOrder(visited)
    await assertGoodPage(visited, 'new order')
    await page.getByRole('button', { name: 'Simulate the result' }).click()
    await page.getByRole('table', { name: 'Results' }).waitFor({ timeout: 60_000 })
    await page.getByRole('region', { name: 'Lifecycle' }).getByText('Completed').waitFor()
    await assertGoodPage(visited, 'completed order')
    await page.getByRole('tab', { name: 'Events' }).click()
    await page.getByRole('table', { name: 'Events' }).waitFor()
    assert.match(page.url(), new RegExp(`${id}\\?tab=events$`))
    await page.reload()
    await page.getByRole('table', { name: 'Events' }).waitFor()
    assertNoComplaints(visited.complaints)
  })

  test("lists the laboratory's own documents of the result, each with its state and its file", inBrowser, async () => {
    const visited = await signInToConsole()
    const { page, api, open, complaints } = visited
    const id = await createOrder(api)
    await api.post(`/v3/order/${id}/test`)
    await eventually(async () => (await api.get(`/v3/order/${id}/result`)).status === 200, 'the order has a result')
    await storeDocuments(visited, id)
    await open(`orders/${id}?tab=documents`)
    const table = page.getByRole('table', { name: 'Documents of the laboratory' })
    await table.getByRole('row', { name: /Corrected report.+Of the latest report.+PDF of the result/ }).waitFor()
    await table.getByRole('row', { name: /First report.+Of an earlier report/ }).waitFor()
    await assertGoodPage(visited, 'order documents')
    const download = page.waitForEvent('download')
    await table.getByRole('button', { name: /^PDF/ }).last().click()
    assert.match(await readFile(await (await download).path(), 'latin1'), /^%PDF/)
    assertNoComplaints(complaints)
  })

  test('is cancelled after its name was typed', inBrowser, async () => {
    const visited = await signInToConsole()
    const { page, api } = visited
    const id = await placeOrder(visited)
    await page.getByRole('button', { name: 'Cancel order' }).click()
    const dialog = page.getByRole('dialog')
    const confirm = dialog.getByRole('button', { name: 'Cancel order' })
    assert(await confirm.isDisabled())
    await dialog.getByRole('textbox').fill(id.slice(-4))
    await confirm.click()
    await dialog.waitFor({ state: 'detached' })
    await eventually(
      async () => (await api.get(`/v3/order/${id}`)).body.status === 'cancelled' || undefined,
      'the order is cancelled',
    )
    await page.getByRole('region', { name: 'Lifecycle' }).getByText('Cancelled').waitFor()
  })

  test('is read again while its page is open, by requests that do not prolong the session', inBrowser, async () => {
    const visited = await signInToConsole()
    const { page, api, open } = visited
    const id = await createOrder(api)
    const kinds: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith(`/v3/order/${id}`)) kinds.push(request.headers()['x-drawbridge-console'] ?? 'none')
    })
    await open(`orders/${id}`)
    await eventually(() => kinds.length > 1, 'the order was read again', 30_000)
    assert.deepEqual(kinds.slice(0, 2), ['1', 'background'])
  })

  test('that does not exist is an error as the API says it', inBrowser, async () => {
    const { page } = await openConsole('orders/00000000-0000-7000-8000-000000000000')
    await page.getByRole('alert').getByText("This order doesn't exist.").waitFor()
  })

  test('shows at a field what the API rejects', inBrowser, async () => {
    const { page, open } = await signInToConsole()
    await open('orders/new')
    await page.getByRole('combobox', { name: 'Test' }).click()
    await page.getByRole('option').first().click()
    await page.getByRole('textbox', { name: 'ZIP code' }).fill('nowhere')
    await page.getByRole('button', { name: 'Place order' }).click()
    await page.getByRole('alert').getByText('422').waitFor()
    assert.equal(await page.getByRole('textbox', { name: 'ZIP code' }).getAttribute('aria-invalid'), 'true')
  })
})
