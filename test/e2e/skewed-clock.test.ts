// Workers whose clocks differ share one database: what each of them takes is taken once.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { mailServer } from '../support/smtp-server.ts'
import { uuid } from '../../src/platform/runtime/uuid.ts'
import { identifyLabs } from '../support/identified-labs.ts'
import { shipping } from '../support/people.ts'
import { startSmsGateway } from '../support/sms-gateway.ts'
import { caller, connectionOf, demoIn, stopAll, folder, onDatabase, serving, start, waitUntil } from '../support/program.ts'
import { drawbridgeSkewed } from '../support/faults/skewed-clock.ts'

after(stopAll)

const MAILS = 60
const MESSAGES = 100
const ORDERS = 100
/** So slow that a mail or a message is in flight while the other worker looks for work. */
const ANSWER_MS = 250

test('a skewed process has a clock that is ahead or behind', async () => {
  for (const [seconds, text] of [
    [60, 'Date.now() - Number(process.env.REAL_MS)'],
    [-60, 'new Date().getTime() - Number(process.env.REAL_MS)'],
  ] as const) {
    const args = ['--import', './test/support/faults/skewed-date.ts', '-p', text]
    const { stdout, exitStatus } = start({ args, settings: { CLOCK_SKEW_S: String(seconds), REAL_MS: String(Date.now()) } })
    assert.equal(await exitStatus, 0)
    assert(Math.abs(Number(stdout()) / 1000 - seconds) < 30, stdout())
  }
})

test('workers whose clocks are right, 60 s ahead and 150 s ahead send each mail and message once and run each job once', async () => {
  const dataDir = folder('skewed')
  const cells = {
    CELLS: 'sandbox-us,production-us',
    LOG_LEVEL: 'silent',
    DATABASE_CONNECTIONS: '4',
    ORDERS_WITHOUT_INTEGRATION: 'on',
  }
  const server = await serving(dataDir, cells, 'serve')
  const demo = demoIn(dataDir)
  await identifyLabs({ DATA_DIR: dataDir, CELLS: 'production-us' }, ['production-us'])
  const api = caller(server.url, demo.api_keys['production-us'])
  const { user_id } = (await api.post('/v2/user', { client_user_id: 'testa' })).body
  const lab_test_id = (await api.get('/v3/lab_tests')).body[0].id as string
  const place = () => api.post('/v3/order/testkit', { user_id, lab_test_id, shipping_details: shipping })
  const orders = await Promise.all(Array.from({ length: ORDERS }, place))
  for (const { status } of orders) assert.equal(status, 200)
  const count = (table: string) =>
    onDatabase(connectionOf(dataDir), async (client) => {
      const { rows } = await client.query<{ n: number }>(`select count(*)::int as n from ${table}`)
      return rows[0]!.n
    })
  await onDatabase(connectionOf(dataDir), async (client) => {
    await client.query(
      `insert into control.mail (id, recipient, subject, body, created_at, expires_at, state, attempts, due_at)
         select gen_random_uuid(), 'testa-' || n || '@example.com', 'A subject', 'A text', now(), now() + interval '1 day', 'waiting', 0, now()
         from generate_series(1, $1::int) n`,
      [MAILS],
    )
    await client.query(
      `insert into sandbox_us.patient_message
           (order_id, id, team_id, kind, channel, recipient, body, created_at, state, attempts, due_at)
         select gen_random_uuid(), id, (select id from sandbox_us.team limit 1), 'ordered', 'sms', '+15550100199', 'A text', now(), 'waiting', 0, now()
         from unnest($1::uuid[]) id`,
      [Array.from({ length: MESSAGES }, uuid)],
    )
  })

  const gateway = await startSmsGateway(() => sleep(ANSWER_MS, 202))
  const peer = await mailServer(() => undefined, {
    maxClients: 100,
    onRcptTo: (_address, _session, callback) => void setTimeout(callback, ANSWER_MS),
  })
  const settings = {
    ...cells,
    DATA_DIR: dataDir,
    LOG_LEVEL: 'info',
    SMTP_URL: `${peer.url}?tls=off`,
    MAIL_FROM: 'clinic@clinic.example',
    SMS_URL: gateway.url,
    SMS_FROM: 'Harbor Clinic',
  }
  const workers = [0, 60, 150].map((ahead_s) => drawbridgeSkewed(ahead_s, 'work', settings))
  for (const worker of workers) await worker.says(/Worker started/)
  await waitUntil(async () => (await count(`control.mail where state <> 'sent'`)) === 0)
  await waitUntil(async () => (await count(`sandbox_us.patient_message where state = 'waiting'`)) === 0)
  await waitUntil(async () => (await count('production_us.job')) === 0)
  for (const worker of workers) worker.child.kill('SIGTERM')
  for (const worker of workers) assert.equal(await worker.exitStatus, 0)
  const lines = workers.flatMap((worker) =>
    worker
      .err()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, string>),
  )

  const runs = lines
    .filter(({ job, cell }) => job === 'orders.dispatch' && cell === 'production-us')
    .map((line) => line['job.id'])
  const recipients = peer.taken.map(({ to }) => to.join())
  const references = gateway.asked.map(({ reference }) => reference)
  const counted = (items: unknown[]) => ({ all: items.length, different: new Set(items).size })
  const once = (n: number) => ({ all: n, different: n })
  assert.deepEqual(
    { jobs: counted(runs), mails: counted(recipients), messages: counted(references) },
    { jobs: once(ORDERS), mails: once(MAILS), messages: once(MESSAGES) },
  )
  assert.equal(await server.end('SIGTERM'), 0)
})
