// The catalog: what can be ordered, at which laboratory, and what is asked.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connectionOf, onDatabase } from '../support/program.ts'
import { eventually } from '../support/eventually.ts'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole, type ConsoleVisit } from './console.ts'

const MARKUP = '<img src=x onerror=alert(1)>'

/** A lab test of two markers of one laboratory. */
async function createTest({ api }: ConsoleVisit, name: string): Promise<string> {
  const { markers } = (await api.get('/v3/lab_tests/markers?lab_slug=quest&a_la_carte_enabled=true&size=2')).body
  const provider_ids = markers.map(({ provider_id }: { provider_id: string }) => provider_id)
  const test = { name, method: 'walk_in_test', description: MARKUP, provider_ids, lab_slug: 'quest' }
  const { status, body } = await api.post('/v3/lab_tests', test)
  assert.equal(status, 200, JSON.stringify(body))
  return body.id
}

describe('the list of lab tests', () => {
  test('is filtered in the address, found by name, and says that nothing matches', inBrowser, async () => {
    const visited = await openConsole('catalog')
    const { page } = visited
    const table = page.getByRole('table', { name: 'Lab tests' })
    await table.getByRole('link').first().waitFor()
    await assertGoodPage(visited, 'catalog')
    await page.getByRole('combobox', { name: 'Filter' }).fill('method:walk_in_test')
    await page.getByRole('combobox', { name: 'Filter' }).press('Enter')
    await page.waitForURL(/method=walk_in_test/)
    await eventually(async () => !(await table.getByRole('row').allTextContents()).some((text) => text.includes('Test kit')))
    await page.reload()
    await page.getByText('method:walk_in_test').waitFor()
    await page.getByRole('textbox', { name: 'Search by name' }).fill('no such test')
    await page.getByRole('heading', { name: 'No test matches' }).waitFor()
    await assertGoodPage(visited, 'catalog empty')
  })

  test('is read by keyboard alone, down to one test', inBrowser, async () => {
    const { page } = await openConsole('catalog')
    const row = page.getByRole('table', { name: 'Lab tests' }).getByRole('link').first()
    const name = (await row.textContent())!
    await row.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    await page.goBack()
    await page.getByRole('table', { name: 'Lab tests' }).waitFor()
  })
})

describe('one lab test', () => {
  test('shows its markers, questions, and the same at another laboratory, and leads to an order', inBrowser, async () => {
    const visited = await openConsole('catalog')
    const { page, open } = visited
    const id = await createTest(visited, MARKUP)
    await open(`catalog/tests/${id}`)
    await page.getByRole('heading', { name: MARKUP }).waitFor()
    assert.equal(await page.locator('img').count(), 0)
    await page.getByRole('table', { name: 'Markers', exact: true }).waitFor()
    await page.getByRole('combobox', { name: 'Other laboratory' }).click()
    await page.getByRole('option', { name: 'Labcorp' }).click()
    await page.getByRole('table', { name: 'At another laboratory' }).getByRole('row').nth(2).waitFor()
    await assertGoodPage(visited, 'lab test')
    await page.getByRole('button', { name: 'As curl or code' }).first().click()
    await page.getByText(`/v3/lab_tests/${id}`).first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Order', exact: true }).click()
    await page.getByRole('heading', { name: 'Place an order' }).waitFor()
    await eventually(async () => (await page.getByRole('combobox', { name: 'Test' }).inputValue()).startsWith(MARKUP))
  })

  test('is deactivated and activated, and a refusal is shown in the dialog', inBrowser, async () => {
    const visited = await openConsole('catalog')
    const { page, open, api } = visited
    const id = await createTest(visited, 'Fictional Check')
    await open(`catalog/tests/${id}`)
    await page.route(`**/v3/lab_tests/${id}`, (route) =>
      route.request().method() === 'PATCH'
        ? route.fulfill({ status: 409, json: { detail: 'Changed meanwhile' } })
        : route.fallback(),
    )
    await page.getByRole('button', { name: 'Deactivate' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Deactivate' }).click()
    await dialog.getByText('Changed meanwhile').waitFor()
    await page.unrouteAll()
    await dialog.getByRole('button', { name: 'Deactivate' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal((await api.get(`/v3/lab_tests/${id}`)).body.status, 'inactive')
    await page.getByRole('button', { name: 'Activate' }).click()
    await dialog.getByRole('button', { name: 'Activate' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal((await api.get(`/v3/lab_tests/${id}`)).body.status, 'active')
  })

  test('is approved by an administrator of the organization, and other members see no button', inBrowser, async () => {
    const visited = await openConsole('catalog')
    const { page, open, server, api } = visited
    const id = await createTest(visited, 'Fictional Check')
    await onDatabase(connectionOf(server.dataDir), (client) =>
      client.query(`update sandbox_us.lab_test set status = 'pending_approval', is_approved = false where id = $1`, [id]),
    )
    await page.route('**/console/api/session', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), org_permissions: [] } })
    })
    await open(`catalog/tests/${id}`)
    await page.getByText('Pending approval').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Approve' }).count(), 0)
    await page.unrouteAll()
    await page.reload()
    await page.getByRole('button', { name: 'Approve' }).click()
    await assertGoodPage(visited, 'lab test approval')
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByText('Active', { exact: true }).waitFor()
    assert.equal((await api.get(`/v3/lab_tests/${id}`)).body.status, 'active')
  })

  test('that does not exist is an error as the API says it', inBrowser, async () => {
    const { page } = await openConsole('catalog/tests/00000000-0000-7000-8000-000000000000')
    await page.getByRole('alert').getByText('404').waitFor()
  })
})

test('a search finds a test at every laboratory by name, LOINC and code', inBrowser, async () => {
  const visited = await openConsole('catalog/search')
  const { page } = visited
  await page.getByRole('heading', { name: 'Search all laboratories' }).waitFor()
  await assertGoodPage(visited, 'catalog search empty')
  const search = page.getByRole('textbox', { name: 'Search all laboratories' })
  const table = page.getByRole('table', { name: 'At the laboratories' })
  await search.fill('basic metabolic panel')
  await table.getByText('The same').first().waitFor()
  await assertGoodPage(visited, 'catalog search')
  const code = (await table.getByRole('row').nth(1).getByRole('cell').nth(2).textContent())!
  await page.reload()
  await table.waitFor()
  for (const query of [code, '4548-4']) {
    await search.fill(query)
    await page.waitForURL((url) => url.searchParams.get('q') === query)
    await table.getByText(query).first().waitFor()
  }
  await search.fill('no such measurement anywhere')
  await page.getByRole('heading', { name: 'Nothing matches' }).waitFor()
  assertNoComplaints(visited.complaints)
})

test(
  'markers are found by name, of one laboratory or all, and one opens with what is reported and asked',
  inBrowser,
  async () => {
    const visited = await openConsole('catalog/markers')
    const { page } = visited
    const table = page.getByRole('table', { name: 'Markers' })
    await table.getByRole('link').first().waitFor()
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.waitForURL(/page=2/)
    await page.getByText(/^51–/).waitFor()
    await assertGoodPage(visited, 'catalog markers')
    await page.getByRole('textbox', { name: 'Search by name or code' }).fill('lipid')
    await eventually(async () => (await table.getByRole('link').first().textContent())?.toLowerCase().includes('lipid'))
    await table.getByRole('link').first().click()
    await page.getByRole('dialog').getByRole('heading', { name: 'Reported results' }).waitFor()
    await assertGoodPage(visited, 'catalog marker')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  },
)

test('an order set shows each marker that it would order, and what the API refuses', inBrowser, async () => {
  const visited = await openConsole('catalog/order-set')
  const { page } = visited
  await page.getByRole('heading', { name: 'No order set' }).waitFor()
  await page.getByRole('combobox', { name: 'Tests' }).click()
  await page.getByRole('option').first().click()
  await page.keyboard.press('Escape')
  await page.getByRole('table', { name: 'Markers of the order set' }).waitFor()
  await assertGoodPage(visited, 'catalog order set')
  await page.getByRole('combobox', { name: 'Further codes of the laboratory' }).fill('NO-SUCH-CODE')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
})

test('laboratories lead to their tests and markers', inBrowser, async () => {
  const visited = await openConsole('catalog/labs')
  const { page } = visited
  const table = page.getByRole('table', { name: 'Laboratories' })
  await table.getByRole('link', { name: 'Markers' }).first().waitFor()
  await assertGoodPage(visited, 'catalog laboratories')
  await table.getByRole('link', { name: 'Markers' }).first().click()
  await page.waitForURL(/catalog\/markers\?lab=/)
})
