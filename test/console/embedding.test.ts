// The console in the page of another program: a feature alone, at registered origins, with messages to the page around it.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import type { Frame } from 'playwright-core'
import { axeViolations } from '../support/axe.ts'
import { keepScreenshot, skipWithoutBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { startHostPage, type HostPage } from '../support/host-page.ts'
import { address, patient } from '../support/people.ts'
import {
  assertGoodPage,
  assertNoComplaints,
  inBrowser,
  chooseViews,
  startServer,
  visitConsole,
  type ConsoleVisit,
} from './console.ts'
import { createOrder } from './orders.ts'

const WAIT_MS_MAX = 30_000

/** A clinic whose pages may frame features, one of whose pages is not registered, and one of its staff. */
interface Clinic {
  host: HostPage
  stranger: HostPage
  manage: (method: string, path: string, body?: unknown) => Promise<{ status: number; body: Record<string, string> }>
  member_id: string
  team_id: string
  /** The origin of the console. */
  origin: string
}
let clinic: Clinic

before(async () => {
  if (skipWithoutBrowser) return
  clinic = await startClinic()
})

async function startClinic(): Promise<Clinic> {
  const { url } = await startServer()
  const { demo } = await visitConsole()
  const otherSite = new URL(url).hostname === 'localhost' ? '127.0.0.1' : 'localhost'
  const [host, stranger] = [await startHostPage(otherSite), await startHostPage(otherSite)]
  const manage: Clinic['manage'] = async (method, path, body) => {
    const response = await fetch(`${url}/v1/org/${demo.org_id}/ehr_integration${path}`, {
      method,
      headers: { 'x-management-key': demo.management_key, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, string> }
  }
  const configuration = {
    slug: `clinic-${randomUUID()}`,
    modalities: ['feature_embed', 'link_out'],
    origin_configs: [{ origin: 'https://elsewhere.example.com' }, { origin: host.origin }],
  }
  assert.equal((await manage('PUT', '/configuration', configuration)).status, 200)
  const member_id = await createMember(manage)
  return { host, stranger, manage, member_id, team_id: demo.teams.us!, origin: new URL(url).origin }
}

async function createMember(manage: Clinic['manage'], name = 'Testa Staff'): Promise<string> {
  const { body } = await manage('POST', '/member', { integration_member_id: randomUUID(), name, email: 'testa@example.com' })
  return body.id!
}

async function launchUrl(feature: string, overrides: Record<string, string> = {}): Promise<string> {
  const { manage, member_id, team_id } = clinic
  const launch = { member_id, team_id, feature, modality: 'feature_embed', environment: 'sandbox', ...overrides }
  const { status, body } = await manage('POST', '/create_dashboard_url', launch)
  assert.equal(status, 200, JSON.stringify(body))
  // The demo server answers at the address that the launch URL names.
  return body.url!
}

/** Opens a feature in the page of the clinic. */
async function embed(feature: string, overrides: Record<string, string> = {}): Promise<ConsoleVisit & { frame: Frame }> {
  const visited = await visitConsole()
  const frame = await clinic.host.frame(visited.page, await launchUrl(feature, overrides))
  return { ...visited, frame }
}

/** The frame is shown as a page must be. */
async function assertGoodFrame({ page, frame, complaints }: ConsoleVisit & { frame: Frame }, name: string): Promise<void> {
  for (const { screen, size, colorScheme } of chooseViews()) {
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await frame.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
    await keepScreenshot(page, `console ${name} ${screen} ${colorScheme}`)
    const width = await frame.evaluate<number>('document.documentElement.scrollWidth')
    assert(width <= size.width, `${name} is ${width} pixels wide on a ${screen}`)
    assert.deepEqual(await axeViolations(frame, colorScheme === 'dark'), [], `${name} on a ${screen}, ${colorScheme}`)
  }
  assertNoComplaints(complaints)
}

async function firstMessage({ page }: ConsoleVisit) {
  await eventually(
    async () => (await clinic.host.messages(page)).length > 0,
    'the page of the clinic gets a message',
    WAIT_MS_MAX,
  )
  const messages = await clinic.host.messages(page)
  assert.equal(messages.length, 1)
  assert.equal(messages[0]!.origin, clinic.origin)
  return messages[0]!.data
}

describe('an order in the page of a clinic', () => {
  test('is placed, and the page learns its id', inBrowser, async () => {
    const visited = await embed('order_creation')
    const { frame, api } = visited
    await frame.getByRole('heading', { name: 'Place an order' }).waitFor()
    assert.equal(await frame.getByRole('navigation').count(), 0)
    await assertGoodFrame(visited, 'embedded order creation')
    await frame.getByRole('combobox', { name: 'Test' }).click()
    await frame.getByRole('option').first().click()
    await frame.getByRole('button', { name: 'Place order' }).click()
    await frame.getByRole('status').getByText('was placed').waitFor()
    const message = (await firstMessage(visited)) as { type: string; data: Record<string, string> }
    const { order_id, user_id, team_id } = message.data
    assert.deepEqual(message, { type: 'urn:junction:order:created', data: { order_id, user_id, team_id: clinic.team_id } })
    const { body } = await api.get(`/v3/order/${order_id}`)
    assert.deepEqual([body.user_id, body.team_id], [user_id, team_id])
    assertNoComplaints(visited.complaints)
  })

  test('is placed for the user of the launch, whose particulars are there already', inBrowser, async () => {
    const { api } = await visitConsole()
    const { user_id } = (await api.post('/v2/user', { client_user_id: randomUUID() })).body
    const { user_id: _none, ...particulars } = { user_id, ...patient, address: { ...address, country: 'US' } }
    assert.equal((await api.call('PATCH', `/v2/user/${user_id}/info`, particulars)).status, 200)
    const visited = await embed(`order_creation:${user_id}`)
    const { frame } = visited
    await frame.getByRole('textbox', { name: 'First name' }).waitFor()
    assert.equal(await frame.getByRole('textbox', { name: 'First name' }).inputValue(), patient.first_name)
    assert.equal(await frame.getByRole('textbox', { name: 'Your id of the user' }).count(), 0)
    await frame.getByRole('combobox', { name: 'Test' }).click()
    await frame.getByRole('option').first().click()
    await frame.getByRole('button', { name: 'Place order' }).click()
    const message = (await firstMessage(visited)) as { data: { user_id: string } }
    assert.equal(message.data.user_id, user_id)
  })

  test('is placed with answers to the questions of the laboratory', inBrowser, async () => {
    const visited = await embed('order_creation')
    const { frame, api } = visited
    const name = 'Fictional urine collection'
    const asking = { name, method: 'walk_in_test', description: '', provider_ids: ['Q55710'], lab_slug: 'quest' }
    const lab_test_id = (await api.post('/v3/lab_tests', asking)).body.id
    await frame.evaluate('location.reload()')
    await frame.getByRole('combobox', { name: 'Test' }).fill(name)
    await frame.getByRole('option', { name }).click()
    await frame.getByRole('textbox', { name: 'Total urine volume' }).fill('1500')
    await frame.getByRole('button', { name: 'Place order' }).click()
    await frame.locator('input:focus:invalid').waitFor()
    await frame.getByRole('textbox', { name: 'Length of collection' }).fill('24')
    await assertGoodFrame(visited, 'embedded order with questions')
    await frame.getByRole('button', { name: 'Place order' }).click()
    const message = (await firstMessage(visited)) as { data: { order_id: string } }
    assert.equal((await api.get(`/v3/order/${message.data.order_id}`)).body.lab_test.id, lab_test_id)
  })

  test('is not placed after a press on Cancel, which the page learns', inBrowser, async () => {
    const visited = await embed('order_creation')
    await visited.frame.getByRole('button', { name: 'Cancel' }).click()
    await visited.frame.getByRole('status').getByText('No order was placed').waitFor()
    assert.deepEqual(await firstMessage(visited), {
      type: 'urn:junction:order:creation_cancelled',
      data: { user_id: null, team_id: clinic.team_id },
    })
  })

  test('is shown alone: other pages of the console are not there, and a reload stays', inBrowser, async () => {
    const { api, server } = await visitConsole()
    const id = await createOrder(api)
    const visited = await embed(`order:${id}`)
    const { page, frame } = visited
    await frame.getByRole('heading', { name: 'What happened' }).waitFor()
    assert.deepEqual(await frame.getByRole('tab').allTextContents(), ['Results', 'Documents', 'Messages'])
    assert.equal(await frame.getByRole('link').count(), 0)
    await assertGoodFrame(visited, 'embedded order')
    await frame.evaluate('location.reload()')
    await frame.getByRole('heading', { name: 'What happened' }).waitFor()
    for (const path of ['', '/orders', '/users', `/orders/${randomUUID()}`]) {
      await frame.goto(`${server.url}/auth/session/${clinic.team_id}/sandbox-us${path}`)
      await frame.getByRole('heading', { name: 'Not found' }).waitFor()
    }
    const foreign = await frame.evaluate<number>(
      `fetch('/v2/user', { headers: {
         'x-drawbridge-console': '1',
         'x-drawbridge-launch': document.querySelector('meta[name=drawbridge-launch]').content,
         'x-drawbridge-team': '${clinic.team_id}', 'x-drawbridge-cell': 'sandbox-us' } }).then(({ status }) => status)`,
    )
    assert.equal(foreign, 403)
    assert.deepEqual(await clinic.host.messages(page), [])
  })
})

test('the catalog and the settings of a team are shown alone', inBrowser, async () => {
  const catalog = await embed('team_panels')
  await catalog.frame.getByRole('table', { name: 'Lab tests' }).getByRole('link').first().click()
  await catalog.frame.getByRole('table', { name: 'Markers' }).waitFor()
  await assertGoodFrame(catalog, 'embedded catalog')
  await catalog.frame.getByRole('link', { name: 'Catalog' }).click()
  await catalog.frame.getByRole('table', { name: 'Lab tests' }).waitFor()

  const config = await embed('team_config')
  const { frame, complaints } = config
  await frame.getByRole('textbox', { name: 'Company' }).fill('Fictional Clinic')
  await frame.getByRole('button', { name: 'Save brand' }).click()
  // The API says at the field what it lacks.
  await frame.getByText('is required where brand_information.company_name is set').first().waitFor()
  await frame.getByRole('textbox', { name: 'Logo' }).fill('https://app.example.com/logo.png')
  await frame.getByRole('button', { name: 'Save brand' }).click()
  await frame.getByRole('status').getByText('Saved').waitFor()
  complaints.splice(0, complaints.length, ...complaints.filter((text) => !text.includes('status of 422')))
  await assertGoodFrame(config, 'embedded team settings')
})

test('a page at an origin that is not registered shows nothing, and gets no session', inBrowser, async () => {
  const { page, complaints } = await visitConsole()
  const frame = await clinic.stranger.frame(page, await launchUrl('order_creation'))
  await eventually(
    () => complaints.some((text) => text.includes('frame-ancestors')),
    'the browser refuses the frame',
    WAIT_MS_MAX,
  )
  assert.match(page.frames().at(-1)!.url(), /^chrome-error:|^about:blank/)
  assert.equal(await frame.getByText('Place an order').count(), 0)
})

test('a launch URL that was used says so in the frame', inBrowser, async () => {
  const { page } = await visitConsole()
  const url = await launchUrl('team_panels')
  await fetch(url, { redirect: 'manual' })
  const frame = await clinic.host.frame(page, url)
  await frame.getByRole('heading', { name: 'This link cannot be used' }).waitFor()
})

test('a session that has ended says so in the frame, also after a reload', inBrowser, async () => {
  const member_id = await createMember(clinic.manage)
  const { frame } = await embed('team_panels', { member_id })
  await frame.getByRole('table', { name: 'Lab tests' }).waitFor()
  assert.equal((await clinic.manage('PATCH', `/member/${member_id}`, { team_role_bindings: [] })).status, 200)
  await frame.getByRole('textbox', { name: 'Search by name' }).fill('panel')
  await frame.getByRole('status').getByText('This session has ended').waitFor()
  await frame.evaluate('location.reload()')
  await frame.getByRole('heading', { name: 'You are not signed in' }).waitFor()
})

test('names of members and markup in them stay text', inBrowser, async () => {
  const markup = '<img src=x onerror=alert(1)>'
  const member_id = await createMember(clinic.manage, markup)
  const visited = await visitConsole()
  await visited.page.goto(await launchUrl('team_panels', { member_id, modality: 'link_out' }))
  await visited.page.getByRole('button', { name: `Account of ${markup}` }).click()
  await visited.page.getByText(markup).first().waitFor()
  assert.equal(await visited.page.locator('img[src=x]').count(), 0)
})

test('a link leads to the feature in the whole console, and signing out ends its session alone', inBrowser, async () => {
  const visited = await visitConsole()
  const { page, open } = visited
  await open('')
  await page.getByRole('button', { name: 'Open the demo' }).click()
  await page.getByRole('button', { name: /Account of Adina/ }).waitFor()
  await page.goto(await launchUrl('team_panels', { modality: 'link_out' }))
  await page.getByRole('table', { name: 'Lab tests' }).waitFor()
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Orders' }).click()
  await page.getByRole('table', { name: 'Orders' }).waitFor()
  await page.reload()
  await page.getByRole('table', { name: 'Orders' }).waitFor()
  await assertGoodPage(visited, 'launched orders')
  await page.getByRole('button', { name: 'Account of Testa Staff' }).click()
  assert.deepEqual(
    (await page.getByRole('menuitem').allTextContents()).filter((text) => /passkeys/i.test(text)),
    [],
  )
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('status').getByText('This session has ended').waitFor()
  await open('')
  await page.getByRole('button', { name: /Account of Adina/ }).waitFor()
})
