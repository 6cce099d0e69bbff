// Health in the console: jobs that failed and their retry, connections, endpoints, and the server.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { connectionOf, onDatabase } from '../support/program.ts'
import { assertGoodPage, assertNoComplaints, inBrowser, openConsole, signInToConsole, type ConsoleVisit } from './console.ts'
import { openConsoleAs } from './members.ts'

/** Markup in a text from outside. */
const MARKUP = '<img src=x onerror=alert(1)>'

/** Jobs of the demo team that failed permanently, of kinds of their own that no worker knows. */
async function failJobs({ server, demo }: ConsoleVisit, counts: Record<string, number>): Promise<void> {
  const names = Object.entries(counts).flatMap(([name, count]) => Array.from({ length: count }, () => name))
  await onDatabase(connectionOf(server.dataDir), (client) =>
    client.query(
      `insert into sandbox_us.job (id, team_id, name, payload, run_at, due_at, attempts, failed_at, last_error)
       select gen_random_uuid(), $1, name, '{}', now() - interval '2 hours', now() - interval '1 hour', 30, now(), $3
       from unnest($2::text[]) as n (name)`,
      [demo.teams.us, names, `Error ${MARKUP}`],
    ),
  )
}

const uniqueKind = (): string => `fictional_${randomUUID().slice(0, 8)}`

test('failed jobs are retried one by one, chosen ones, and all of a kind, and each says what it did', inBrowser, async () => {
  const visited = await signInToConsole()
  const { page, open, complaints } = visited
  const [few, many] = [uniqueKind(), uniqueKind()]
  await failJobs(visited, { [few]: 3, [many]: 5 })
  await open(`health?job=${few}`)
  const list = page.getByRole('table', { name: 'Failed jobs', exact: true })
  await list.getByText(MARKUP).first().waitFor()
  await assertGoodPage(visited, 'health')

  await list.getByRole('button', { name: 'Retry' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(`${few}: 1`).waitFor()
  await assertGoodPage(visited, 'health retry')
  await dialog.getByRole('button', { name: 'Retry 1 job' }).click()
  await dialog.getByText('1 job will run now.').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.waitForFunction(`document.querySelectorAll('[aria-label="Select the row"]').length === 2`)

  await page.getByRole('checkbox', { name: 'Select all loaded rows' }).check()
  await page.getByRole('button', { name: 'Retry selected' }).click()
  await dialog.getByRole('button', { name: 'Retry 2 jobs' }).click()
  await dialog.getByText('2 jobs will run now.').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByText('No job failed permanently').waitFor()

  await page.getByRole('button', { name: `Retry all of ${many}` }).click()
  await dialog.getByText(`${many}: 5`).waitFor()
  await dialog.getByRole('button', { name: 'Retry 5 jobs' }).click()
  await dialog.getByText('5 jobs will run now.').waitFor()
  assertNoComplaints(complaints)
})

test('jobs that were retried elsewhere meanwhile stay as they are, which the dialog says', inBrowser, async () => {
  const visited = await signInToConsole()
  const { page, open, server, demo } = visited
  const kind = uniqueKind()
  await failJobs(visited, { [kind]: 2 })
  await open(`health?job=${kind}`)
  await page.getByRole('checkbox', { name: 'Select all loaded rows' }).check()
  await page.getByRole('button', { name: 'Retry selected' }).click()
  const path = `/v1/org/${demo.org_id}/team/${demo.teams.us}/sandbox/failed_job`
  const headers = { 'x-management-key': demo.management_key }
  const { data } = (await (await fetch(`${server.url + path}?name=${kind}`, { headers })).json()) as { data: { id: string }[] }
  const body = JSON.stringify({ failed_job_ids: [data[0]!.id] })
  assert.equal((await fetch(`${server.url + path}/retry`, { method: 'POST', headers, body })).status, 200)
  await page.getByRole('dialog').getByRole('button', { name: 'Retry 2 jobs' }).click()
  await page.getByText('1 job will run now. 1 job had not failed any more and stayed as it was.').waitFor()
})

test('a failed job is retried by keyboard alone', inBrowser, async () => {
  const visited = await signInToConsole()
  const { page, open } = visited
  const kind = uniqueKind()
  await failJobs(visited, { [kind]: 1 })
  await open(`health?job=${kind}`)
  const retry = page.getByRole('table', { name: 'Failed jobs', exact: true }).getByRole('button', { name: 'Retry' })
  await retry.focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Retry 1 job' }).waitFor()
  while ((await page.evaluate<string>('document.activeElement.textContent')) !== 'Retry 1 job') await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await dialog.getByText('1 job will run now.').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

test('a connection that fails leads to its user, and an endpoint shows its state', inBrowser, async () => {
  const visited = await signInToConsole()
  const { page, api, open, server, demo, complaints } = visited
  const { body: user } = await api.post('/v2/user', { client_user_id: `console-health-${randomUUID()}` })
  const demoConnection = { user_id: user.user_id, provider: 'fitbit' }
  await api.post('/v2/link/connect/demo', demoConnection)
  const failed = await api.post('/v1/sandbox/demo/error', { ...demoConnection, error_type: 'token_refresh_failed' })
  assert.equal(failed.status, 200, JSON.stringify(failed.body))
  const created = await fetch(`${server.url}/v1/org/${demo.org_id}/team/${demo.teams.us}/sandbox/webhook`, {
    method: 'POST',
    headers: { 'x-management-key': demo.management_key },
    body: JSON.stringify({ url: 'http://127.0.0.1:9/nobody' }),
  })
  assert.equal(created.status, 200, await created.text())
  await open('health')
  await page.getByRole('table', { name: 'Endpoints and brokers' }).getByText('Webhook').first().waitFor()
  const connections = page.getByRole('table', { name: 'Connections that fail' })
  await connections.getByText('Token refresh failed').first().waitFor()
  await connections.locator('[data-row-link]').first().click()
  await page.waitForURL(/\/users\/[0-9a-f-]{36}$/)
  assertNoComplaints(complaints)
})

test('an administrator of the organization sees the database, the backup and the versions of the server', inBrowser, async () => {
  const visited = await openConsole('health')
  const { page, server } = visited
  await page.getByText('None is known').waitFor()
  await page.getByRole('table', { name: 'Largest tables' }).waitFor()
  await onDatabase(connectionOf(server.dataDir), async (client) => {
    await client.query(
      `insert into sandbox_us.database_size (day, bytes)
       select (now() at time zone 'UTC')::date - d, 40000000 - d * 300000 from generate_series(1, 29) d on conflict do nothing`,
    )
    await client.query(`insert into control.completed_backup (completed_at, bytes) values (now() - interval '5 hours', 12345678)`)
  })
  await page.reload()
  await page.getByText('5 h ago, 12.3 MB').waitFor()
  await page.getByRole('img', { name: /^Size of the database: 31\.3 MB on/ }).waitFor()
  await page.evaluate('document.documentElement.scrollTo(0, 1e6)')
  await assertGoodPage(visited, 'health server')
})

test('a viewer sees the part of the team without jobs, endpoints and the server', inBrowser, async () => {
  const visited = await openConsoleAs('viewer', 'health')
  const { page, complaints } = visited
  await page.getByText('Administrators of the organization see the server here too').waitFor()
  await page.getByRole('heading', { name: 'Event deliveries of 30 days' }).waitFor()
  for (const name of ['Jobs of the team', 'Failed jobs', 'Endpoints and brokers', 'Database'])
    assert.equal(await page.getByRole('heading', { name }).count(), 0, name)
  await assertGoodPage(visited, 'health viewer')
  assertNoComplaints(complaints)
})

test('a refused retry is shown in the dialog as the server says it, and can be tried again', inBrowser, async () => {
  const visited = await signInToConsole()
  const { page, open } = visited
  const kind = uniqueKind()
  await failJobs(visited, { [kind]: 1 })
  await open(`health?job=${kind}`)
  await page.route('**/failed_job/retry', (route) =>
    route.fulfill({ status: 409, json: { detail: 'The team is being changed' } }),
  )
  await page.getByRole('button', { name: `Retry all of ${kind}` }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Retry 1 job' }).click()
  await dialog.getByRole('alert').getByText('The team is being changed').waitFor()
  await page.unroute('**/failed_job/retry')
  await dialog.getByRole('button', { name: 'Retry 1 job' }).click()
  await dialog.getByText('1 job will run now.').waitFor()
})
