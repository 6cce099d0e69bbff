import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, test } from 'node:test'
import pino from 'pino'
import { mailServer } from '../../../test/support/smtp-server.ts'
import { MailSender } from '../../platform/mail/mail-sender.ts'
import { parseSmtpUrl } from '../../platform/mail/smtp.ts'
import { SECONDS_PER_DAY, advanceClock, patient, createOrder, advanceTo } from '../../../test/support/orders.ts'
import { startSmsGateway } from '../../../test/support/sms-gateway.ts'
import { cells, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { SmsSender } from './sms-sender.ts'
import { heldMail } from '../messages/messages.ts'
import { command } from '../../../test/support/commands.ts'

const listMessages = async ({ api }: TestTeam, id: string) => (await api.get(`/v3/order/${id}/messages`)).body.data

/** Removes the waiting text messages of other tests of this file. */
const quiet = () => cells.db('sandbox-us').pool.query(`delete from patient_message where state = 'waiting'`)

/** Makes waiting messages older by a number of seconds, and their retries due earlier. */
const later = (seconds: number) =>
  cells
    .db('sandbox-us')
    .pool.query(`update patient_message set due_at = due_at - make_interval(secs => $1) where state = 'waiting'`, [seconds])

function courier(url: string) {
  let lines = ''
  const log = pino(
    {},
    new Writable({ write: (chunk: Buffer, _encoding, callback) => callback(void (lines += chunk.toString())) }),
  )
  const sms = { url, token: 'fictional-token', from: 'Harbor Clinic' }
  return { carrier: new SmsSender({ cells, sms, log }), lines: () => lines }
}

describe('text messages', { concurrency: 1 }, () => {
  test('hands text messages to the gateway once, with a unique reference, and logs nothing of them', async () => {
    await quiet()
    const team = await createTestTeam()
    const { url, asked } = await startSmsGateway()
    const { id } = await createOrder(team)
    const [before] = await listMessages(team, id)
    assert.equal(before.state, 'waiting')
    const { carrier, lines } = courier(url)
    assert.equal(await carrier.runOnce(), 1)
    assert.equal(await carrier.runOnce(), 0)
    const body = { from: 'Harbor Clinic', to: patient.phone_number, text: before.body, reference: before.id }
    assert.deepEqual(asked, [{ reference: before.id, authorization: 'Bearer fictional-token', body }])
    assert.deepEqual(await listMessages(team, id), [{ ...before, state: 'sent' }])
    assert.match(lines(), /text message sent/)
    assert.doesNotMatch(lines(), /5550100199|fictional-token|order has been placed|kit has been/)
  })

  for (const [failure, error] of [
    [503, 'HTTP 503'],
    [429, 'HTTP 429'],
    [302, 'HTTP 302'],
    ['never', 'UND_ERR_SOCKET'],
  ] as const)
    test(`retries a text message later with the same reference when the reply is ${failure}`, async () => {
      await quiet()
      const team = await createTestTeam()
      const { url, asked } = await startSmsGateway((index) => (index === 0 ? failure : 200))
      const { id } = await createOrder(team)
      const first = courier(url)
      assert.deepEqual([await first.carrier.runOnce(), await first.carrier.runOnce()], [1, 0])
      const [put] = await listMessages(team, id)
      assert.deepEqual([put.state, put.error], ['waiting', error])
      assert.doesNotMatch(first.lines(), /swordfish|5550100199/)
      await later(15)
      assert.equal(await courier(url).carrier.runOnce(), 1)
      assert.equal(new Set(asked.map(({ reference }) => reference)).size, 1)
      const [sent] = await listMessages(team, id)
      assert.deepEqual([asked.length, sent.state, sent.error], [2, 'sent', null])
    })

  test('marks text messages as failed when the gateway rejects them permanently', async () => {
    await quiet()
    const team = await createTestTeam()
    const { url, asked } = await startSmsGateway(() => 400)
    const { id } = await createOrder(team)
    await courier(url).carrier.runOnce()
    await later(SECONDS_PER_DAY / 2)
    await courier(url).carrier.runOnce()
    const [message] = await listMessages(team, id)
    assert.deepEqual([asked.length, message.state, message.error], [1, 'failed', 'HTTP 400'])
  })

  test('marks text messages as failed after six attempts', async () => {
    await quiet()
    const team = await createTestTeam()
    const { url, asked } = await startSmsGateway(() => 500)
    const { id } = await createOrder(team)
    for (let attempt = 0; attempt < 10; attempt++) {
      await courier(url).carrier.runOnce()
      await later(7300)
    }
    const [message] = await listMessages(team, id)
    assert.deepEqual([asked.length, message.state, message.error], [6, 'failed', 'HTTP 500'])
  })

  test('marks unsent text messages as failed after a day', async () => {
    await quiet()
    const team = await createTestTeam()
    const { url, asked } = await startSmsGateway()
    const { id } = await createOrder(team)
    await team.db.pool.query(`update patient_message set id = ('01890000' || substr(id::text, 9))::uuid where order_id = $1`, [
      id,
    ])
    await courier(url).carrier.runOnce()
    const [message] = await listMessages(team, id)
    assert.deepEqual([asked.length, message.state, message.error], [0, 'failed', 'expired'])
  })

  test('ignores the late outcome of a worker whose text message another worker has claimed', async () => {
    for (const [answer, state, due] of [
      [503, 'waiting', 'later'],
      [202, 'sent', null],
    ] as const) {
      await quiet()
      const team = await createTestTeam()
      const { id } = await createOrder(team)
      const { url } = await startSmsGateway(async () => {
        await team.db.pool.query(
          `update patient_message set owner = gen_random_uuid(), fence = fence + 1, due_at = due_at + interval '2 hours' where order_id = $1`,
          [id],
        )
        return answer
      })
      await courier(url).carrier.runOnce()
      const { rows } = await team.db.pool.query(
        `select state, error, case when due_at > now() + interval '1 hour' then 'later' end as due from patient_message where order_id = $1`,
        [id],
      )
      assert.deepEqual(rows, [{ state, error: null, due }])
    }
  })

  test('holds text messages to a deleted user, and sends them when the deletion is undone within their lifetime', async () => {
    for (const isUndone of [false, true]) {
      await quiet()
      const [team, other] = [await createTestTeam(), await createTestTeam()]
      const { url, asked } = await startSmsGateway()
      const user_id = await team.user()
      const { id } = await createOrder(team, { user_id })
      await createOrder(other)
      assert.equal((await team.api.delete(`/v2/user/${user_id}`)).status, 200)
      const { carrier } = courier(url)
      while ((await carrier.runOnce()) > 0);
      assert.equal(asked.length, 1, 'the message of the other team alone')
      if (isUndone) await team.api.post(`/v2/user/undo_delete?user_id=${user_id}`)
      await later(601)
      while ((await carrier.runOnce()) > 0);
      assert.equal(asked.length, isUndone ? 2 : 1)
      const { rows } = await team.db.pool.query('select state, attempts from patient_message where order_id = $1', [id])
      assert.deepEqual(rows, [isUndone ? { state: 'sent', attempts: 1 } : { state: 'waiting', attempts: 0 }])
    }
  })

  test('lists failed text messages without recipient or text, and sends them again when retried', async () => {
    await quiet()
    const team = await createTestTeam()
    const { url, asked } = await startSmsGateway((index) => (index === 0 ? 400 : 200))
    const { id: order_id } = await createOrder(team)
    await courier(url).carrier.runOnce()
    const [{ id }] = await listMessages(team, order_id)
    const text = await command(cells, ['text-messages', 'list', '--json'])
    assert.doesNotMatch(text, /5550100199|order has been placed/)
    const row = (JSON.parse(text) as Record<string, unknown>[]).find((message) => message.id === id)!
    assert.deepEqual(
      [row.cell, row.team_id, row.order_id, row.attempts, row.error],
      ['sandbox-us', team.team, order_id, 1, 'HTTP 400'],
    )
    await command(cells, ['text-messages', 'retry', id])
    assert.equal(await courier(url).carrier.runOnce(), 1)
    const [sent] = await listMessages(team, order_id)
    assert.deepEqual([asked.length, sent.state, sent.error], [2, 'sent', null])
    await assert.rejects(command(cells, ['text-messages', 'retry', id]), /None of these/)
  })

  test('sends text messages immediately for a team whose clock is ahead', async () => {
    await quiet()
    const team = await createTestTeam()
    await advanceClock(team, 40 * SECONDS_PER_DAY)
    const { url, asked } = await startSmsGateway()
    await createOrder(team)
    assert.equal(await courier(url).carrier.runOnce(), 1)
    assert.equal(asked.length, 1)
  })
})

test('an email goes through the email outbox and shows its delivery state', async () => {
  const team = await createTestTeam()
  const server = await mailServer()
  const { id } = await createOrder(team, { lab_test_id: await team.test('walk_in_test') })
  await advanceTo(team, id, 'requisition_created')
  const mail = async () => (await listMessages(team, id)).find(({ channel }: { channel: string }) => channel === 'email')
  assert.equal((await mail()).state, 'waiting')
  const smtp = { ...parseSmtpUrl(`${server.url}?tls=off`)!, from: 'lab@example.org' }
  const post = new MailSender({ cells, smtp, log: pino({ level: 'silent' }), isHeld: heldMail })
  while ((await post.runOnce()) > 0);
  const taken = server.taken.filter(({ to }) => to.includes(patient.email))
  assert.match(taken[0]!.text, /^Subject: Your laboratory requisition is ready\r$/m)
  assert.equal((await mail()).state, 'sent')
})

test('holds an email to a deleted user, and sends it when the deletion is undone within its lifetime', async () => {
  const [team, server] = [await createTestTeam(), await mailServer()]
  const smtp = { ...parseSmtpUrl(`${server.url}?tls=off`)!, from: 'lab@example.org' }
  const post = new MailSender({ cells, smtp, log: pino({ level: 'silent' }), isHeld: heldMail })
  const user_id = await team.user()
  const address = `deleted-${user_id}@example.com`
  const patient_details = { ...patient, email: address }
  const { id } = await createOrder(team, { user_id, patient_details, lab_test_id: await team.test('walk_in_test') })
  await advanceTo(team, id, 'requisition_created')
  assert.equal((await team.api.delete(`/v2/user/${user_id}`)).status, 200)
  const carried = async () => {
    await team.db.pool.query(`update mail set due_at = due_at - interval '601 seconds' where recipient = $1`, [address])
    while ((await post.runOnce()) > 0);
    const { rows } = await team.db.pool.query('select state, attempts from mail where recipient = $1', [address])
    return { taken: server.taken.filter(({ to }) => to.includes(address)).length, ...rows[0] }
  }
  for (let poll = 0; poll < 9; poll++) assert.deepEqual(await carried(), { taken: 0, state: 'waiting', attempts: 0 })
  await team.api.post(`/v2/user/undo_delete?user_id=${user_id}`)
  assert.deepEqual(await carried(), { taken: 1, state: 'sent', attempts: 1 })
})

test('erases text messages and emails with the user', async () => {
  const team = await createTestTeam()
  const user_id = await team.user()
  const { id } = await createOrder(team, { user_id, lab_test_id: await team.test('walk_in_test') })
  const other = await createOrder(team, { lab_test_id: await team.test('walk_in_test') })
  await advanceTo(team, id, 'requisition_created')
  await advanceTo(team, other.id, 'requisition_created')
  const count = async (table: string, where: string, value: string) =>
    (await team.db.pool.query(`select 1 from ${table} where ${where} = $1`, [value])).rowCount
  const { rows } = await team.db.pool.query('select mail_id from patient_message where order_id = $1 and mail_id is not null', [
    id,
  ])
  assert.equal(await count('mail', 'id', rows[0].mail_id), 1)
  await team.api.delete(`/v2/user/${user_id}`)
  await advanceClock(team, 8 * SECONDS_PER_DAY)
  assert.equal(await count('patient_message', 'order_id', id), 0)
  assert.equal(await count('mail', 'id', rows[0].mail_id), 0)
  assert.notEqual(await count('patient_message', 'order_id', other.id), 0)
})
