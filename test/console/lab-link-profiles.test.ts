// Links of lab accounts in the console: their states, modes and profiles.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { listChanges, readProfile } from '../../console/pages/lab-link/profile-changes.ts'
import type { Page } from '../support/browser.ts'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole } from './console.ts'
import { startLaboratory } from '../support/acknowledging-laboratory.ts'
import { eventually } from '../support/eventually.ts'
import { connect, createLink, fail } from './lab-links.ts'
import { createOrder } from './orders.ts'
import { manageOrg, MARKUP } from './org-requests.ts'

/** A refused import is a complaint of the browser, and so is an account without a link. */
const REFUSED = /the server responded with a status of 4(04|22)/

test('links are listed with their states, and the mode of one is changed after a word about it', inBrowser, async () => {
  const visited = await openConsole('links/accounts')
  const { page, open, demo, complaints } = visited
  await page.getByRole('heading', { name: 'No lab accounts' }).waitFor()
  await assertGoodPage(visited, 'links accounts empty')
  const [working, failing] = [await createLink(visited), await createLink(visited, 'labcorp')]
  await fail(visited, failing, `connect ECONNREFUSED 192.0.2.7:2575 ${MARKUP} ${'x'.repeat(300)}`)
  const account = { lab: 'quest', provider_account_id: 'FICTIONAL-unlinked', status: 'active' }
  await manageOrg(visited, 'PUT', `/lab_account/sandbox/us/${randomUUID()}`, account)
  await page.reload()
  const table = page.getByRole('table', { name: 'Links of lab accounts' })
  await table.getByText('No link').waitFor()
  await table.getByText('Unused', { exact: true }).waitFor()
  assert.match(await table.locator('tbody tr').first().innerText(), /labcorp/)
  await assertGoodPage(visited, 'links accounts')
  await table.locator('[data-row-link]').first().focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/links/accounts/${failing.account_id}`)
  await page.getByText('connect ECONNREFUSED').waitFor()
  await page.getByRole('table', { name: 'Options of the profile' }).getByText('text.time_zone').waitFor()
  await assertGoodPage(visited, 'links account failing')

  await open(`links/accounts/${working.account_id}`)
  await page.getByText('Orders of every team under this account').waitFor()
  await page.getByRole('button', { name: 'Change mode' }).click()
  const dialog = page.getByRole('dialog')
  assert(await dialog.getByRole('button', { name: 'Change mode' }).isDisabled())
  await dialog.getByRole('radio', { name: 'Live for team' }).click()
  assert(await dialog.getByRole('button', { name: 'Change mode' }).isDisabled())
  await dialog.getByRole('combobox', { name: 'Team' }).selectOption(demo.teams.us!)
  await assertGoodPage(visited, 'links account mode dialog')
  await dialog.getByRole('button', { name: 'Change mode' }).click()
  await page.getByText('Live, 1 team').waitFor()
  const { lab_link } = await manageOrg(visited, 'GET', `/lab_link/sandbox/us/${working.account_id}`)
  assert.deepEqual([lab_link.mode, lab_link.live_team_id], ['live_for_team', demo.teams.us])
  assertNoComplaints(complaints)
})

test('a link is checked, and an order that the laboratory refused is sent again', inBrowser, async () => {
  let code: 'AA' | 'AR' = 'AR'
  const port = await startLaboratory(({ messageCode }) => (messageCode === 'NMQ' ? 'AA' : code))
  const visited = await openConsole('links/accounts')
  const { page, open, api, complaints } = visited
  const link = await createLink(visited)
  await open(`links/accounts/${link.account_id}`)
  await page.getByRole('button', { name: 'Check link' }).click()
  await page.getByText('The link does not work').waitFor()
  await page.getByRole('listitem').filter({ hasText: 'no transport' }).waitFor()
  await assertGoodPage(visited, 'links account check failed')
  await manageOrg(visited, 'PUT', `/lab_link/sandbox/us/${link.account_id}/mode`, { mode: 'live' })
  await connect(visited, link, port)
  const order_id = await createOrder(api, { method: 'walk_in_test', lab_account_id: link.account_id })
  await eventually(
    async () => (await api.get(`/v3/order/${order_id}`)).body.last_event.status_detail === 'fulfillment_error',
    'the laboratory has refused the order',
  )
  await page.reload()
  await page.getByRole('table', { name: 'Orders that the laboratory does not have' }).getByRole('link').waitFor()
  await page.getByRole('button', { name: 'Check link' }).click()
  await page.getByText(/No step has failed/).waitFor()
  await page.getByRole('listitem').filter({ hasText: 'the laboratory acknowledged' }).waitFor()
  await assertGoodPage(visited, 'links account check')
  await page.getByRole('button', { name: 'Send order' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('with a new control id').waitFor()
  await assertGoodPage(visited, 'links account send dialog')
  await dialog.getByRole('button', { name: 'Send order' }).click()
  await page.getByRole('table', { name: 'Orders that the laboratory does not have' }).waitFor({ state: 'detached' })

  await open(`orders/${order_id}`)
  await page.getByRole('button', { name: 'Send to laboratory' }).waitFor()
  await assertGoodPage(visited, 'order refused by its laboratory')
  code = 'AA'
  await page.getByRole('button', { name: 'Send to laboratory' }).click()
  await dialog.getByRole('button', { name: 'Send to laboratory' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Send to laboratory' }).waitFor({ state: 'detached' })
  await eventually(
    async () => /requisition_created/.test((await api.get(`/v3/order/${order_id}`)).body.last_event.status),
    'the laboratory has the order',
  )
  assertNoComplaints(complaints)
})

test('trial orders are sent after a word about it, and their report shows how far they are', inBrowser, async () => {
  let held: PromiseWithResolvers<void> | undefined = Promise.withResolvers()
  let orderCount = 0
  const port = await startLaboratory(async () => {
    if (++orderCount === 3) await held?.promise
    return orderCount === 4 ? 'AE' : 'AA'
  })
  const visited = await openConsole('links/accounts')
  const { page, open, complaints } = visited
  const link = await createLink(visited, 'quest', 'test')
  await connect(visited, link, port)
  await open(`links/accounts/${link.account_id}`)
  await page.getByRole('button', { name: 'Send trial orders' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Save trial report' }).count(), 0)
  await assertGoodPage(visited, 'links account test')
  await page.getByRole('button', { name: 'Send trial orders' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('marked as tests').waitFor()
  await assertGoodPage(visited, 'links account trial dialog')
  await dialog.getByRole('button', { name: 'Send trial orders' }).click()
  const orders = page.getByRole('list', { name: 'Orders of the trial' })
  await page.getByText(/^Sending: 2 as expected, 0 different, 8 open$/).waitFor()
  await orders.getByText('waiting').waitFor()
  assert.equal(await orders.getByText('not sent').count(), 7)
  await assertGoodPage(visited, 'links account trial running')
  held.resolve()
  held = undefined
  await page.getByText(/^Sent .*: 8 as expected, 2 different, 0 open$/).waitFor()
  await assertGoodPage(visited, 'links account trial')
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save trial report' }).click()
  assert.match(await readFile(await (await download).path(), 'utf8'), /^<!doctype html>/)
  await page.getByRole('button', { name: 'Send trial orders' }).click()
  await dialog.getByText('The report of the last trial is replaced').waitFor()
  assertNoComplaints(complaints)
})

test('a profile is exported, and imported after its changes were shown', inBrowser, async () => {
  const visited = await openConsole('links/accounts')
  const { page, open, complaints } = visited
  const link = await createLink(visited)
  const dialog = page.getByRole('dialog')
  await open(`links/accounts/${link.account_id}`)
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export profile' }).click()
  const profile = JSON.parse(await readFile(await (await download).path(), 'utf8')) as Record<string, object>
  assert.deepEqual(profile, await manageOrg(visited, 'GET', `/lab_link/sandbox/us/${link.account_id}/profile`))
  await choose(page, 'no JSON')
  await page.getByText('The file is not a JSON object.').waitFor()
  await choose(page, JSON.stringify(profile))
  await dialog.getByText('It has the same options.').waitFor()
  assert(await dialog.getByRole('button', { name: 'Import profile' }).isDisabled())
  await page.keyboard.press('Escape')
  await choose(page, JSON.stringify({ ...profile, text: { ...profile.text, time_zone: 'Moon/Base' } }))
  await dialog.getByRole('button', { name: 'Import profile' }).click()
  await dialog.getByRole('alert').getByText('body.text.time_zone').waitFor()
  await page.keyboard.press('Escape')
  await choose(page, JSON.stringify({ ...profile, text: { ...profile.text, time_zone: 'America/Phoenix' } }))
  await dialog.getByRole('row', { name: 'text.time_zone "America/New_York" "America/Phoenix"' }).waitFor()
  const accepted = complaints.filter((complaint) => !REFUSED.test(complaint))
  await assertGoodPage({ page, complaints: accepted }, 'links account import dialog')
  await dialog.getByRole('button', { name: 'Import profile' }).click()
  await page.getByRole('table', { name: 'Options of the profile' }).getByText('"America/Phoenix"').waitFor()

  const account_id = randomUUID()
  const account = { lab: 'quest', provider_account_id: `FICTIONAL-${account_id}`, status: 'active' }
  await manageOrg(visited, 'PUT', `/lab_account/sandbox/us/${account_id}`, account)
  await open(`links/accounts/${account_id}`)
  await page.getByRole('heading', { name: 'The lab account has no link' }).waitFor()
  await choose(page, JSON.stringify(profile))
  await dialog.getByText('creates the link, in mode off').waitFor()
  await dialog.getByRole('button', { name: 'Import profile' }).click()
  await page.getByText('Off', { exact: true }).waitFor()
})

/** Chooses a file of this text for the import. */
async function choose(page: Page, text: string): Promise<void> {
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Import profile' }).click()
  await (await chooser).setFiles({ name: 'profile.json', mimeType: 'application/json', buffer: Buffer.from(text) })
}

test('the changes of an import are listed option by option, and a missing transport is no change', () => {
  const profile = { preset: 'us-23', text: { time_zone: 'UTC', charset: 'ASCII' }, transport: { orders: 'mllp' } } as const
  assert.deepEqual(listChanges(profile, { text: { time_zone: 'UTC' }, codes: { results: {} } }), [
    { option: 'codes.results', currentValue: undefined, fileValue: '{}' },
    { option: 'preset', currentValue: '"us-23"', fileValue: undefined },
    { option: 'text.charset', currentValue: '"ASCII"', fileValue: undefined },
  ])
  assert.deepEqual(listChanges(profile, { ...profile, transport: { orders: 'sftp' } }), [
    { option: 'transport.orders', currentValue: '"mllp"', fileValue: '"sftp"' },
  ])
  for (const text of ['', 'x', '[]', 'null', '1', '{']) assert.equal(readProfile(text), undefined)
})
