// Mail by the program itself: an invite reaches its receiver through an SMTP server, once however many workers there are, over TLS,
// and also when the worker that had it buffered is killed.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { settings } from '../../src/settings/settings.ts'
import { certificate, mailServer } from '../support/smtp-server.ts'
import {
  connectionOf,
  demoIn,
  runCli,
  stopAll,
  folder,
  onDatabase,
  outcome,
  serving,
  start,
  waitUntil,
  type Server,
  type ServerProcess,
} from '../support/program.ts'

after(stopAll)

const MAIL_FROM = 'clinic@clinic.example'
const quick = { CELLS: 'sandbox-us', LOG_LEVEL: 'silent' }
const dataDir = folder('mail')
/** Without an SMTP server; workers have one. */
let server: Server
before(async () => {
  server = await serving(dataDir, quick, 'serve')
})

async function hire(settings: Record<string, string>): Promise<ServerProcess> {
  const worker = runCli('work', { DATA_DIR: dataDir, ...quick, MAIL_FROM, ...settings })
  await worker.says(/Worker started/)
  return worker
}

async function invite(email: string) {
  const { org_id, management_key } = demoIn(dataDir)
  const headers = { 'x-management-key': management_key, 'content-type': 'application/json' }
  const reply = await fetch(`${server.url}/v1/org/${org_id}/invite`, { method: 'POST', headers, body: JSON.stringify({ email }) })
  assert.deepEqual([reply.status, await reply.json()], [200, { status: 'invite_created' }])
}

const control = <R>(text: string): Promise<R[]> =>
  onDatabase(
    { ...connectionOf(dataDir), options: '-c search_path=control' },
    async (client) => (await client.query(text)).rows as R[],
  )

test('without an SMTP server an invite is stored and can be read by command; workers with one send it once, over TLS', async () => {
  await invite('testa@example.com')
  const show = (...words: string[]) => {
    const { stdout, err, exitStatus } = start({
      args: ['src/cli/entry.js', 'mail', ...words, '--cell', 'control'],
      settings: { DATA_DIR: dataDir, ...quick },
    })
    return exitStatus.then((code) => ({ code, stdout: stdout(), err: err() }))
  }
  const listed = await show('list')
  assert.match(listed.stdout, /waiting, 0 attempts {2}testa@example\.com {2}You are invited to Drawbridge Demo\n$/)
  const id = listed.stdout.split(' ')[0]!
  assert.match((await show('show', id)).stdout, /with this token: inv_/)
  assert.deepEqual(await show('show', '1'), {
    code: 2,
    stdout: '',
    err: 'drawbridge: mail show requires the id of an email. See "bin/drawbridge mail show --help".\n',
  })

  const peer = await mailServer()
  const trusted = `${dataDir}.pem`
  writeFileSync(trusted, certificate)
  const settings = { SMTP_URL: `smtp://clinic:swordfish@localhost:${peer.port}`, NODE_EXTRA_CA_CERTS: trusted }
  const workers = await Promise.all([hire(settings), hire(settings)])
  await invite('testb@example.com')
  await waitUntil(() => peer.taken.length >= 2)
  await waitUntil(async () => (await control(`select 1 from mail where state = 'sent'`)).length === 2)
  assert.deepEqual(peer.taken.map(({ to }) => to.join()).sort(), ['testa@example.com', 'testb@example.com'])
  for (const { tls, user, from, text } of peer.taken) {
    assert.deepEqual([tls, user, from], [true, 'clinic', MAIL_FROM])
    assert.match(text.replaceAll('=\r\n', ''), /with this token: inv_/)
  }
  assert.doesNotMatch((await show('show', id)).stdout, /inv_/)
  for (const worker of workers) worker.child.kill('SIGTERM')
  assert.deepEqual(await Promise.all(workers.map(({ exitStatus }) => exitStatus)), [0, 0])
})

test('an email claimed by a killed worker is sent by another with the same id', async () => {
  let silent = true
  const peer = await mailServer((command) => (command === 'DATA' && silent ? 'never' : undefined))
  const settings = { SMTP_URL: `${peer.url}?tls=off` }
  const victim = await hire(settings)
  await invite('testc@example.com')
  await waitUntil(() => peer.asked.includes('DATA'))
  victim.child.kill('SIGKILL')
  await victim.exitStatus
  silent = false
  const [had] = await control<{ id: string; state: string; attempts: number }>(
    `select id, state, attempts from mail where recipient = 'testc@example.com'`,
  )
  assert.deepEqual([had!.state, had!.attempts], ['waiting', 1])
  // The lease of the dead worker, which would end by itself.
  await control(`update mail set due_at = created_at, leased_until = created_at where state = 'waiting'`)
  const heir = await hire(settings)
  await waitUntil(() => peer.taken.length > 0)
  assert.deepEqual(
    peer.taken.map(({ id }) => id),
    [`<${had!.id}@clinic.example>`],
  )
  heir.child.kill('SIGTERM')
  assert.deepEqual([await heir.exitStatus, await server.end('SIGTERM')], [0, 0])
})

test('invalid mail settings are rejected before any data is created', async () => {
  const { code, err } = await outcome('start', {
    DATA_DIR: folder('mail-refused'),
    SMTP_URL: 'smtp://a:swordfish@mail.example?x',
  })
  assert.deepEqual(
    [code, err],
    [1, `drawbridge: SMTP_URL must be ${settings.smtp_url.expected}.\nMAIL_FROM must be set when SMTP_URL is.\n`],
  )
})
