// Keys in the settings: of the team in an environment, and of the organization.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import type { Page } from '../support/browser.ts'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole, openConsoleAs, type ConsoleVisit } from './console.ts'

const statusWith = async (url: string, headers: Record<string, string>): Promise<number> => (await fetch(url, { headers })).status
const statusOfTeamKey = ({ server }: ConsoleVisit, key: string) =>
  statusWith(`${server.url}/v2/user/metrics`, { 'x-service-api-key': key })
const statusOfManagementKey = ({ server, demo }: ConsoleVisit, key: string) =>
  statusWith(`${server.url}/v1/org/${demo.org_id}/team`, { 'x-management-key': key })

/** The text that a dialog shows once. */
const shownText = async (page: Page): Promise<string> => {
  const code = page.getByRole('dialog').locator('pre')
  await code.waitFor()
  return code.innerText()
}

async function deleteByLabel(page: Page, label: string): Promise<void> {
  await page.getByRole('button', { name: `Delete the key ${label}` }).click()
  const dialog = page.getByRole('dialog')
  assert(await dialog.getByRole('button', { name: 'Delete key' }).isDisabled(), 'the label must be typed first')
  await dialog.getByRole('textbox').fill(label)
  await dialog.getByRole('button', { name: 'Delete key' }).click()
  await dialog.waitFor({ state: 'detached' })
}

describe('keys of the team', () => {
  test('a key is created by keyboard alone, shown once, works, and is refused after its deletion', inBrowser, async () => {
    const visited = await openConsole('settings/keys')
    const { page, complaints } = visited
    const label = `App <img src=x onerror=alert(1)> ${randomUUID().slice(0, 8)}`
    await page.getByRole('table', { name: 'Keys of the team' }).waitFor()
    await assertGoodPage(visited, 'settings keys')
    await page.getByRole('button', { name: 'Create a key', exact: true }).press('Enter')
    await page.getByRole('dialog').getByRole('textbox', { name: 'Label' }).waitFor()
    await assertGoodPage(visited, 'settings new key')
    await page.keyboard.type(label)
    await page.keyboard.press('Enter')
    const key = await shownText(page)
    assert.match(key, /^sk_us_/)
    await assertGoodPage(visited, 'settings created key')
    assert.equal(await statusOfTeamKey(visited, key), 200)
    await page.getByRole('button', { name: 'Done' }).press('Enter')
    const row = page.getByRole('row').filter({ hasText: label })
    await row.getByText(key.slice(-4)).waitFor()
    assert.doesNotMatch(await page.content(), new RegExp(key))
    assert.doesNotMatch(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }])), new RegExp(key))
    await row.getByText('Adina Testmann').waitFor()

    await deleteByLabel(page, label)
    await row.waitFor({ state: 'detached' })
    await eventually(async () => (await statusOfTeamKey(visited, key)) === 401)
    assertNoComplaints(complaints)
  })

  test('what the API refuses is said in the dialog: at the label, or with its status', inBrowser, async () => {
    const { page } = await openConsole('settings/keys')
    const answers = [
      {
        status: 422,
        json: { detail: [{ loc: ['body', 'label'], msg: 'String should have at most 100 characters', type: 'x' }] },
      },
      { status: 403, json: { detail: 'Your role does not permit this' } },
    ]
    await page.route('**/team_api_keys/**', (route) =>
      route.request().method() === 'POST' ? route.fulfill(answers.shift()!) : route.fallback(),
    )
    await page.getByRole('button', { name: 'Create a key', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Label' }).fill('App')
    await page.keyboard.press('Enter')
    await dialog.getByText('String should have at most 100 characters').waitFor()
    await dialog.getByRole('button', { name: 'Create the key' }).click()
    await dialog.getByRole('alert').filter({ hasText: 'Your role does not permit this' }).waitFor()
    await page.unroute('**/team_api_keys/**')
  })

  test('production has keys of its own', inBrowser, async () => {
    const { page } = await openConsole('settings/keys')
    await page.getByRole('button', { name: /^Team / }).click()
    await page.getByRole('menuitem', { name: /production US/ }).click()
    await page.waitForURL('**/production-us/settings/keys')
    await page.getByRole('heading', { name: 'Keys of the team, production' }).waitFor()
  })
})

describe('management keys', () => {
  test('a key of a team is created, rotated without overlap, and deleted', inBrowser, async () => {
    const visited = await openConsole('settings/keys')
    const { page, complaints } = visited
    const label = `Manager ${randomUUID().slice(0, 8)}`
    await page.getByRole('button', { name: 'Create a management key' }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Label' }).fill(label)
    await assertGoodPage(visited, 'settings new management key')
    await page.getByRole('button', { name: 'Create the key' }).click()
    const first = await shownText(page)
    assert.match(first, /^mg_/)
    await page.getByRole('button', { name: 'Done' }).click()
    assert.equal(await statusOfManagementKey(visited, first), 200)

    await page.getByRole('button', { name: `Rotate the key ${label}` }).click()
    await page.getByRole('combobox', { name: 'The former text works' }).click()
    await page.getByRole('option', { name: /it has leaked/ }).click()
    await page.getByRole('button', { name: 'Rotate key' }).click()
    const second = await shownText(page)
    assert.notEqual(second, first)
    await page.getByRole('button', { name: 'Done' }).click()
    assert.equal(await statusOfManagementKey(visited, second), 200)
    await eventually(async () => (await statusOfManagementKey(visited, first)) === 401)

    await deleteByLabel(page, label)
    await eventually(async () => (await statusOfManagementKey(visited, second)) === 401)
    assertNoComplaints(complaints)
  })

  test('a key of the whole organization is created by an administrator', inBrowser, async () => {
    const visited = await openConsole('settings/keys')
    const { page, server, demo } = visited
    const label = `Organization ${randomUUID().slice(0, 8)}`
    await page.getByRole('button', { name: 'Create a management key' }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Label' }).fill(label)
    await page.getByRole('radio', { name: /every team, members/ }).click()
    await page.getByRole('button', { name: 'Create the key' }).click()
    const key = await shownText(page)
    assert.equal(await statusWith(`${server.url}/v1/org/${demo.org_id}/member`, { 'x-management-key': key }), 200)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('row').filter({ hasText: label }).getByText('The organization').waitFor()
    await deleteByLabel(page, label)
  })
})

describe('the section of keys', () => {
  test('is not there for staff, who sees no keys', inBrowser, async () => {
    const { page } = await openConsoleAs('staff', 'settings/keys')
    await page.getByRole('heading', { name: 'No such section' }).waitFor()
    const sections = page.getByRole('navigation', { name: 'Sections of the settings' })
    await sections.getByRole('link', { name: 'Account', exact: true }).waitFor()
    assert.equal(await sections.getByRole('link', { name: 'Keys', exact: true }).count(), 0)
  })

  test('shows a developer the keys of the sandbox, and no management keys', inBrowser, async () => {
    const { page } = await openConsoleAs('developer', 'settings/keys')
    await page.getByRole('table', { name: 'Keys of the team' }).waitFor()
    await page.getByRole('button', { name: 'Create a key', exact: true }).waitFor()
    assert.equal(await page.getByRole('heading', { name: 'Management keys' }).count(), 0)
  })
})
