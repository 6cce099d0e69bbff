// A server without demo data: the first administrator comes by a one-time link, and signs in with a password afterwards.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visit } from '../support/browser.ts'
import { folder, serving, type Server } from '../support/program.ts'
import { assertGoodPage, assertNoComplaints, inBrowser } from './console.ts'

const EMAIL = 'ada.fictional@example.com'
const PASSWORD = 'nine fictional gardens'

/** The wrong password is refused, and before a sign-in there is no session. */
const EXPECTED = /the server responded with a status of 40[14]/

let started: Promise<Server> | undefined
const startServer = (): Promise<Server> => (started ??= serving(folder('console-first'), { DEMO: 'off' }))

test('the first administrator sets a password by the printed link, and creates the first team', inBrowser, async () => {
  const { stdout } = await startServer()
  const [, link] = /First admin {2}(\S+)/.exec(stdout()) ?? assert.fail(stdout())
  const visited = await visit()
  const { page, complaints } = visited
  await page.goto(link!)
  await page.getByLabel('Email').fill(EMAIL)
  await page.getByLabel('Name').fill('Ada Fictional')
  await page.getByRole('textbox', { name: 'New password' }).fill(PASSWORD)
  assert.doesNotMatch(page.url(), /token/, 'the token is not in the address any more')
  await assertGoodPage(visited, 'one-time link')
  await page.getByRole('button', { name: 'Set the password and sign in' }).click()
  await page.getByRole('heading', { name: /^Create the first team/ }).waitFor()
  await page.getByLabel('Name').fill('Clinic')
  await page.getByRole('button', { name: 'Create the team' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()

  await page.goto(link!)
  await page.getByRole('alert').waitFor()
  assertNoComplaints(complaints.filter((complaint) => !EXPECTED.test(complaint)))
})

test('a member signs in with email and password, and a wrong password says no more than that', inBrowser, async () => {
  const { url } = await startServer()
  const { page } = await visit()
  await page.goto(`${url}/console`)
  await page.getByLabel('Email').fill(EMAIL)
  await page.getByRole('textbox', { name: 'Password' }).fill('eight fictional gardens')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'Email or password is wrong' }).waitFor()
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
})

test('a forgotten password answers the same for every address', inBrowser, async () => {
  const { url } = await startServer()
  const { page } = await visit()
  for (const email of [EMAIL, 'nobody@example.com']) {
    await page.goto(`${url}/console`)
    await page.getByRole('button', { name: 'Forgotten password' }).click()
    await page.getByLabel('Email').fill(email)
    await page.getByRole('button', { name: 'Send a link' }).click()
    await page.getByRole('status').filter({ hasText: 'If this address belongs to a member' }).waitFor()
  }
})
