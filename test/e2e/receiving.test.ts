// docs/RECEIVING_WEBHOOKS.md: the receiver that it shows is taken out of it and run against a server.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { settings } from '../../src/settings/settings.ts'
import { demoIn, stopAll, folder, serving, start, waitUntil } from '../support/program.ts'

after(stopAll)

const guide = readFileSync(new URL('../../docs/RECEIVING_WEBHOOKS.md', import.meta.url), 'utf8')

test('the receiver of the guide verifies signatures, processes each event once, and rejects requests from others', async () => {
  const program = /^```js receiver.mjs\n([\s\S]*?)^```/m.exec(guide)![1]!
  const secret = /WEBHOOK_SECRET=(whsec_\S+)/.exec(guide)![1]!
  const receiver = start({ args: ['--input-type=module', '-e', program], settings: { WEBHOOK_SECRET: secret, PORT: '0' } })
  const url = `http://127.0.0.1:${(await receiver.says(/ready at (\d+)\n/))[1]}/hook`
  const dataDir = folder('receiving')
  const server = await serving(dataDir, { CELLS: 'sandbox-us', LOG_LEVEL: 'silent' })
  const { org_id, teams, management_key } = demoIn(dataDir)
  const webhooks = `${server.url}/v1/org/${org_id}/team/${teams.us}/sandbox/webhook`
  const call = async (method: string, path: string, body?: unknown) => {
    const headers = { 'x-management-key': management_key, 'content-type': 'application/json' }
    const reply = await fetch(webhooks + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
    assert.equal(reply.status, 200)
    return (await reply.json()) as { id: string; state: string; data: { succeeded: boolean; response_status: number }[] }
  }
  const hook = (await call('POST', '', { url, secret })).id
  const message = (await call('POST', `/${hook}/test`, { event_type: 'labtest.result.critical' })).id
  await receiver.says(new RegExp(`^${message} labtest\\.result\\.critical$`, 'm'))
  await call('POST', `/${hook}/message/${message}/resend`)
  const attempts = () => call('GET', `/${hook}/message/${message}/attempt`)
  await waitUntil(async () => (await attempts()).data.length === 2)
  assert.deepEqual(
    (await attempts()).data.map((attempt) => attempt.response_status),
    [204, 204],
  )
  const forged = { 'webhook-id': 'msg_1', 'webhook-timestamp': '1614265330', 'webhook-signature': 'v1,AAAA' }
  assert.equal((await fetch(url, { method: 'POST', headers: forged, body: '{}' })).status, 401)
  assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 401)
  assert.equal(receiver.stdout().split(message).length, 2, 'worked once')
  receiver.child.kill('SIGTERM')
  assert.equal(await server.end('SIGTERM'), 0)
})

test('the guide shows the current retry schedule', () => {
  assert.deepEqual(settings.webhook_schedule_s.default, [0, 5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 10 * 3600])
  assert.match(guide, /at once, then 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h/)
})
