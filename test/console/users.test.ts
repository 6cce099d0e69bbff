// Users in the console: the list, and one user.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole, signInToConsole } from './console.ts'
import { createOrder } from './orders.ts'

test('users are found by the id that the team gave them, and one opens with its profile and sources', inBrowser, async () => {
  const visited = await signInToConsole()
  const { page, api, open, complaints } = visited
  const reference = `console-users-${randomUUID()}`
  await api.post('/v2/user', { client_user_id: reference })
  await open('users')
  await page.getByRole('table', { name: 'Users' }).waitFor()
  await assertGoodPage(visited, 'users')
  await page.getByRole('textbox', { name: /^Search/ }).fill(reference)
  await page.getByRole('cell', { name: reference }).waitFor()
  await page.locator('[data-row-link]').first().click()
  await page.getByRole('heading', { name: reference }).waitFor()
  await page.getByText('No provider is connected.').waitFor()
  await assertGoodPage(visited, 'user')
  await page.reload()
  await page.getByRole('heading', { name: reference }).waitFor()
  assertNoComplaints(complaints)
})

test('one user has the state and newest data of sources, the orders and the messages about them', inBrowser, async () => {
  const visited = await signInToConsole()
  const { page, api, open, complaints } = visited
  const order_id = await createOrder(api)
  const { user_id } = (await api.get(`/v3/order/${order_id}`)).body
  assert.equal((await api.post('/v2/link/connect/demo', { user_id, provider: 'oura' })).status, 200)
  await open(`users/${user_id}`)
  const source = page.getByRole('table', { name: 'Sources' }).getByRole('row').nth(1)
  await source.getByText('connected', { exact: false }).first().waitFor()
  await page.getByRole('table', { name: 'Orders of the user' }).waitFor()
  await page
    .getByText(/test kit has been ordered/)
    .first()
    .waitFor()
  await assertGoodPage(visited, 'user with data')
  await page.getByRole('link', { name: 'order', exact: true }).first().click()
  await page.waitForURL(`**/orders/${order_id}`)
  await page.goBack()
  await page.getByRole('link', { name: 'Who looked' }).click()
  await page.getByRole('table', { name: 'Access log of the user' }).waitFor()
  assertNoComplaints(complaints)
})

test('an unknown user is an error as the API says it', inBrowser, async () => {
  const { page } = await openConsole('users/00000000-0000-7000-8000-000000000000')
  await page.getByRole('alert').getByText('404').waitFor()
})
