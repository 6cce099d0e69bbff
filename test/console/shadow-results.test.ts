// Results over links in mode shadow in the console, beside those that staff entered.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { address, patient } from '../support/people.ts'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole, type ConsoleVisit } from './console.ts'
import { createLink, receive, type TestLink } from './lab-links.ts'
import { manageOrg, MARKUP } from './org-requests.ts'
import { openConsoleAs } from './members.ts'

interface StaffOrder {
  id: string
  sample_id: string
}

/** An order at the laboratory of manual fulfillment, which staff have accepted. */
async function createStaffOrder(visit: ConsoleVisit, { account_id: lab_account_id }: TestLink): Promise<StaffOrder> {
  const { api } = visit
  const body = { name: 'Fictional Check', method: 'walk_in_test', description: 'By hand.', lab_slug: 'manual' }
  const { body: labTest } = await api.post('/v3/lab_tests', { ...body, provider_ids: ['MAN-A1C'] })
  await manageOrg(visit, 'POST', `/lab_test/sandbox/us/${labTest.id}/approve`)
  const { body: user } = await api.post('/v2/user', { client_user_id: `shadow-${randomUUID()}` })
  const order = await api.post('/v3/order', {
    user_id: user.user_id,
    lab_test_id: labTest.id,
    lab_account_id,
    patient_details: patient,
    patient_address: { ...address, country: 'US' },
  })
  assert.equal(order.status, 200, JSON.stringify(order.body))
  const { id } = order.body.order
  await act(visit, id, 'accept')
  return { id, sample_id: (await api.get(`/v3/order/${id}`)).body.sample_id }
}

/** A step of staff on an order. */
const act = (visit: ConsoleVisit, order_id: string, action: string, body?: unknown) =>
  manageOrg(visit, 'POST', `/team/${visit.demo.teams.us}/sandbox/fulfillment/${order_id}/${action}`, body)

const enter = (visit: ConsoleVisit, { id }: StaffOrder, value: string) =>
  act(visit, id, 'result', {
    status: 'final',
    results: [{ analyte: 'hemoglobin-a1c', value, unit: '%', reference_range: '4.0-5.6' }],
  })

/** What the laboratory reports about an order. */
function report({ id, sample_id }: StaffOrder, value: string, name = 'Hemoglobin A1c'): string {
  const observation = (code: string, fields: object) => ({ code, name, value, status: 'F', ...fields })
  return JSON.stringify({
    sender: 'FICTIONAL-LIS',
    control_id: randomUUID(),
    sent_at: '20300104101500',
    patient: { first_name: patient.first_name, last_name: patient.last_name, dob: patient.dob, gender: patient.gender },
    numbers: { placer: [sample_id], filler: [`F-${id}`] },
    tests: [
      {
        code: 'MAN-A1C',
        name,
        filler: 'F-MAN-A1C',
        status: 'F',
        reported_at: '20300104100000',
        observations: [
          observation('MAN-A1C', { unit: '%', reference_range: '4.0-5.6', loinc: '4548-4' }),
          ...(name === MARKUP ? [observation('EXTRA', {})] : []),
        ],
      },
    ],
  })
}

test('results of a laboratory stand beside those of staff, differences first', inBrowser, async () => {
  const visited = await openConsole('links/shadow')
  const { page, open, complaints } = visited
  await page.getByRole('heading', { name: 'Choose a lab account' }).waitFor()
  await assertGoodPage(visited, 'links shadow without an account')
  const link = await createLink(visited, 'manual', 'shadow')
  await page.reload()
  await page.getByRole('heading', { name: 'No results to compare' }).waitFor()
  await assertGoodPage(visited, 'links shadow empty')

  const [same, waiting, different] = [
    await createStaffOrder(visited, link),
    await createStaffOrder(visited, link),
    await createStaffOrder(visited, link),
  ]
  await receive(visited, link, report(different, '5.9', MARKUP))
  await receive(visited, link, report(same, '5.40'))
  await receive(visited, link, report(waiting, '5.1'))
  const stranger = await receive(visited, link, report({ id: 'none', sample_id: 'UNKNOWN' }, '5.1'))
  await enter(visited, different, '5.4')
  await enter(visited, same, '5.4')
  await page.reload()
  const first = page.getByRole('article').first()
  await first.getByRole('row', { name: 'Hemoglobin A1c 5.9 5.4' }).waitFor()
  await first.getByRole('row', { name: `${MARKUP} 5.9 (not entered)` }).waitFor()
  assert.match(await page.getByRole('article').nth(1).innerText(), /Not entered/)
  await page.getByRole('article').nth(2).getByRole('button', { name: 'Show 1 same' }).click()
  await page.getByRole('article').nth(2).getByRole('row', { name: 'Hemoglobin A1c 5.40 % 5.4 %' }).waitFor()
  await page.getByRole('table', { name: 'Messages without an order' }).waitFor()
  await assertGoodPage(visited, 'links shadow')
  await page.getByRole('table', { name: 'Messages without an order' }).getByRole('link').click()
  await page.waitForURL(`**/links/messages/${stranger}`)
  await open(`links/shadow?account=${randomUUID()}`)
  await page.getByRole('alert').getByText('Lab account not found').waitFor()
  assertNoComplaints(complaints.filter((complaint) => !/status of 404/.test(complaint)))
})

test('staff see shadow results of their team, and no other page of links', inBrowser, async () => {
  const { page } = await openConsoleAs('staff', '')
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Lab links' }).click()
  await page.waitForURL('**/links/shadow')
  await page.getByRole('heading', { name: 'Choose a lab account' }).waitFor()
  assert.deepEqual(await page.getByRole('navigation', { name: 'Lab links' }).getByRole('link').allInnerTexts(), ['Shadow'])
})
