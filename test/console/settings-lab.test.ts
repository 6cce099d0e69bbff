// Settings in the console: lab accounts, physicians, credentials, the brand.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole } from './console.ts'
import { openConsoleAs } from './members.ts'
import { manageOrg, MARKUP } from './org-requests.ts'

/** A refused change is a complaint of the browser. */
const REFUSED = /the server responded with a status of 4(00|09|22)/

describe('lab accounts', () => {
  test('an account is created, changed without losing its terms, and linked to teams', inBrowser, async () => {
    const visited = await openConsole('settings/lab-accounts')
    const { page, complaints, demo } = visited
    const number = `FICTIONAL-${randomUUID().slice(0, 8)}`
    await page.getByRole('button', { name: 'Create a lab account' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Laboratory' }).click()
    await page.getByRole('listbox').getByRole('option').first().click()
    await dialog.getByRole('textbox', { name: 'Account number at the laboratory' }).fill(number)
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill(MARKUP)
    await dialog.getByRole('button', { name: 'Every state: Commercial insurance' }).click()
    await assertGoodPage(visited, 'settings lab account form')
    await dialog.getByRole('button', { name: 'Create lab account' }).click()
    const row = page.getByRole('row', { name: new RegExp(number) })
    await row.getByText('Client bill, Commercial insurance').waitFor()
    await row.getByText(MARKUP).waitFor()

    await row.getByRole('button', { name: `Change ${number}` }).click()
    await dialog.getByLabel('Status').selectOption('suspended')
    await dialog.getByRole('button', { name: 'Save lab account' }).click()
    await row.getByText('Suspended').waitFor()
    await row.getByText('Client bill, Commercial insurance').waitFor()

    await row.getByRole('button', { name: `Teams of ${number}` }).click()
    await dialog.getByText('Nothing changes.').waitFor()
    await dialog.getByRole('combobox', { name: /^Teams that may order/ }).click()
    await page.getByRole('listbox').getByRole('option', { name: 'Demo team US' }).click()
    await dialog.getByText(/^Linked: Demo team US/).waitFor()
    await assertGoodPage(visited, 'settings lab account teams')
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'Save teams' }).click()
    await row.getByText('Demo team US').waitFor()
    await assertGoodPage(visited, 'settings lab accounts')
    const { data } = await manageOrg(visited, 'GET', '/lab_account/sandbox/us')
    const account = data.find(({ provider_account_id }: { provider_account_id: string }) => provider_account_id === number)
    assert.deepEqual(account.team_id_allowlist, [demo.teams.us])
    assertNoComplaints(complaints)
  })

  test('a value that the API refuses is shown at its field', inBrowser, async () => {
    const { page } = await openConsole('settings/lab-accounts')
    await page.getByRole('button', { name: 'Create a lab account' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Laboratory' }).click()
    await page.getByRole('listbox').getByRole('option').first().click()
    await dialog.getByRole('textbox', { name: 'Account number at the laboratory' }).fill('x'.repeat(101))
    await dialog.getByRole('button', { name: 'Create lab account' }).click()
    await dialog.getByRole('alert').getByText('422').waitFor()
    await dialog
      .getByText(/at most 100/)
      .first()
      .waitFor()
  })

  test('a viewer sees the accounts and no buttons', inBrowser, async () => {
    const { page } = await openConsoleAs('viewer', 'settings/lab-accounts')
    await page.getByRole('region', { name: 'Lab accounts' }).first().waitFor()
    assert.equal(await page.getByRole('button', { name: 'Create a lab account' }).count(), 0)
    assert.equal(await page.getByRole('button', { name: /^(Change|Teams of) / }).count(), 0)
  })
})

describe('physicians', () => {
  test('a physician is added and removed by name, and a number that is there already is refused', inBrowser, async () => {
    const visited = await openConsole('settings/physicians')
    const { page, complaints } = visited
    const npi = randomUUID().slice(0, 10)
    const add = async (last_name: string): Promise<void> => {
      await page.getByRole('button', { name: 'Add a physician' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('textbox', { name: 'First name' }).fill('Docta')
      await dialog.getByRole('textbox', { name: 'Last name' }).fill(last_name)
      await dialog.getByRole('textbox', { name: 'NPI' }).fill(npi)
      await dialog.getByRole('button', { name: 'Add physician' }).click()
    }
    await page.getByRole('heading', { name: 'No physicians' }).waitFor()
    await assertGoodPage(visited, 'settings physicians empty')
    await add('Fictional')
    const row = page.getByRole('row', { name: new RegExp(npi) })
    await row.getByText('every state').waitFor()
    await assertGoodPage(visited, 'settings physicians')

    await add('Again')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('alert').getByText('The team already has a physician with this npi').waitFor()
    await dialog.getByRole('textbox', { name: 'First name' }).fill('<b>')
    await dialog.getByRole('button', { name: 'Add physician' }).click()
    await dialog.locator('[aria-invalid=true]').waitFor()
    await assertGoodPage(
      { page, complaints: complaints.filter((complaint) => !REFUSED.test(complaint)) },
      'settings physician form',
    )
    await page.keyboard.press('Escape')

    await row.getByRole('button', { name: 'Remove Docta Fictional' }).click()
    assert(await dialog.getByRole('button', { name: 'Remove physician' }).isDisabled())
    await dialog.getByRole('textbox').fill('Fictional')
    await dialog.getByRole('button', { name: 'Remove physician' }).click()
    await row.waitFor({ state: 'detached' })
  })
})

test('a physician is added by keyboard alone', inBrowser, async () => {
  const { page } = await openConsole('settings/physicians')
  const npi = randomUUID().slice(0, 10)
  await page.getByRole('button', { name: 'Add a physician' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByRole('textbox', { name: 'First name' }).waitFor()
  await page.waitForFunction(`document.activeElement.name === 'first_name'`)
  for (const text of ['Docta', 'Keyboard', npi]) {
    await page.keyboard.type(text)
    await page.keyboard.press('Tab')
  }
  await page.keyboard.type('AZ')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: new RegExp(`Docta Keyboard ${npi} AZ`) }).waitFor()
})

describe('credentials', () => {
  test('credentials are set after their preparation, shown without the secret, and deleted by name', inBrowser, async () => {
    const visited = await openConsole('settings/credentials')
    const { page, complaints } = visited
    await page.getByRole('heading', { name: 'No credentials' }).waitFor()
    await assertGoodPage(visited, 'settings credentials empty')
    await page.getByRole('button', { name: 'Set credentials' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Provider' }).fill('oura')
    await page.getByRole('listbox').getByRole('option', { name: 'oura', exact: true }).click()
    await dialog.getByText('Set this at the provider first').waitFor()
    await dialog.getByRole('textbox', { name: 'Client id' }).fill(MARKUP)
    await dialog.getByRole('textbox', { name: 'Client secret' }).fill('fictional secret of oura')
    await dialog.getByRole('textbox', { name: 'Details' }).fill('[')
    await dialog.getByRole('button', { name: 'Set credentials' }).click()
    await dialog.getByText('This is not a JSON object').waitFor()
    await assertGoodPage(visited, 'settings credentials form')
    await dialog.getByRole('textbox', { name: 'Details' }).fill('')
    await dialog.getByRole('textbox', { name: 'Redirect address of your own' }).fill('nowhere')
    await dialog.getByRole('button', { name: 'Set credentials' }).click()
    await dialog.locator('[aria-invalid=true]').waitFor()
    await dialog.getByRole('textbox', { name: 'Redirect address of your own' }).fill('')
    await dialog.getByRole('button', { name: 'Set credentials' }).click()
    const row = page.getByRole('row', { name: /oura/ })
    await row.getByText(MARKUP).waitFor()
    assert.doesNotMatch(await page.innerText('body'), /fictional secret/)
    const accepted = complaints.filter((complaint) => !REFUSED.test(complaint))
    await assertGoodPage({ page, complaints: accepted }, 'settings credentials')
    await row.getByRole('button', { name: 'Delete the credentials of oura' }).click()
    assert(await dialog.getByRole('button', { name: 'Delete credentials' }).isDisabled())
    await dialog.getByRole('textbox').fill('oura')
    await dialog.getByRole('button', { name: 'Delete credentials' }).click()
    await page.getByRole('heading', { name: 'No credentials' }).waitFor()
  })

  test('a viewer has no such section', inBrowser, async () => {
    const { page } = await openConsoleAs('viewer', 'settings/credentials')
    await page.getByRole('heading', { name: 'No such section' }).waitFor()
  })
})

describe('the brand', () => {
  test('is changed and previewed, and begins the messages to patients', inBrowser, async () => {
    const visited = await openConsole('settings/brand')
    const { page, complaints, open } = visited
    await page.getByRole('textbox', { name: 'Company' }).fill(`Harbor ${MARKUP}`)
    await page.getByRole('textbox', { name: 'Color' }).fill('#256a8e')
    await page.getByRole('button', { name: 'Save brand' }).click()
    await page.getByText('is required where brand_information.company_name is set').waitFor()
    await page.getByRole('textbox', { name: 'Logo' }).fill('https://example.com/logo.png')
    await page.getByRole('button', { name: 'Save brand' }).click()
    await page.getByText('Saved. Messages and pages show it from now on.').waitFor()
    await assertGoodPage({ page, complaints: complaints.filter((complaint) => !REFUSED.test(complaint)) }, 'settings brand')
    await page.reload()
    assert.equal(await page.getByRole('textbox', { name: 'Company' }).inputValue(), `Harbor ${MARKUP}`)
    await open('settings/messages?tab=texts')
    await page.getByText(`Harbor ${MARKUP}: your test kit has been ordered`).waitFor()
    await manageOrg(visited, 'PATCH', `/team/${visited.demo.teams.us}`, { sandbox: { brand_information: null, logo_url: null } })
  })

  test('is shown to a viewer, who cannot change it', inBrowser, async () => {
    const { page } = await openConsoleAs('viewer', 'settings/brand')
    await page.getByText('Administrators of the team change it.').waitFor()
    assert.equal(await page.getByRole('textbox', { name: 'Company' }).isEditable(), false)
  })
})
