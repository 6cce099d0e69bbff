// Teams and the ways to sign in, in the settings.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { visit } from '../support/browser.ts'
import { folder, serving } from '../support/program.ts'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole, openConsoleAs } from './console.ts'

describe('teams', () => {
  test('a team is created in a region, set up, renamed, and deleted by its name', inBrowser, async () => {
    const visited = await openConsole('settings/teams')
    const { page, complaints, server, demo } = visited
    const name = `North ${randomUUID().slice(0, 8)}`
    await page.getByRole('table', { name: 'Teams' }).waitFor()
    await assertGoodPage(visited, 'settings teams')
    await page.getByRole('button', { name: 'Create a team' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create a team' })
    await dialog.getByRole('textbox', { name: 'Name' }).fill(name)
    await dialog.getByRole('combobox', { name: 'Region' }).click()
    await page.getByRole('option', { name: 'EU' }).click()
    await dialog.getByRole('textbox', { name: 'Your reference' }).fill(name)
    await assertGoodPage(visited, 'settings new team')
    await dialog.getByRole('button', { name: 'Create the team' }).click()
    await page.getByRole('heading', { name, level: 2 }).waitFor()
    const team_id = new URL(page.url()).searchParams.get('team_id')!

    const sandbox = page.getByRole('region', { name: 'Sandbox', exact: true })
    await sandbox.getByRole('switch', { name: 'Events of partial results' }).click()
    await sandbox.getByRole('textbox', { name: /^Booking page/ }).fill('http://example.com')
    await sandbox.getByRole('button', { name: 'Save sandbox' }).click()
    await sandbox.getByText(/must be an https URL/).waitFor()
    await sandbox.getByRole('textbox', { name: /^Booking page/ }).fill('https://example.com/{order_id}')
    await sandbox.getByRole('button', { name: 'Save sandbox' }).click()
    await sandbox.getByText('Saved.').waitFor()
    // The browser names the refusal, which was asked for.
    assert.match(complaints.splice(0).join(), /status of 422/)
    await assertGoodPage(visited, 'settings team')
    const stored = await fetch(`${server.url}/v1/org/${demo.org_id}/team/${team_id}`, {
      headers: { 'x-management-key': demo.management_key },
    })
    const settings = (await stored.json()) as Record<'sandbox' | 'production', Record<string, unknown>>
    assert.equal(settings.sandbox.partial_webhooks_enabled, true)
    assert.equal(settings.sandbox.appointment_booking_url, 'https://example.com/{order_id}')
    assert.equal(settings.production.partial_webhooks_enabled, false)

    await page.getByRole('textbox', { name: 'Name', exact: true }).fill(`${name} two`)
    await page.getByRole('button', { name: 'Save names' }).click()
    await page.getByRole('heading', { name: `${name} two`, level: 2 }).waitFor()
    await page.getByRole('button', { name: /^Team / }).click()
    await page
      .getByRole('menuitem', { name: new RegExp(`${name} two`) })
      .first()
      .waitFor()
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Delete team' }).click()
    const deletion = page.getByRole('dialog')
    await deletion.getByRole('textbox').fill(`${name} two`)
    await deletion.getByRole('button', { name: 'Delete team' }).click()
    await page.getByRole('table', { name: 'Teams' }).waitFor()
    await page.getByRole('link', { name: `${name} two` }).waitFor({ state: 'detached' })
    assertNoComplaints(complaints)
  })

  test('deleting the team of the page leads to another team', inBrowser, async () => {
    const { page, server, demo } = await openConsole('settings/teams')
    const headers = { 'x-management-key': demo.management_key }
    const body = JSON.stringify({ name: 'Short-lived', region: 'us' })
    const created = await fetch(`${server.url}/v1/org/${demo.org_id}/team`, { method: 'POST', headers, body })
    const { id } = (await created.json()) as { id: string }
    await page.goto(`${server.url}/console/${id}/sandbox-us/settings/teams?team_id=${id}`)
    await page.getByRole('button', { name: 'Delete team' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('Short-lived')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete team' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    assert.doesNotMatch(page.url(), new RegExp(id))
  })

  test('a reference that another team has is refused in the dialog', inBrowser, async () => {
    const { page, server, demo } = await openConsole('settings/teams')
    const reference = randomUUID()
    const headers = { 'x-management-key': demo.management_key }
    const body = JSON.stringify({ name: 'South', region: 'us', integration_team_id: reference })
    const created = await fetch(`${server.url}/v1/org/${demo.org_id}/team`, { method: 'POST', headers, body })
    assert.equal(created.status, 200)
    await page.getByRole('button', { name: 'Create a team' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('South')
    await dialog.getByRole('textbox', { name: 'Your reference' }).fill(reference)
    await page.keyboard.press('Enter')
    await dialog.getByRole('alert').getByText('409').waitFor()
  })

  test('staff reads the settings of the own team, and changes nothing', inBrowser, async () => {
    const { page, demo, open } = await openConsoleAs('staff', 'settings/teams')
    await page.getByRole('table', { name: 'Teams' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Create a team' }).count(), 0)
    await open(`settings/teams?team_id=${demo.teams.us}`)
    const sandbox = page.getByRole('region', { name: 'Sandbox', exact: true })
    assert(await sandbox.getByRole('switch', { name: 'Orders for minors' }).isDisabled())
    assert.equal(await page.getByRole('button', { name: /^(Save|Delete)/ }).count(), 0)
    await open(`settings/teams?team_id=${demo.teams.eu}`)
    await page.getByRole('alert').getByText('403').waitFor()
  })
})

describe('the section of signing in', () => {
  test('says which ways a demo server has', inBrowser, async () => {
    const visited = await openConsole('settings/sign-in')
    const { page } = visited
    await page.getByText('everyone who reaches the server signs in with one click').waitFor()
    await page.getByRole('heading', { name: 'No OpenID Connect issuer' }).waitFor()
    await assertGoodPage(visited, 'settings sign-in')
  })

  test('shows the issuer, its domains and roles, and never the secret of the client', inBrowser, async () => {
    const { url } = await serving(folder('console-issuer'), {
      PUBLIC_URL: 'https://lab.example.com',
      OIDC_ISSUER: 'https://login.example.com',
      OIDC_CLIENT_ID: 'drawbridge',
      OIDC_CLIENT_SECRET: 'fictional-secret-of-the-client',
      OIDC_LABEL: 'Fictional login',
      OIDC_ALLOWED_DOMAINS: 'clinic.example.com,lab.example.com',
      OIDC_ROLE_CLAIM: 'groups',
      OIDC_ROLES: 'admins=org_admin,nurses=staff',
    })
    const visited = await visit()
    const { page } = visited
    await page.goto(`${url}/console`)
    await page.getByRole('button', { name: 'Open the demo' }).click()
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('link', { name: 'Sign-in' }).click()
    await page.getByText('clinic.example.com, lab.example.com').waitFor()
    await page.getByText('https://lab.example.com/console/api/sign-in/oidc/callback').waitFor()
    await page.getByRole('row', { name: 'nurses staff' }).waitFor()
    assert.doesNotMatch(await page.content(), /fictional-secret/)
    await assertGoodPage(visited, 'settings single sign-on')
  })
})
