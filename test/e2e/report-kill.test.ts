// A worker is killed in the middle of a lab report: another one reads the report again, once.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { reportForm } from '../../src/lab-reports/parsing-jobs/example-report.ts'
import { caller, connectionOf, demoIn, folder, onDatabase, serving, stopAll, waitUntil } from '../support/program.ts'

/** How often a report is uploaded until the worker is killed before it has read it; reading begins with a second in which a thread starts. */
const KILLS_MAX = 5
const settings = { CELLS: 'sandbox-us' }
const dataDir = folder('data')

interface Job {
  status: string
  attempts: number
}

const query = <R extends object>(text: string, ...values: string[]): Promise<R[]> =>
  onDatabase(connectionOf(dataDir), async (client) => (await client.query<R>(text, values)).rows)
const jobOf = async (id: string): Promise<Job> =>
  (await query<Job>('select status, attempts from sandbox_us.parsing_job where id = $1', id))[0]!

after(stopAll)

test('a report whose worker is killed is taken up again and completes once, with one event of its end', async (t) => {
  let server = await serving(dataDir, settings)
  const key = demoIn(dataDir).api_keys['sandbox-us']!
  const user_id = (await caller(server.url, key).post('/v2/user', { client_user_id: 'kill' })).body.user_id as string
  for (let kills = 1; ; kills++) {
    assert(kills <= KILLS_MAX, 'the report was always read before the worker was killed')
    const { body: form, type } = reportForm(user_id)
    const { status, body } = await caller(server.url, key).post('/lab_report/v1/parser/job', form.toString(), {
      'content-type': type,
    })
    assert.equal(status, 200)
    const id = body.id as string
    await waitUntil(async () => (await jobOf(id)).status !== 'upload_pending')
    await server.end('SIGKILL')
    // Without a worker, to look at what is left.
    server = await serving(dataDir, settings, 'serve')
    const killed = await jobOf(id)
    // What the killed one had taken is found again when its lease of a minute is over: that minute is skipped.
    await query('update sandbox_us.job set leased_until = null where leased_until is not null')
    await server.end('SIGTERM')
    server = await serving(dataDir, settings)
    if (killed.status !== 'started') continue
    await waitUntil(async () => (await jobOf(id)).status === 'completed')
    assert.equal((await jobOf(id)).attempts, 2)
    const api = caller(server.url, key)
    const shown = (await api.get(`/lab_report/v1/parser/job/${id}`)).body
    assert.deepEqual([shown.data.results.length, shown.data.results[0].value], [1, '95'])
    const events = await query<{ type: string; body: string }>(
      'select type, body from sandbox_us.event where object_id = $1 order by id',
      id,
    )
    assert.deepEqual(
      events.map(({ type }) => type),
      ['lab_report.parsing_job.created', 'lab_report.parsing_job.updated'],
    )
    assert.deepEqual(JSON.parse(events[1]!.body).data, shown)
    await server.end('SIGTERM')
    return t.diagnostic(`killed ${kills} times`)
  }
})
