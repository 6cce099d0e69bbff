// A worker is killed in the middle of a long import: another one goes on where it was.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { exportXml, record } from '../support/file-imports.ts'
import { caller, connectionOf, demoIn, folder, onDatabase, serving, stopAll, waitUntil } from '../support/program.ts'

/** Five batches, in a file that one request may send. */
const SAMPLES = 22_000
const settings = { CELLS: 'sandbox-us' }
const dataDir = folder('data')

const query = <R extends object>(text: string, ...values: string[]): Promise<R[]> =>
  onDatabase(connectionOf(dataDir), async (client) => (await client.query<R>(text, values)).rows)

const heartRate = (i: number): string => {
  const at = new Date(Date.UTC(2026, 0, 1) + i * 60_000).toISOString()
  return record('HeartRate', 60 + (i % 40), 'count/min', `${at.slice(0, 10)} ${at.slice(11, 19)} +0000`)
}

after(stopAll)

test('an import whose worker is killed continues from the stored part: nothing is counted twice, and nothing is lost', async () => {
  let server = await serving(dataDir, settings)
  const key = demoIn(dataDir).api_keys['sandbox-us']!
  const user_id = (await caller(server.url, key).post('/v2/user', { client_user_id: 'kill' })).body.user_id as string
  const file = exportXml(...Array.from({ length: SAMPLES }, (_, i) => heartRate(i)))
  // The worker waits in the middle: its third batch needs a row that another transaction holds.
  const { id, stored } = await onDatabase(connectionOf(dataDir), async (client) => {
    const { body } = await caller(server.url, key).post(`/v2/user/${user_id}/file_import`, file, {
      'content-type': 'application/octet-stream',
    })
    const batches = async () =>
      (await client.query('select batches from sandbox_us.file_import where id = $1', [body.id])).rows[0].batches as number
    await waitUntil(async () => (await batches()) >= 1)
    await client.query('begin')
    await client.query('select from sandbox_us.file_import where id = $1 for update', [body.id])
    const stored = await batches()
    await server.end('SIGKILL')
    // The database may have ended with its server.
    await client.query('rollback').catch(() => {})
    return { id: body.id as string, stored }
  })
  assert(stored >= 1 && stored < 5, `${stored} of 5 batches were stored before the end`)
  server = await serving(dataDir, settings, 'serve')
  // What the killed one had taken is free again when its lease of a minute is over: that minute is skipped.
  await query('update sandbox_us.job set leased_until = null where leased_until is not null')
  await server.end('SIGTERM')
  server = await serving(dataDir, settings)
  const api = caller(server.url, key)
  const shown = async () => (await api.get(`/v2/user/${user_id}/file_import/${id}`)).body
  await waitUntil(async () => (await shown()).finished_at !== null)
  const { status, accepted, created, updated } = await shown()
  assert.deepEqual([status, accepted, created, updated], ['completed', SAMPLES, SAMPLES, 0])
  await server.end('SIGTERM')
})
