// What every page does when something fails: the frame, the overview and the sessions stand for all.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inBrowser, openConsole } from './console.ts'

const METRICS = '**/v2/user/metrics'

test(
  'an error is shown with its status and its text, can be copied for support without data, and trying again mends it',
  inBrowser,
  async () => {
    const { page } = await openConsole()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.route(METRICS, (route) =>
      route.fulfill({ status: 500, headers: { 'x-request-id': 'abc-1' }, json: { detail: 'Internal Server Error' } }),
    )
    await page.reload()
    const notice = page.getByRole('alert').filter({ hasText: '500' })
    await notice.getByText('Internal Server Error').waitFor()
    await notice.getByRole('button', { name: 'Copy for support' }).click()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    assert.match(copied, /^operation: GET \/v2\/user\/metrics\nstatus: 500\nrequest id: abc-1\ntime: \d{4}-/)
    await page.unroute(METRICS)
    await notice.getByRole('button', { name: 'Try again' }).click()
    await notice.waitFor({ state: 'detached' })
  },
)

test('a refusal by the role is shown as the server says it', inBrowser, async () => {
  const { page } = await openConsole()
  await page.route(METRICS, (route) => route.fulfill({ status: 403, json: { detail: 'Your role does not permit this' } }))
  await page.reload()
  await page.getByRole('alert').filter({ hasText: 'Your role does not permit this' }).waitFor()
})

test('an unreachable server is named, and the page continues when it is back', inBrowser, async () => {
  const { page } = await openConsole()
  await page.route(METRICS, (route) => route.abort())
  await page.reload()
  const notice = page.getByRole('alert').filter({ hasText: 'The server cannot be reached' })
  await notice.waitFor()
  await page.unroute(METRICS)
  await notice.getByRole('button', { name: 'Try again' }).click()
  await notice.waitFor({ state: 'detached' })
})

test(
  'a session that ended elsewhere shows the sign-in page at the same address, and the page again after signing in',
  inBrowser,
  async () => {
    const { page, demo } = await openConsole()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const address = page.url()
    const other = await page.context().newPage()
    await other.goto(address)
    await other.getByRole('button', { name: /Account of/ }).click()
    await other.getByRole('menuitem', { name: 'Sign out' }).click()
    await other.getByRole('button', { name: 'Open the demo' }).waitFor()
    await other.close()
    await page.getByRole('button', { name: 'Place an example order' }).click()
    await page.getByRole('button', { name: 'Open the demo' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    assert.equal(page.url(), address)
    assert(address.includes(demo.teams.us!))
  },
)

test('going back and forward shows the pages again, and a reload stays where it is', inBrowser, async () => {
  const { page, open, demo } = await openConsole()
  await open('nowhere')
  await page.getByRole('heading', { name: 'Not found' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.goForward()
  await page.reload()
  await page.getByRole('heading', { name: 'Not found' }).waitFor()
  assert.match(page.url(), new RegExp(`/console/${demo.teams.us}/sandbox-us/nowhere$`))
})

test('no page stores data of patients: the browser keeps ids and settings only', inBrowser, async () => {
  const { page } = await openConsole()
  await page.getByRole('button', { name: 'Place an example order' }).click()
  await page.getByText('Order a test for a fictional patient, done').waitFor()
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))
  assert.doesNotMatch(stored, /Testa|Fictional|example\.com/)
})
