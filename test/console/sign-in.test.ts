// Signing in to the console and out of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visit } from '../support/browser.ts'
import { folder, serving } from '../support/program.ts'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole, signInToConsole, visitConsole } from './console.ts'

test('a demo server says that it is one, and signs in with one click', inBrowser, async () => {
  const visited = await visitConsole()
  const { page, server } = visited
  await page.goto(server.url)
  const button = page.getByRole('button', { name: 'Open the demo' })
  await button.waitFor()
  assert.match(await page.innerText('main'), /This is a demo server/)
  await assertGoodPage(visited, 'sign-in')
  await button.click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  assert.match(new URL(page.url()).pathname, /^\/console\/[0-9a-f-]{36}\/sandbox-us$/)
})

test('the page that was asked for opens after the sign-in', inBrowser, async () => {
  const { page, open, complaints } = await visitConsole()
  await open('nowhere?status=at_lab')
  await page.getByRole('button', { name: 'Open the demo' }).click()
  await page.getByRole('heading', { name: 'Not found' }).waitFor()
  assert.match(page.url(), /\/nowhere\?status=at_lab$/)
  assertNoComplaints(complaints)
})

test('signing out shows the sign-in page, also after going back and in another tab', inBrowser, async () => {
  const { page } = await openConsole()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const tab = await page.context().newPage()
  try {
    await tab.goto(`${page.url()}/orders`)
    await tab.getByRole('heading', { name: 'Orders', level: 1 }).waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'Users' }).click()
    await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor()
    await page.getByRole('button', { name: /Account of/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Open the demo' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Open the demo' }).waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Open the demo' }).waitFor()
    // The other tab learns it by its next request.
    await tab.getByRole('navigation').getByRole('link', { name: 'Users' }).click()
    await tab.getByRole('button', { name: 'Open the demo' }).waitFor()
    await tab.getByRole('navigation').waitFor({ state: 'detached' })
  } finally {
    await tab.close()
  }
})

test("another organization's team is not found", inBrowser, async () => {
  const { page, server } = await signInToConsole()
  await page.goto(`${server.url}/console/00000000-0000-7000-8000-000000000000/sandbox-us`)
  await page.getByRole('heading', { name: 'Not found' }).waitFor()
})

test('below a base path the console has its own addresses, files and session', inBrowser, async () => {
  const { url } = await serving(folder('console-base'), { BASE_PATH: '/lab' })
  const { page, complaints } = await visit()
  await page.goto(`${url}/`)
  await page.getByRole('button', { name: 'Open the demo' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  assert.match(new URL(page.url()).pathname, /^\/lab\/console\/[0-9a-f-]{36}\/sandbox-us$/)
  await page.reload()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  assertNoComplaints(complaints)
})
