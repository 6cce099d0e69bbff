// The questions of the laboratory in the form that places an order.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { keepScreenshot } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { readPdf, skipWithoutPdfTools } from '../support/pdf-reader.ts'
import { connectionOf, onDatabase } from '../support/program.ts'
import { assertGoodPage, assertNoComplaints, inBrowser, signInToConsole, SCREENS, type ConsoleVisit } from './console.ts'

const MARKUP = '<img src=x onerror=alert(1)>'
const QUESTION = { required: true, answers: [] as object[], constraint: null as string | null, default: null }
const toChoices = (texts: Record<string, string>) =>
  Object.entries(texts).map(([code, value], index) => ({ id: index + 1, code, value }))
/** Required questions of each type with choices or text. The laboratory asks them in another order than they are listed. */
const QUESTIONS = [
  { ...QUESTION, id: 9003, sequence: 3, code: 'WHERE', type: 'text', value: 'Place of work', constraint: `City ${MARKUP}` },
  {
    ...QUESTION,
    id: 9001,
    sequence: 1,
    code: 'WHY',
    type: 'choice',
    value: `Purpose ${MARKUP}`,
    answers: toChoices({ I: 'First test', R: 'Repeat test' }),
  },
  {
    ...QUESTION,
    id: 9002,
    sequence: 2,
    code: 'WHAT',
    type: 'multi_choice',
    value: 'Exposure',
    answers: toChoices({ PNT: 'Paint', WTR: 'Water pipes', NON: 'None' }),
  },
]

/** A test of a marker with the questions above, and of one whose laboratory asks for numbers. @returns its id */
async function createAskingTest({ api, server }: ConsoleVisit, name = 'Fictional lead and creatinine'): Promise<string> {
  await onDatabase(connectionOf(server.dataDir), (client) =>
    client.query(`update sandbox_us.marker set aoe = $1 where provider_id = 'Q55948'`, [
      JSON.stringify({ questions: QUESTIONS }),
    ]),
  )
  const body = { name, method: 'walk_in_test', description: '', provider_ids: ['Q55948', 'Q55710'], lab_slug: 'quest' }
  const created = await api.post('/v3/lab_tests', body)
  assert.equal(created.status, 200, JSON.stringify(created.body))
  return created.body.id
}

interface SentOrder {
  aoe_answers?: { marker_id: number; question_id: number; answer: string }[]
}

/** The requests that place orders, from now on. */
function ordersSent(page: Page): SentOrder[] {
  const bodies: SentOrder[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/v3/order')) bodies.push(request.postDataJSON() as SentOrder)
  })
  return bodies
}

/** What the browser says about the field at which it refuses the form; empty if it refuses nothing there. */
const refusal = (page: Page): Promise<string> => page.evaluate<string>('document.activeElement.validationMessage ?? ""')

async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let count = 0; count < TABS_MAX; count++) {
    await page.keyboard.press('Tab')
    if (await isFocused(page, target)) return
  }
  assert.fail('the field is not reached by Tab')
}
const TABS_MAX = 60

const isFocused = async (page: Page, target: Locator): Promise<boolean> =>
  (await target.and(page.locator(':focus')).count()) === 1

test('an order is refused without answers to required questions, and placed with them', inBrowser, async () => {
  const visited = await signInToConsole()
  const { page, api, open, complaints } = visited
  const lab_test_id = await createAskingTest(visited)
  const { markers } = (await api.get(`/v3/lab_tests/${lab_test_id}`)).body
  const sent = ordersSent(page)
  await open(`orders/new?test=${lab_test_id}`)
  const [purpose, place] = [page.getByRole('combobox', { name: 'Purpose' }), page.getByRole('textbox', { name: 'Place of work' })]
  const [volume, hours] = [
    page.getByRole('textbox', { name: 'Total urine volume' }),
    page.getByRole('textbox', { name: /Length of/ }),
  ]
  const button = page.getByRole('button', { name: 'Place order' })
  await purpose.waitFor()
  await assertGoodPage(visited, 'questions of a new order')
  assert.equal(await page.locator('img[src=x]').count(), 0)

  for (const answer of [
    () => purpose.selectOption({ label: 'First test' }),
    () => page.getByRole('checkbox', { name: 'Paint' }).check(),
    () => place.fill('공장'),
    () => volume.fill('much'),
    () => volume.fill('1500.5'),
  ]) {
    await button.click()
    assert.notEqual(await refusal(page), '')
    await answer()
  }
  await button.click()
  assert(await isFocused(page, hours))
  assert.equal(sent.length, 0)
  await hours.fill('24')
  await page.getByRole('checkbox', { name: 'Water pipes' }).check()

  await button.click()
  await page.getByRole('alert').getByText('422').waitFor()
  assert.equal(await place.getAttribute('aria-invalid'), 'true')
  assert.equal(await page.locator('[aria-invalid=true]').count(), 1)
  for (const screen of ['phone', 'computer'] as const) {
    await page.setViewportSize(SCREENS[screen])
    await page.getByRole('combobox', { name: 'Test' }).scrollIntoViewIfNeeded()
    await keepScreenshot(page, `console rejected answer ${screen}`)
  }
  await place.fill('Fictional Works, Phoenix')
  await page.getByRole('button', { name: 'As curl or code' }).click()
  const sample = page.getByRole('tabpanel', { name: 'curl' })
  await sample.getByText('"aoe_answers"').waitFor()
  await sample.getByText('"PNT,WTR"').waitFor()
  await page.keyboard.press('Escape')
  await button.click()
  await page.getByRole('heading', { name: 'What happened' }).waitFor()
  const [lead, creatinine] = markers.map(({ id }: { id: number }) => id)
  assert.deepEqual(sent.at(-1)!.aoe_answers, [
    { marker_id: lead, question_id: 9001, answer: 'I' },
    { marker_id: lead, question_id: 9002, answer: 'PNT,WTR' },
    { marker_id: lead, question_id: 9003, answer: 'Fictional Works, Phoenix' },
    { marker_id: creatinine, question_id: 104, answer: '1500.5' },
    { marker_id: creatinine, question_id: 105, answer: '24' },
  ])
  // The browser notes the refused answer, and that the second request finds the user of the first.
  complaints.splice(0, complaints.length, ...complaints.filter((text) => !/status of 4(00|22)/.test(text)))
  assertNoComplaints(complaints)
  if (!skipWithoutPdfTools) await assertPrinted(visited)
})

/** The requisition of the order of the page prints the answers in the words of the laboratory. */
async function assertPrinted({ page, api, server, demo }: ConsoleVisit): Promise<void> {
  const id = new URL(page.url()).pathname.split('/').at(-1)!
  assert.equal((await api.post(`/v3/order/${id}/test`)).status, 200)
  const pdf = await eventually(
    async () => {
      const headers = { 'x-service-api-key': demo.api_keys['sandbox-us']! }
      const response = await fetch(`${server.url}/v3/order/${id}/requisition/pdf`, { headers })
      return response.status === 200 ? new Uint8Array(await response.arrayBuffer()) : undefined
    },
    'the order has a requisition',
    30_000,
  )
  const { text } = readPdf(pdf)
  for (const answer of ['First test', 'Paint, Water pipes', 'Fictional Works, Phoenix', '1500.5'])
    assert(text.includes(answer), `the requisition lacks ${answer}`)
}

test('an order with answers is placed by keyboard alone', inBrowser, async () => {
  const visited = await signInToConsole()
  const { page, open } = visited
  const name = 'Fictional test by keyboard'
  await createAskingTest(visited, name)
  const sent = ordersSent(page)
  await open('orders/new')
  const choice = page.getByRole('combobox', { name: 'Test' })
  await choice.waitFor()
  await tabTo(page, choice)
  await page.keyboard.type(name)
  await page.getByRole('option', { name }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  const purpose = page.getByRole('combobox', { name: 'Purpose' })
  await purpose.waitFor()
  await tabTo(page, purpose)
  await page.keyboard.press('R')
  await tabTo(page, page.getByRole('checkbox', { name: 'None' }))
  await page.keyboard.press('Space')
  await tabTo(page, page.getByRole('textbox', { name: 'Place of work' }))
  await page.keyboard.type('Phoenix')
  await tabTo(page, page.getByRole('textbox', { name: 'Total urine volume' }))
  await page.keyboard.type('900')
  await tabTo(page, page.getByRole('textbox', { name: /Length of/ }))
  await page.keyboard.type('24')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'What happened' }).waitFor()
  assert.deepEqual(
    sent[0]!.aoe_answers?.map(({ answer }) => answer),
    ['R', 'NON', 'Phoenix', '900', '24'],
  )
})

test('answers are of the test that is chosen: those to another test are not sent', inBrowser, async () => {
  const visited = await signInToConsole()
  const { page, open } = visited
  const lab_test_id = await createAskingTest(visited, 'Fictional test of before')
  const sent = ordersSent(page)
  await open(`orders/new?test=${lab_test_id}`)
  await page.getByRole('textbox', { name: 'Place of work' }).fill('Phoenix')
  const choice = page.getByRole('combobox', { name: 'Test' })
  await choice.click()
  await choice.fill('Heart and Metabolic Kit')
  await page
    .getByRole('option', { name: /^Heart and Metabolic Kit/ })
    .first()
    .click()
  await page.getByRole('combobox', { name: 'Fasting?' }).first().waitFor()
  assert.equal(await page.getByRole('textbox', { name: 'Place of work' }).count(), 0)
  await page.getByRole('button', { name: 'Place order' }).click()
  await page.getByRole('heading', { name: 'What happened' }).waitFor()
  assert.equal(sent[0]!.aoe_answers, undefined)
})
