// Every page with what can go wrong: its main request refused, failed or unreachable, in turn, or slow; in turn reload and a session that
// ended, back and forward, two tabs. And every control of it is reached by the keyboard. `EVERY_INPUT=1` tries all of it with each page.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import type { Route } from 'playwright-core'
import type { Page } from '../support/browser.ts'
import { chooserByKind } from '../contract/operations/inputs-in-turn.ts'
import { inBrowser, signInToConsole, type ConsoleVisit } from './console.ts'
import { createLink, receive } from './lab-links.ts'
import { manageOrg } from './org-requests.ts'
import { createOrder } from './orders.ts'

const ENDPOINT = 'https://receiver.example.com/events'

interface PageCase {
  /** As in console/pages.ts. */
  path: string
  /** The request without which the page shows nothing. */
  request: string
  /** What stands on the page when it has its data. */
  content: (page: Page) => ReturnType<Page['locator']>
}

/** A table by its name, a heading, or another element of the page. */
const table = (name: string) => (page: Page) => page.getByRole('table', { name, exact: true })
const heading = (name: string) => (page: Page) => page.getByRole('heading', { name, exact: true })

const PAGES: readonly PageCase[] = [
  { path: '', request: '**/v2/user/metrics', content: (page) => page.getByRole('definition').filter({ hasText: /^\d/ }).first() },
  { path: 'orders', request: '**/console/v1/orders?*', content: table('Orders') },
  { path: 'orders/new', request: '**/v3/lab_test?*', content: (page) => page.getByPlaceholder('Choose a test') },
  { path: 'orders/:order_id', request: '**/v3/order/*', content: heading('What happened') },
  { path: 'users', request: '**/console/v1/users?*', content: table('Users') },
  { path: 'users/:user_id', request: '**/v2/user/*', content: heading('Profile') },
  { path: 'catalog', request: '**/v3/lab_test?*', content: table('Lab tests') },
  { path: 'catalog/:section', request: '**/v3/lab_tests/markers*', content: table('Markers') },
  { path: 'catalog/tests/:lab_test_id', request: '**/v3/lab_tests/*', content: table('Markers') },
  { path: 'team-config', request: '**/v1/org/*/team/*', content: (page) => page.getByRole('textbox', { name: 'Company' }) },
  { path: 'events', request: '**/console/v1/events?*', content: table('Events') },
  { path: 'events/endpoints', request: '**/sandbox/webhook?*', content: table('Endpoints') },
  { path: 'events/endpoints/:webhook_id', request: '**/sandbox/webhook/*', content: heading(ENDPOINT) },
  { path: 'events/failures', request: '**/console/v1/delivery_failures*', content: heading('No delivery failed') },
  { path: 'events/brokers', request: '**/team_etl_pipelines/**', content: heading('No broker yet') },
  { path: 'events/:event_id', request: '**/console/v1/events/*', content: heading('Payload') },
  { path: 'links', request: '**/lab_link_issue/**', content: heading('No open issues') },
  { path: 'links/messages', request: '**/lab_message/sandbox/us?*', content: table('Messages with laboratories') },
  { path: 'links/messages/:message_id', request: '**/lab_message/sandbox/us/*', content: heading('Message') },
  { path: 'links/accounts', request: '**/lab_link/sandbox/us', content: table('Links of lab accounts') },
  { path: 'links/accounts/:account_id', request: '**/lab_link/sandbox/us/*', content: heading('Profile') },
  { path: 'links/shadow', request: '**/lab_link/*/shadow', content: heading('No results to compare') },
  { path: 'requests', request: '**/console/v1/requests?*', content: table('Requests') },
  { path: 'requests/explorer', request: '**/openapi.json', content: (page) => page.getByRole('combobox', { name: 'Operation' }) },
  { path: 'requests/:request_id', request: '**/console/v1/requests/*', content: heading('create_order') },
  { path: 'settings', request: '**/team_api_keys/**', content: table('Keys of the team') },
  { path: 'settings/:section', request: '**/data_retention', content: (page) => page.getByText('All health data is kept.') },
  { path: 'health', request: '**/v1/org/*/health/**', content: heading('Server') },
]

test('every page of the console is among the cases', () => {
  const source = readFileSync('console/pages.ts', 'utf8')
  const paths = [...source.matchAll(/^ {2}(?:\{ )?(?: {2})?path: '([^']*)',/gm)].map(([, path]) => path)
  assert(paths.length >= PAGES.length)
  assert.deepEqual(
    PAGES.map(({ path }) => path),
    paths,
  )
})

interface Failure {
  name: string
  text: string
  fail: (route: Route) => Promise<void>
}
const failures = inTurn<Failure>([
  {
    name: 'a fault of the server',
    text: 'Internal Server Error',
    fail: (route) => route.fulfill({ status: 500, json: { detail: 'Internal Server Error' } }),
  },
  {
    name: 'a refusal',
    text: 'Your role does not permit this',
    fail: (route) => route.fulfill({ status: 403, json: { detail: 'Your role does not permit this' } }),
  },
  { name: 'a lost connection', text: 'The server cannot be reached', fail: (route) => route.abort() },
])

interface Return {
  name: string
  comeBack: (visit: ConsoleVisit, pageCase: PageCase) => Promise<void>
}
/** The last one leaves the page. */
const returns = inTurn<Return>([
  { name: 'a reload after the end of the session', comeBack: signInAgain },
  { name: 'a second tab', comeBack: openSecondTab },
  { name: 'the way back and forward', comeBack: leaveAndReturn },
])

for (const pageCase of PAGES) {
  const shownFailures = failures()
  const triedReturns = returns()
  const survived = [...shownFailures, ...triedReturns].map(({ name }) => name).join(', ')
  test(`the page ${pageCase.path || 'overview'} is used by keyboard, and survives slowness, ${survived}`, inBrowser, async () => {
    const visited = await openPage(pageCase)
    await reachEveryControl(visited.page, pageCase === PAGES[0])
    await waitAndFail(visited, pageCase, shownFailures)
    for (const { comeBack } of triedReturns) await comeBack(visited, pageCase)
  })
}

/** The first page gets all, each later one the next; `EVERY_INPUT=1` gives each all. */
function inTurn<Tried>(list: readonly Tried[]): () => readonly Tried[] {
  const choose = chooserByKind(list)
  return () => choose('page')
}

/**
 * Every control of the page gets the focus by Tab alone. Of a group of radio buttons one does, and arrows choose another.
 * @param hasFrame with the controls of the frame, which are those of every page
 */
async function reachEveryControl(page: Page, hasFrame: boolean): Promise<void> {
  const count = await page.evaluate<number>(`(${MARK_CONTROLS})(${hasFrame})`)
  assert(count > (hasFrame ? 20 : 0), `the page has ${count} controls`)
  let left: string[] = []
  // A field for a date has three parts.
  for (let presses = 0; presses <= 3 * count + 20; presses++) {
    if (presses % 10 === 0) left = await page.evaluate<string[]>(LIST_UNREACHED)
    if (!left.length) return
    await page.keyboard.press('Tab')
  }
  assert.deepEqual(left, [], 'controls that Tab does not reach')
}
const CONTROLS = 'a[href], button, input, select, textarea, summary, [tabindex]'
// A list loads further rows before the focus is at its end, where the button for that stands.
const MARK_CONTROLS = `(hasFrame) => {
  const isControl = (element) =>
    element.tabIndex >= 0 && element.textContent !== 'Load more' && !element.disabled && element.checkVisibility() && !element.matches('input[type=radio]:not(:checked)')
  const main = document.querySelector('main')
  const controls = [...(hasFrame ? document : main).querySelectorAll(${JSON.stringify(CONTROLS)})].filter(isControl)
  for (const control of controls) control.setAttribute('data-unreached', '')
  document.addEventListener('focusin', ({ target }) => target.removeAttribute('data-unreached'))
  if (!hasFrame) {
    // The next Tab goes on from where the focus was.
    const start = Object.assign(document.createElement('span'), { tabIndex: -1 })
    main.prepend(start)
    start.focus()
    start.remove()
  }
  return controls.length
}`
const LIST_UNREACHED = "[...document.querySelectorAll('[data-unreached]')].map((element) => element.outerHTML.slice(0, 200))"

/**
 * While the answer to the main request is not there, the page shows neither data nor an error; then each failure, as the server gives it,
 * and the data after another attempt.
 */
async function waitAndFail(
  { page }: ConsoleVisit,
  { request, content }: PageCase,
  shownFailures: readonly Failure[],
): Promise<void> {
  await page.clock.install()
  let isAsked = false
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let attempt = async (): Promise<void> => {
    await page.reload()
    await eventually(() => isAsked)
    assert.equal(await content(page).count(), 0)
    assert.equal(await page.getByRole('alert').count(), 0)
    release()
  }
  for (const { text, fail } of shownFailures) {
    await page.unroute(request)
    await page.route(request, async (route) => {
      isAsked = true
      await released
      await fail(route)
    })
    await attempt()
    const notice = page.getByRole('alert').filter({ hasText: text }).first()
    await eventually(async () => {
      // The page tries again by itself before it shows an error that may pass.
      await page.clock.fastForward(500)
      return notice.isVisible()
    })
    attempt = () => notice.getByRole('button', { name: 'Try again' }).click()
  }
  await page.unroute(request)
  await attempt()
  await content(page).waitFor()
  await page.getByRole('alert').waitFor({ state: 'detached' })
}

async function leaveAndReturn({ page, open }: ConsoleVisit, { content }: PageCase): Promise<void> {
  const address = page.url()
  await open('nowhere')
  await page.getByRole('heading', { name: 'Not found' }).waitFor()
  await page.goBack()
  await content(page).waitFor()
  assert.equal(page.url(), address)
  await page.goForward()
  await page.getByRole('heading', { name: 'Not found' }).waitFor()
}

async function openSecondTab({ page }: ConsoleVisit, { content }: PageCase): Promise<void> {
  const second = await page.context().newPage()
  await second.goto(page.url())
  await content(second).waitFor()
  await second.close()
}

async function signInAgain({ page }: ConsoleVisit, { content }: PageCase): Promise<void> {
  const address = page.url()
  await page.context().clearCookies()
  await page.reload()
  await page.getByRole('button', { name: 'Open the demo' }).click()
  await content(page).waitFor()
  assert.equal(page.url(), address)
}

/** Opens a page, with what its list shows or its address names. */
async function openPage({ path, content }: PageCase): Promise<ConsoleVisit> {
  const visited = await signInToConsole()
  await visited.open(await fillPath(path, visited))
  await content(visited.page).waitFor()
  return visited
}

async function fillPath(path: string, visit: ConsoleVisit): Promise<string> {
  const { api } = visit
  const order_id = await createOrder(api)
  const { user_id, lab_test } = (await api.get(`/v3/order/${order_id}`)).body
  const ids: Record<string, () => Promise<string>> = {
    ':order_id': async () => order_id,
    ':user_id': async () => user_id,
    ':lab_test_id': async () => lab_test.id,
    ':section': async () => (path.startsWith('catalog') ? 'markers' : 'retention'),
    ':event_id': async () => (await api.get(`/console/v1/events?object_id=${order_id}`)).body.data[0].id,
    ':webhook_id': () => addEndpoint(visit),
    ':message_id': () => addMessage(visit),
    ':account_id': async () => (await createLink(visit)).account_id,
    ':request_id': async () => (await api.get('/console/v1/requests?operation=create_order')).body.data[0].id,
  }
  if (path === 'events/endpoints') await addEndpoint(visit)
  if (path === 'links/messages') await addMessage(visit)
  if (path === 'links/accounts') await createLink(visit)
  if (path === 'links/shadow') return `${path}?account=${(await createLink(visit)).account_id}`
  const [parameter] = /:\w+/.exec(path) ?? []
  return parameter === undefined ? path : path.replace(parameter, await ids[parameter]!())
}

/** A message of a laboratory that cannot be read, and is done. */
async function addMessage(visit: ConsoleVisit): Promise<string> {
  const id = await receive(visit, await createLink(visit), 'no message')
  await manageOrg(visit, 'POST', `/lab_message/sandbox/us/${id}/done`, {})
  return id
}

/** An endpoint that is paused, so that nothing is sent to it. */
async function addEndpoint({ server, demo }: ConsoleVisit): Promise<string> {
  const response = await fetch(`${server.url}/v1/org/${demo.org_id}/team/${demo.teams.us}/sandbox/webhook`, {
    method: 'POST',
    headers: { 'x-management-key': demo.management_key, 'content-type': 'application/json' },
    body: JSON.stringify({ url: ENDPOINT, disabled: true }),
  })
  assert.equal(response.status, 200)
  return ((await response.json()) as { id: string }).id
}
