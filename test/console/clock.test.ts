// The clock of a sandbox, from the header of every page.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertNoComplaints, inBrowser, openConsole, type ConsoleVisit } from './console.ts'

const clockOf = async ({ api }: ConsoleVisit) => (await api.get('/v1/sandbox/clock')).body as { offset_s: number }

test('the clock panel says what will happen before it moves the clock, and afterwards what happened', inBrowser, async () => {
  const visited = await openConsole()
  const { page, api, complaints } = visited
  const user_id = (await api.post('/v2/user', { client_user_id: 'clock-fictional' })).body.user_id
  const [labTest] = (await api.get('/v3/lab_tests?collection_method=walk_in_test')).body
  const patient_details = {
    first_name: 'Testa',
    last_name: 'Fictional',
    dob: '1990-01-31',
    gender: 'female',
    phone_number: '+15550100199',
    email: 'testa@example.com',
  }
  const patient_address = { first_line: '1 Sample Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }
  const { order } = (await api.post('/v3/order', { user_id, lab_test_id: labTest.id, patient_details, patient_address })).body
  assert.equal((await api.post(`/v3/order/${order.id}/test?delay=3600`)).status, 200)

  const before = await clockOf(visited)
  await page
    .locator('header')
    .getByRole('button', { name: /^Clock of the sandbox/ })
    .click()
  const panel = page.getByRole('dialog', { name: /^Clock of the sandbox/ })
  await panel.getByRole('button', { name: '+1 day' }).click()
  await panel.getByText(/simulated steps? of/).waitFor()
  assert.equal((await clockOf(visited)).offset_s, before.offset_s, 'the preview moves nothing')
  await panel.getByRole('button', { name: 'Move the clock' }).click()
  await panel.getByText(/jobs ran, each at its own time/).waitFor()
  await panel.getByText(/simulated steps? of/).waitFor()
  const after = await clockOf(visited)
  assert(Math.abs(after.offset_s - before.offset_s - 86_400) < 60, String(after.offset_s))
  await page.locator('header').getByText('+1 d').waitFor()
  assert.equal((await api.get(`/v3/order/${order.id}`)).body.status, 'completed')
  assertNoComplaints(complaints)
})

test(
  'an error of the server is shown in the clock panel as the server gave it, and the clock can be moved afterwards',
  inBrowser,
  async () => {
    const { page } = await openConsole()
    await page.route('**/v1/sandbox/clock/advance', (route) =>
      route.fulfill({ status: 409, json: { detail: 'The clock of this team is already being advanced' } }),
    )
    await page
      .locator('header')
      .getByRole('button', { name: /^Clock of the sandbox/ })
      .click()
    const panel = page.getByRole('dialog', { name: /^Clock of the sandbox/ })
    await panel.getByRole('button', { name: '+1 hour' }).click()
    await panel.getByRole('button', { name: 'Move the clock' }).click()
    await panel.getByText('The clock of this team is already being advanced').waitFor()
    await page.unroute('**/v1/sandbox/clock/advance')
    await panel.getByRole('button', { name: 'Move the clock' }).click()
    await panel.getByText(/^It is /).waitFor()
  },
)
