// Links to laboratories in the console: what a person must look at, and the messages.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole, signInToConsole } from './console.ts'
import { createLink, receive, refuse, reportIssue } from './lab-links.ts'
import { manageOrg, MARKUP } from './org-requests.ts'
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

test('messages are found by filters, and one is shown with its segments named and its answer', inBrowser, async () => {
  const visited = await openConsole('links/messages?control_id=absent')
  const { page, api, open, complaints } = visited
  await page.getByRole('heading', { name: 'No message matches' }).waitFor()
  await assertGoodPage(visited, 'links messages empty')
  const order_id = await createOrder(api)
  const link = await createLink(visited)
  const [refused, unreadable] = [
    await refuse(visited, link, order_id, `The laboratory answered AR: ${MARKUP} ${'and more '.repeat(40)}`),
    await receive(visited, link, `MSH|no message ${order_id}`),
  ]
  const hl7 = (value: string) =>
    `MSH|^~\\&|LIS|LAB|||20300104||ORU^R01|${refused.slice(0, 8)}|T|2.3\rPID|1||${MARKUP}||Fictional^Testa\rOBR|1|N1||X\rNTE|1||${value}`
  const read = await receive(visited, link, hl7('N'.repeat(3000)))
  await open(`links/messages?account=${link.account_id}`)
  const table = page.getByRole('table', { name: 'Messages with laboratories' })
  await table.getByText('To lab OML^O21').waitFor()
  assert.equal(await table.locator('[data-row-link]').count(), 3)
  await assertGoodPage(visited, 'links messages')
  await page.getByRole('combobox', { name: 'Filter' }).fill('state:refused')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/links/messages?*state=refused*')
  await page.getByText('1 message', { exact: true }).waitFor()
  await table.locator('[data-row-link]').first().focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/links/messages/${refused}`)
  await page.getByRole('region', { name: 'The message' }).getByText('Fictional^Testa').waitFor()
  await page.getByRole('region', { name: 'The answer' }).getByText(MARKUP).waitFor()
  await assertGoodPage(visited, 'links message refused')
  await open(`links/messages/${unreadable}`)
  await page.getByRole('region', { name: 'The message' }).getByText(`no message ${order_id}`).waitFor()
  await assertGoodPage(visited, 'links message unreadable')
  await open(`links/messages/${read}`)
  await page.getByRole('definition').getByText(MARKUP).waitFor()
  await assertGoodPage(visited, 'links message')
  assertNoComplaints(complaints)
})

test('a message is downloaded, replayed, resent and marked as done, each after a word about its effect', inBrowser, async () => {
  const visited = await openConsole('links/messages')
  const { page, api, open, complaints } = visited
  const order_id = await createOrder(api)
  const link = await createLink(visited)
  const refused = await refuse(visited, link, order_id, 'The laboratory answered AR')
  const failed = await receive(visited, link, `no message ${order_id}`)
  const dialog = page.getByRole('dialog')
  await open(`links/messages/${failed}`)
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download' }).click()
  assert.equal((await download).suggestedFilename(), `${failed}.txt`)
  assert.equal(await readFile(await (await download).path(), 'utf8'), `no message ${order_id}`)
  await page.getByRole('button', { name: 'Replay' }).click()
  await dialog.getByText('What was applied before is not applied twice.').waitFor()
  await assertGoodPage(visited, 'links message replay dialog')
  await dialog.getByRole('button', { name: 'Replay message' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('Failed', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Resend' }).waitFor({ state: 'detached' })

  await open(`links/messages/${refused}`)
  await page.getByRole('button', { name: 'Mark as done' }).click()
  await dialog.getByText('The laboratory gets no message').waitFor()
  await dialog.getByRole('textbox', { name: 'What was done' }).fill('Called the laboratory')
  await dialog.getByRole('button', { name: 'Mark as done' }).click()
  await page.getByText('Called the laboratory').waitFor()
  await manageOrg(visited, 'PUT', `/lab_link/sandbox/us/${link.account_id}/mode`, { mode: 'off' })
  await page.reload()
  await page.getByRole('button', { name: 'Resend' }).click()
  await dialog.getByText('The link is in mode off').waitFor()
  await dialog.getByRole('button', { name: 'Resend message' }).click()
  await page.getByText('Queued', { exact: true }).waitFor()
  assertNoComplaints(complaints)
  const { state, comment } = await manageOrg(visited, 'GET', `/lab_message/sandbox/us/${refused}`)
  assert.deepEqual([state, comment], ['queued', null])
})

test('a member who does not administer the organization sees no issues', inBrowser, async () => {
  const { page } = await openConsoleAs('staff', 'links')
  await page.getByRole('alert').filter({ hasText: 'Your role does not permit this' }).first().waitFor()
  assert.deepEqual(await page.getByRole('navigation', { name: 'Lab links' }).getByRole('link').allInnerTexts(), ['Shadow'])
})

test('the overview leads administrators of the organization to open issues', inBrowser, async () => {
  const visited = await signInToConsole()
  const { page, open } = visited
  const link = await createLink(visited)
  await reportIssue(visited, link, { reason: 'link_down', detail: 'ECONNREFUSED' })
  await open('')
  await page.getByRole('link', { name: /issues? of lab links/ }).click()
  await page.waitForURL('**/links')
  await page.getByRole('article', { name: 'The link does not work.' }).first().waitFor()
})
