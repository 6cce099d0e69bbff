// Settings in the console: messages to patients, retention, audit log, access log.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { eventuallyHolds } from '../support/eventually.ts'
import { connectionOf, onDatabase, outcome } from '../support/program.ts'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole, signInToConsole, type ConsoleVisit } from './console.ts'
import { openConsoleAs } from './members.ts'
import { createOrder } from './orders.ts'

/** Markup in a text from outside. */
const MARKUP = '<img src=x onerror=alert(1)>'

const teamPath = ({ demo }: ConsoleVisit): string => `/v1/org/${demo.org_id}/team/${demo.teams.us}`
const manage = ({ server, demo }: ConsoleVisit, method: string, path: string, body?: unknown): Promise<Response> =>
  fetch(server.url + path, {
    method,
    headers: { 'x-management-key': demo.management_key },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

describe('messages to patients', () => {
  test('the inbox of a sandbox shows what would be sent, by filters in the address', inBrowser, async () => {
    const visited = await signInToConsole()
    const { page, api, open, complaints } = visited
    const order_id = await createOrder(api)
    await open(`settings/messages?order=${order_id}`)
    const message = page.getByRole('article').first()
    await message.getByText(/has been ordered|order has been placed/).waitFor()
    await assertGoodPage(visited, 'settings messages')
    await message.getByRole('link', { name: 'order' }).click()
    await page.waitForURL(new RegExp(`/orders/${order_id}$`))
    await page.goBack()
    await message.waitFor()
    await open(`settings/messages?order=${order_id}&state=failed`)
    await page.getByRole('heading', { name: 'No message matches' }).waitFor()
    assertNoComplaints(complaints)
  })

  test('a message that did not reach its patient leads from the overview to the inbox', inBrowser, async () => {
    const visited = await signInToConsole()
    const { page, api, open, server, demo } = visited
    const order_id = await createOrder(api)
    await onDatabase(connectionOf(server.dataDir), (client) =>
      client.query(
        `insert into sandbox_us.patient_message (order_id, id, team_id, kind, channel, recipient, body, created_at, state, finished_at)
         values ($1, gen_random_uuid(), $2, 'ordered', 'sms', '+15550100199', $3, now(), 'failed', now())`,
        [order_id, demo.teams.us, MARKUP],
      ),
    )
    await open('')
    await page.getByRole('link', { name: /did not reach a patient/ }).click()
    await page.getByRole('article').getByText(MARKUP).waitFor()
    await page.getByText('Failed', { exact: true }).first().waitFor()
  })

  test('the texts are shown by collection method', inBrowser, async () => {
    const visited = await openConsole('settings/messages')
    const { page, complaints } = visited
    await page.getByRole('tab', { name: 'Texts' }).click()
    await page
      .getByRole('tabpanel', { name: 'Texts' })
      .getByText(/test kit has been ordered/)
      .waitFor()
    await assertGoodPage(visited, 'settings message texts')
    await page.getByLabel('Orders of').selectOption('walk_in_test')
    await page.getByText('Email: Your laboratory requisition is ready').waitFor()
    await page.reload()
    await page.getByText('Email: Your laboratory requisition is ready').waitFor()
    assertNoComplaints(complaints)
  })

  test(
    'the settings say what they do, are saved, and a value that the API refuses is shown at its field',
    inBrowser,
    async () => {
      const visited = await openConsole('settings/messages?tab=settings')
      const { page } = visited
      await page.getByRole('switch', { name: 'Text messages to patients' }).click({ force: true })
      await page.getByText('Patients get no more text messages about their orders.').waitFor()
      await assertGoodPage(visited, 'settings message settings')
      await page.getByRole('button', { name: 'Save settings' }).click()
      await page.getByText('Saved. Orders that change from now on follow it.').waitFor()
      const booking = page.getByRole('textbox', { name: 'Page on which patients book at-home appointments' })
      await booking.fill('http://example.com/{patient}')
      await page.getByRole('button', { name: 'Save settings' }).click()
      await page.getByText(/must be an https URL/).waitFor()
      const reset = { sandbox: { lab_tests_patient_sms_communication_enabled: true } }
      assert.equal((await manage(visited, 'PATCH', teamPath(visited), reset)).status, 200)
    },
  )
})

describe('retention', () => {
  test('rules are saved after what they delete was counted, and the name of the team was typed', inBrowser, async () => {
    const visited = await openConsole('settings/retention')
    const { page, api, complaints } = visited
    const { body: user } = await api.post('/v2/user', { client_user_id: `console-retention-${randomUUID()}` })
    const day = '2020-01-15'
    const data = [{ day_summary: { calendar_date: day, steps_sum: 7 } }]
    const summary = { stage: 'daily', time_zone: 'UTC', provider: 'apple_health_kit', data }
    const posted = await api.post(`/v2/summary/activity/${user.user_id}`, summary)
    assert.equal(posted.status, 200, JSON.stringify(posted.body))
    await page.getByText('All health data is kept.').waitFor()
    await assertGoodPage(visited, 'settings retention empty')
    await page.getByRole('combobox', { name: 'Add a rule for' }).fill('Activity')
    await page.getByRole('listbox').getByRole('option', { name: 'Activity', exact: true }).click()
    await page.getByRole('textbox', { name: 'Days of Activity' }).fill('1000')
    await page.getByRole('button', { name: 'Count and save' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(`Activity: 1, from ${day} to ${day}`).waitFor()
    await assertGoodPage(visited, 'settings retention dialog')
    assert(await dialog.getByRole('button', { name: 'Delete and save' }).isDisabled())
    await dialog.getByRole('textbox').fill('Demo team US')
    await dialog.getByRole('button', { name: 'Delete and save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('Saved. What has expired is deleted within about an hour.').waitFor()
    await assertGoodPage(visited, 'settings retention')
    await page.getByRole('button', { name: 'Remove the rule of Activity' }).click()
    await page.getByRole('button', { name: 'Count and save' }).click()
    await dialog.getByText(/^Nothing of the sandbox is deleted now/).waitFor()
    await dialog.getByRole('button', { name: 'Save rules' }).click()
    await dialog.waitFor({ state: 'detached' })
    const saved = (await (await manage(visited, 'GET', `${teamPath(visited)}/sandbox/data_retention`)).json()) as {
      rules: unknown[]
    }
    assert.deepEqual(saved.rules, [])
    assertNoComplaints(complaints)
  })

  test('a reviewer reads the rules and cannot change them', inBrowser, async () => {
    const { page } = await openConsoleAs('reviewer', 'settings/retention')
    await page.getByText('Administrators of the team change the rules.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Count and save' }).count(), 0)
  })
})

describe('the audit log', () => {
  test('lists changes with who made them, filtered by operation and scope in the address', inBrowser, async () => {
    const visited = await signInToConsole()
    const { page, open, complaints } = visited
    const physician = { first_name: 'Docta', last_name: 'Fictional', npi: randomUUID().slice(0, 12) }
    assert.equal((await manage(visited, 'POST', `${teamPath(visited)}/sandbox/physician`, physician)).status, 200)
    await open('settings/audit-log')
    await page.getByRole('table', { name: 'Audit log' }).getByText('add_team_service_physician').first().waitFor()
    await assertGoodPage(visited, 'settings audit log')
    const filter = page.getByRole('combobox', { name: 'Filter' })
    await filter.fill('operation:no_such_operation')
    await filter.press('Enter')
    await page.getByRole('heading', { name: 'No change matches' }).waitFor()
    await open('settings/audit-log?scope=organization&operation=sign_in')
    await page.getByRole('table', { name: 'Audit log' }).getByText('Adina Testmann').first().waitFor()
    await page.reload()
    await page.getByRole('table', { name: 'Audit log' }).getByText('sign_in').first().waitFor()
    assertNoComplaints(complaints)
  })
})

describe('the access log', () => {
  test('says who has seen a user, whole ids only, and how its chain is checked', inBrowser, async () => {
    const visited = await openConsole('settings/access-log')
    const { page, api, open, server, complaints } = visited
    const { body: user } = await api.post('/v2/user', { client_user_id: `console-access-${randomUUID()}` })
    await page.getByRole('heading', { name: 'Whose log' }).waitFor()
    const field = page.getByRole('textbox', { name: 'Id of the user' })
    await field.fill('1234')
    await field.press('Enter')
    await page.getByText('This is not a whole id of a user').waitFor()
    await open(`users/${user.user_id}`)
    await page.getByRole('heading', { name: 'Profile' }).waitFor()
    await open('settings/access-log')
    await field.fill(user.user_id)
    // A read is in the log about a second later.
    await eventuallyHolds(async () => {
      await page.getByRole('button', { name: 'Show the log' }).click()
      await page.getByRole('table', { name: 'Access log of the user' }).getByText('get_user').first().waitFor({ timeout: 1000 })
    })
    await page.getByText('access-log verify').waitFor()
    await page.getByText('Not checked yet').waitFor()
    const { code } = await outcome('access-log', { DATA_DIR: server.dataDir }, 'verify', '--cell', 'all')
    assert.equal(code, 0)
    await page.reload()
    await page.getByText('Intact').waitFor()
    await assertGoodPage(visited, 'settings access log')
    await page.reload()
    await page.getByRole('table', { name: 'Access log of the user' }).getByText('create_user').waitFor()
    assertNoComplaints(complaints)
  })

  test('of an order has the lines about the order and no others', inBrowser, async () => {
    const { page, api, open, complaints } = await signInToConsole()
    const order_id = await createOrder(api)
    const table = page.getByRole('table', { name: 'Who looked' })
    // A read is in the log about a second later.
    await eventuallyHolds(async () => {
      await open(`orders/${order_id}?tab=access`)
      await table.getByText('get_order').first().waitFor({ timeout: 1000 })
    })
    await table.getByText('create_order').waitFor()
    assert.equal(await table.getByText('create_user').count(), 0)
    assertNoComplaints(complaints)
  })

  test('is not there for a member who is no administrator', inBrowser, async () => {
    const { page } = await openConsoleAs('staff', 'settings/access-log')
    await page.getByRole('heading', { name: 'No such section' }).waitFor()
  })
})
