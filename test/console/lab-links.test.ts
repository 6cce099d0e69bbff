// Links to laboratories in the console: what a person must look at.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole } from './console.ts'
import { createLink, manageOrg, MARKUP, receive, refuse, reportIssue } from './lab-links.ts'
import { openConsoleAs } from './members.ts'
import { createOrder } from './orders.ts'

test('an issue says what to do, leads to its order, and is marked as done with a comment', inBrowser, async () => {
  const visited = await openConsole('links')
  const { page, api, open, complaints } = visited
  await page.getByRole('heading', { name: 'No open issues' }).waitFor()
  await assertGoodPage(visited, 'links issues empty')
  const order_id = await createOrder(api)
  const link = await createLink(visited)
  await refuse(visited, link, order_id, `The laboratory answered AR: ${MARKUP}`)
  await reportIssue(visited, link, { reason: 'unknown_code', source: `code ${'X'.repeat(120)}`, detail: MARKUP, count: 1234 })
  await reportIssue(visited, link, { reason: 'link_down', detail: 'ECONNREFUSED' })
  const other = await createLink(visited)
  await receive(visited, other, `no message ${order_id}`)
  await page.reload()
  await page.getByRole('article').nth(3).waitFor()
  await assertGoodPage(visited, 'links issues')

  const refused = page.getByRole('article', { name: 'The laboratory refused a message about an order.' })
  await refused.getByText(MARKUP).waitFor()
  await refused
    .getByText(`bin/drawbridge links send-order ${order_id} --team ${visited.demo.teams.us} --cell sandbox-us`)
    .waitFor()
  await refused.getByText(`quest · ${link.number}`).waitFor()
  await page.getByText(`bin/drawbridge links check ${link.account_id} --cell sandbox-us`).waitFor()
  await page.getByRole('combobox', { name: 'Lab account' }).click()
  await page.getByRole('option', { name: `quest · ${other.number}` }).click()
  await page.waitForURL(`**/links?account=${other.account_id}`)
  await page.getByText('1 issue', { exact: true }).waitFor()
  await open(`links?account=${link.account_id}&reason=refused_order`)
  await page.getByText('1 issue', { exact: true }).waitFor()

  await refused.getByRole('button', { name: 'Mark as done' }).focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('it is neither processed nor sent any more').waitFor()
  await dialog.getByRole('textbox', { name: 'What was done' }).fill(`Asked the laboratory ${MARKUP}`)
  await assertGoodPage(visited, 'links issue done dialog')
  await dialog.getByRole('button', { name: 'Mark as done' }).click()
  await page.getByRole('heading', { name: 'No issue matches' }).waitFor()
  await page.getByText('Done', { exact: true }).click()
  await refused.getByText(`Asked the laboratory ${MARKUP}`).waitFor()
  assert.equal(await refused.getByRole('button', { name: 'Mark as done' }).count(), 0)
  await assertGoodPage(visited, 'links issues done')
  await refused.getByRole('link', { name: /^order / }).click()
  await page.waitForURL(`**/orders/${order_id}`)
  assertNoComplaints(complaints)
  const { data } = await manageOrg(visited, 'GET', '/lab_link_issue/sandbox/us?state=done')
  assert.equal(data[0].comment, `Asked the laboratory ${MARKUP}`)
})

test('a member without the role of an organization administrator has no such page', inBrowser, async () => {
  const { page } = await openConsoleAs('staff', 'links')
  await page.getByRole('alert').filter({ hasText: 'Your role does not permit this' }).first().waitFor()
  assert.equal(await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Lab links' }).count(), 0)
})
