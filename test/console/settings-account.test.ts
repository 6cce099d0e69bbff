// The account section of the settings, and passkeys on the sign-in page: on a server without demo data, at a host name.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { visit, type Page } from '../support/browser.ts'
import { folder, outcome, serving } from '../support/program.ts'
import { assertGoodPage, assertNoComplaints, inBrowser } from './console.ts'

const EMAIL = 'ada.fictional@example.com'
const PASSWORD = 'nine fictional gardens'
const OTHER_PASSWORD = 'eleven fictional rivers'

interface Place {
  /** The settings of the first team, at `localhost`. */
  account: string
  origin: string
  dataDir: string
}
let started: Promise<Place> | undefined

/** A server with one administrator, who has a password and a team. */
const startServer = (): Promise<Place> => (started ??= prepareServer())

async function prepareServer(): Promise<Place> {
  const { url, stdout, dataDir } = await serving(folder('console-account'), { DEMO: 'off' })
  const [, token] = /First admin {2}\S+#token=(\S+)/.exec(stdout()) ?? assert.fail(stdout())
  const origin = url.replace('127.0.0.1', 'localhost')
  const post = async (path: string, body: unknown, cookie = '') => {
    const headers = { 'content-type': 'application/json', 'x-drawbridge-console': '1', origin, ...(cookie && { cookie }) }
    const response = await fetch(origin + path, { method: 'POST', headers, body: JSON.stringify(body) })
    assert.equal(response.status, 200, path)
    return response
  }
  const used = await post('/console/api/one-time-links/use', { token, name: 'Ada Fictional', email: EMAIL, password: PASSWORD })
  const cookie = used.headers.getSetCookie()[0]!.split(';')[0]!
  const session = await fetch(`${origin}/console/api/session`, { headers: { 'x-drawbridge-console': '1', cookie } })
  const { org } = (await session.json()) as { org: { id: string } }
  const created = await post(`/v1/org/${org.id}/team`, { name: 'Clinic', region: 'us' }, cookie)
  const { id } = (await created.json()) as { id: string }
  return { origin, dataDir, account: `${origin}/console/${id}/sandbox-us/settings/account` }
}

/** A link with which the administrator sets a password, at `localhost`. */
async function createLink(): Promise<string> {
  const { dataDir, origin } = await startServer()
  const { stdout, err } = await outcome('member', { DATA_DIR: dataDir, DEMO: 'off' }, 'link', EMAIL)
  const [fragment] = /#token=\S+/.exec(stdout) ?? assert.fail(err)
  return `${origin}/console/reset${fragment}`
}

async function fillPassword(page: Page, password: string): Promise<void> {
  await page.getByLabel('Email').fill(EMAIL)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.keyboard.press('Enter')
}

const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true }).first()

/** The account section, after a sign-in with the password. */
async function openAccount(password = PASSWORD) {
  const { account } = await startServer()
  const visited = await visit()
  await visited.page.goto(account)
  await fillPassword(visited.page, password)
  await section(visited.page, 'Sessions').getByText('this browser').waitFor()
  return visited
}

/** Adds a device that keeps passkeys to the page, and takes it away afterwards. */
async function withAuthenticator(page: Page, run: () => Promise<void>): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  try {
    await run()
  } finally {
    await devtools.send('WebAuthn.disable')
    await devtools.detach()
  }
}

const REFUSALS = /the server responded with a status of 40[01]/
const withoutRefusals = (complaints: string[]): string[] => complaints.filter((complaint) => !REFUSALS.test(complaint))

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByLabel('Email').waitFor()
}

describe('the account section', () => {
  test('shows who is signed in, and lists the sections that the member may open', inBrowser, async () => {
    const visited = await openAccount()
    const { page } = visited
    await section(page, 'Account').getByText('Administrator of the organization', { exact: true }).waitFor()
    await page
      .getByRole('navigation', { name: 'Sections of the settings' })
      .getByRole('link', { name: 'Account', exact: true })
      .waitFor()
    assert.match(await page.title(), /^Account · Settings/)
    await assertGoodPage(visited, 'settings account')
    await page.getByRole('combobox', { name: 'Section of the settings' }).waitFor({ state: 'detached' })
    await page.setViewportSize({ width: 390, height: 844 })
    await page.getByRole('combobox', { name: 'Section of the settings' }).waitFor()
  })

  test('is found by the command palette', inBrowser, async () => {
    const { page } = await openAccount()
    const { account } = await startServer()
    await page.goto(account.replace('settings/account', 'settings'))
    await page.getByRole('heading', { name: 'Keys of the team, sandbox' }).waitFor()
    await page.keyboard.press('Control+K')
    await page.getByPlaceholder('Search, jump to an id, or run an action').fill('settings: account')
    await page.keyboard.press('Enter')
    await page.waitForURL(account)
  })

  test('ends another session, and all others, and the pages of these ask to sign in', inBrowser, async () => {
    const { page, complaints } = await openAccount()
    const { account } = await startServer()
    const otherContext = await page.context().browser()!.newContext()
    const other = await otherContext.newPage()
    const signInOther = async (): Promise<void> => {
      await other.goto(account)
      await fillPassword(other, PASSWORD)
      await section(other, 'Sessions').getByText('this browser').waitFor()
      await page.reload()
      await section(page, 'Sessions')
        .getByRole('button', { name: /^End the session/ })
        .first()
        .waitFor()
    }
    // Those of the tests before.
    await page.getByRole('button', { name: 'End all others' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End all others' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await signInOther()
    await section(page, 'Sessions')
      .getByRole('button', { name: /^End the session/ })
      .first()
      .click()
    await section(page, 'Sessions')
      .getByRole('button', { name: /^End the session/ })
      .first()
      .waitFor({ state: 'detached' })
    await other.reload()
    await other.getByLabel('Email').waitFor()

    await signInOther()
    await page.getByRole('button', { name: 'End all others' }).click()
    const dialog = page.getByRole('dialog', { name: 'End all other sessions' })
    await dialog.getByText(/1 other browser is signed out/).waitFor()
    await dialog.getByRole('button', { name: 'End all others' }).click()
    await dialog.waitFor({ state: 'detached' })
    await other.reload()
    await other.getByLabel('Email').waitFor()
    await otherContext.close()

    await page.getByRole('button', { name: 'End all', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End all' }).click()
    await page.getByLabel('Email').waitFor()
    assertNoComplaints(withoutRefusals(complaints))
  })

  test('changes the password, and says what is wrong with the current or the new one', inBrowser, async () => {
    const { page, complaints } = await openAccount()
    const form = section(page, 'Password')
    const change = async (current: string, next: string): Promise<void> => {
      await form.getByRole('textbox', { name: 'Current password' }).fill(current)
      await form.getByRole('textbox', { name: 'New password' }).fill(next)
      await form.getByRole('button', { name: 'Change password' }).click()
    }
    await change('ten fictional gardens', OTHER_PASSWORD)
    await form.getByRole('alert').getByText('The current password is wrong').waitFor()
    await change(PASSWORD, EMAIL)
    await form.getByText('is easy to guess: choose another one').waitFor()
    await change(PASSWORD, OTHER_PASSWORD)
    await form.getByText('Password changed. All other sessions have ended.').waitFor()
    assert.equal(await form.getByRole('textbox', { name: 'Current password' }).inputValue(), '')
    await signOut(page)
    await fillPassword(page, OTHER_PASSWORD)
    await section(page, 'Sessions').waitFor()
    await change(OTHER_PASSWORD, PASSWORD)
    await form.getByText('Password changed. All other sessions have ended.').waitFor()
    assertNoComplaints(complaints.filter((complaint) => !/status of 4(00|01|22)/.test(complaint)))
  })
})

describe('a passkey', () => {
  test(
    'is added under a name, signs in alone, after the password and after a link, and after its removal the password is enough',
    inBrowser,
    async () => {
      const visited = await openAccount()
      const { page, complaints } = visited
      const passkeys = section(page, 'Passkeys')
      await passkeys.getByRole('heading', { name: 'No passkeys' }).waitFor()
      await withAuthenticator(page, async () => {
        await passkeys.getByRole('button', { name: 'Add a passkey' }).click()
        const dialog = page.getByRole('dialog', { name: 'Add a passkey' })
        await assertGoodPage(visited, 'settings add passkey')
        await dialog.getByLabel('Name').fill('Laptop <img src=x onerror=alert(1)>')
        await page.keyboard.press('Enter')
        await passkeys.getByText('Laptop <img').waitFor()
        await assertGoodPage(visited, 'settings passkeys')

        await signOut(page)
        await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
        await section(page, 'Sessions').getByRole('cell', { name: 'Passkey' }).waitFor()

        await signOut(page)
        await fillPassword(page, PASSWORD)
        await page.getByText('Your account has a passkey, which is needed after the password.').waitFor()
        assert.equal(await page.getByRole('button', { name: 'Sign in with a passkey' }).count(), 0)
        await assertGoodPage(visited, 'second factor')
        await page.reload()
        await page.getByLabel('Email').waitFor()
        await fillPassword(page, PASSWORD)
        await page.getByRole('button', { name: 'Use the passkey' }).click()
        await section(page, 'Sessions').waitFor()

        await signOut(page)
        await page.goto(await createLink())
        await page.getByRole('textbox', { name: 'New password' }).fill(PASSWORD)
        await page.getByRole('button', { name: 'Set the password and sign in' }).click()
        await page.getByRole('button', { name: 'Use the passkey' }).click()
        await page.getByRole('button', { name: /Account of/ }).waitFor()
        await page.goto((await startServer()).account)

        await passkeys.getByRole('button', { name: /^Remove the passkey/ }).click()
        const removal = page.getByRole('dialog')
        await removal.getByText(/the password alone signs you in/).waitFor()
        await removal.getByRole('button', { name: 'Remove passkey' }).click()
        await passkeys.getByRole('heading', { name: 'No passkeys' }).waitFor()
        await signOut(page)
        await fillPassword(page, PASSWORD)
        await section(page, 'Sessions').waitFor()
      })
      assertNoComplaints(withoutRefusals(complaints))
    },
  )

  test('that the device does not have says so, and the password still signs in', inBrowser, async () => {
    const { account } = await startServer()
    const { page } = await visit()
    await page.goto(account)
    await withAuthenticator(page, async () => {
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
      await page.getByRole('alert').filter({ hasText: 'No passkey was used' }).waitFor()
    })
    await fillPassword(page, PASSWORD)
    await section(page, 'Sessions').waitFor()
  })

  test('is not offered at an IP address, and the page names the address where it is', inBrowser, async () => {
    const { account, origin } = await startServer()
    const { page } = await visit()
    await page.goto(account.replace('localhost', '127.0.0.1'))
    await page
      .getByText(
        `Passkeys belong to a host name, and 127.0.0.1 is an IP address. Open the console by a name: on this machine ${origin}`,
      )
      .waitFor()
    assert.equal(await page.getByRole('button', { name: 'Sign in with a passkey' }).count(), 0)
    await fillPassword(page, PASSWORD)
    assert(await section(page, 'Passkeys').getByRole('button', { name: 'Add a passkey' }).isDisabled())
  })
})
