// Members and invitations in the settings.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { visit, type Page } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { folder, serving } from '../support/program.ts'
import { mailServer } from '../support/smtp-server.ts'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole, openConsoleAs } from './console.ts'

const PASSWORD = 'nine fictional gardens'
const newEmail = (): string => `testa-${randomUUID().slice(0, 8)}@example.com`

/** Invites a person as a viewer of the team. @returns the link */
async function invite(page: Page, email: string): Promise<string> {
  await page.getByRole('button', { name: 'Invite a person' }).click()
  const dialog = page.getByRole('dialog', { name: 'Invite a person' })
  await dialog.getByRole('textbox', { name: 'Email' }).fill(email)
  await dialog.getByRole('button', { name: 'Invite and create a link' }).click()
  const link = await dialog.locator('pre').innerText()
  assert.match(link, /\/console\/invite#token=inv_/)
  return link
}

describe('members', () => {
  test('a person is invited by a link, joins, gets another role, and is removed with all sessions', inBrowser, async () => {
    const visited = await openConsole('settings/members')
    const { page, complaints } = visited
    const email = newEmail()
    await page.getByRole('heading', { name: 'No open invitations' }).waitFor()
    await assertGoodPage(visited, 'settings members')
    const link = await invite(page, email)
    await assertGoodPage(visited, 'settings invite link')
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('table', { name: 'Invitations' }).getByRole('cell', { name: email, exact: true }).waitFor()

    const context = await page.context().browser()!.newContext()
    const other = await context.newPage()
    await other.goto(link)
    await other.getByLabel('Name').fill('Testa <b>Fictional</b>')
    await other.getByRole('textbox', { name: 'New password' }).fill(PASSWORD)
    await other.getByRole('button', { name: 'Set the password and sign in' }).click()
    await other.getByRole('button', { name: /Account of/ }).waitFor()

    await page.reload()
    await page.getByRole('heading', { name: 'No open invitations' }).waitFor()
    await page.getByRole('textbox', { name: 'Search members' }).fill(email)
    const row = page.getByRole('table', { name: 'Members' }).getByRole('row').filter({ hasText: email })
    await row.getByText(/^Viewer in /).waitFor()
    await row.getByText('Testa <b>Fictional</b>').waitFor()
    await row.getByRole('button', { name: /^Change role/ }).click()
    const dialog = page.getByRole('dialog', { name: /^Change the role/ })
    await dialog.getByRole('combobox', { name: /^Role in / }).click()
    await page.getByRole('option', { name: 'Developer' }).click()
    await assertGoodPage(visited, 'settings change role')
    await dialog.getByRole('button', { name: 'Change role' }).click()
    await row.getByText(/^Developer in /).waitFor()

    await row.getByRole('button', { name: /^Remove/ }).click()
    const removal = page.getByRole('dialog', { name: /^Remove/ })
    await removal.getByRole('textbox').fill(email)
    await removal.getByRole('button', { name: 'Remove member' }).click()
    await page.getByRole('heading', { name: 'Nobody matches' }).waitFor()
    await other.reload()
    await other.getByRole('button', { name: 'Open the demo' }).waitFor()
    await context.close()
    assertNoComplaints(complaints)
  })

  test('the last administrator of the organization stays one, as the API says', inBrowser, async () => {
    const { page } = await openConsole('settings/members')
    const row = page.getByRole('row').filter({ hasText: 'you' })
    await row.getByRole('button', { name: /^Change role/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Role', exact: true }).click()
    await page.getByRole('option', { name: 'No access' }).click()
    await dialog.getByRole('button', { name: 'Change role' }).click()
    await dialog.getByRole('alert').filter({ hasText: 'The organization must have at least one org_admin' }).waitFor()
    await dialog.getByRole('combobox', { name: 'Role', exact: true }).click()
    await page.getByRole('option', { name: 'A role in each team' }).click()
    await dialog.getByRole('button', { name: 'Change role' }).click()
    await dialog.getByText('the role team_admin requires at least one team').waitFor()
  })
})

describe('an invitation', () => {
  test('gets a new link, which replaces the one before, and is revoked', inBrowser, async () => {
    const { page } = await openConsole('settings/members')
    const email = newEmail()
    const first = await invite(page, email)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: `Create link for ${email}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click()
    const second = await page.getByRole('dialog').locator('pre').innerText()
    assert.notEqual(second, first)
    await page.getByRole('button', { name: 'Done' }).click()

    const context = await page.context().browser()!.newContext()
    const other = await context.newPage()
    const open = async (link: string): Promise<void> => {
      await other.goto('about:blank')
      await other.goto(link)
    }
    await open(first)
    await other.getByRole('alert').filter({ hasText: 'The link is unknown, was used, or has expired' }).waitFor()
    await open(second)
    await other.getByLabel('Name').waitFor()
    await page.getByRole('button', { name: `Revoke the invitation of ${email}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke invitation' }).click()
    await page.getByRole('cell', { name: email, exact: true }).waitFor({ state: 'detached' })
    await open(second)
    await other.getByRole('alert').filter({ hasText: 'The link is unknown, was used, or has expired' }).waitFor()
    await context.close()
  })

  test('of a member says that nothing was sent', inBrowser, async () => {
    const { page } = await openConsole('settings/members')
    const email = await page.getByRole('table', { name: 'Members' }).getByRole('cell', { name: /@/ }).first().innerText()
    await page.getByRole('button', { name: 'Invite a person' }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Email' }).fill(email)
    await page.getByRole('button', { name: 'Invite and create a link' }).click()
    await page.getByText(/^Nothing was sent\. A member of the organization already has the address/).waitFor()
  })
})

test('an invitation is sent by a server that sends mail, and shows no link', inBrowser, async () => {
  const peer = await mailServer()
  const { url } = await serving(folder('console-mail'), { SMTP_URL: `${peer.url}?tls=off`, MAIL_FROM: 'lab@example.com' })
  const { page } = await visit()
  await page.goto(`${url}/console`)
  await page.getByRole('button', { name: 'Open the demo' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('link', { name: 'Members' }).click()
  await page.getByRole('button', { name: 'Invite a person' }).click()
  const email = newEmail()
  await page.getByRole('dialog').getByRole('textbox', { name: 'Email' }).fill(email)
  await page.getByRole('button', { name: 'Send the invitation' }).click()
  await page.getByText(`A mail with a link is on its way to ${email}.`).waitFor()
  await eventually(() => peer.taken.some(({ to, text }) => to.includes(email) && text.includes('/console/invite#token')))
})

test('members are hidden from members with a role in a team alone', inBrowser, async () => {
  const { page } = await openConsoleAs('administrator', 'settings/members')
  await page.getByRole('heading', { name: 'No such section' }).waitFor()
})
