// Emails from the outbox to an SMTP server. The tests call the sender themselves, so that nothing waits.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { cells, expire, createTestTeam } from '../../../test/support/server.ts'
import { mailServer } from '../../../test/support/smtp-server.ts'
import { createLog } from '../telemetry/log.ts'
import { MailSender } from './mail-sender.ts'
import { mailCleanup, sendMail } from './mail-outbox.ts'
import {
  smtpSettings,
  noAddresses,
  senderTo,
  plainSenderTo,
  mailAddress,
  writeMail,
  storedMail,
} from '../../../test/support/mail.ts'

/** Delayed emails are due now. */
const hurry = () => cells.control.pool.query('update mail set due_at = created_at where due_at is not null')

describe('an email', () => {
  test('arrives as it was written, once, and its text is deleted', async () => {
    const server = await mailServer()
    const to = await writeMail({ subject: 'Prüfung', text: 'Ein Wört\nund noch eines' })
    const carried = plainSenderTo(server)
    await carried.runOnce()
    await hurry()
    await carried.runOnce()
    const { id, ...rest } = await storedMail(to)
    assert.deepEqual(rest, { state: 'sent', attempts: 1, error: null, body: null })
    const [one, ...more] = server.taken
    assert.deepEqual([one!.from, one!.to, one!.id, more], ['clinic@clinic.example', [to], `<${id}@clinic.example>`, []])
    assert.match(one!.text, /^From: Fictional Clinic <clinic@clinic\.example>\r$/m)
    assert.match(one!.text, /^Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000\r$/m)
    assert.match(one!.text, /^Subject: =\?UTF-8\?Q\?Pr=C3=BCfung\?=\r$/m)
    assert.match(one!.text, /Ein W=C3=B6rt\r\nund noch eines/)
  })

  test('of a transaction that is rolled back is never sent', async () => {
    const server = await mailServer()
    const to = mailAddress()
    await assert.rejects(
      cells.control.plainTx(async (tx) => {
        sendMail(tx, { to, subject: 'A subject', text: 'A text' })
        throw new Error('undone')
      }),
    )
    await plainSenderTo(server).runOnce()
    assert.deepEqual(server.taken, [])
  })

  test('of a cell is sent too', async () => {
    const server = await mailServer()
    const { db, tenant } = await createTestTeam()
    const to = mailAddress()
    await db.tx(tenant, async (tx) => sendMail(tx, { to, subject: 'A subject', text: 'A text' }))
    await plainSenderTo(server).runOnce()
    assert.deepEqual(
      server.taken.map((mail) => mail.to),
      [[to]],
    )
  })

  test('is sent by exactly one of several senders', async () => {
    const server = await mailServer()
    const all = await Promise.all(Array.from({ length: 12 }, () => writeMail()))
    const couriers = [plainSenderTo(server), plainSenderTo(server), plainSenderTo(server)]
    while ((await Promise.all(couriers.map((courier) => courier.runOnce()))).some((count) => count > 0));
    assert.deepEqual(server.taken.flatMap(({ to }) => to).sort(), all.sort())
  })

  for (const [command, code] of [
    ['RCPT', 450],
    ['DATA', 451],
  ] as const)
    test(`that is delayed with ${code} at ${command} is sent later, with the same id`, async () => {
      let asked = 0
      const server = await mailServer((smtpCommand) => (smtpCommand === command && ++asked < 3 ? code : undefined))
      const to = await writeMail()
      const carried = plainSenderTo(server)
      await carried.runOnce()
      const { state, attempts, error } = await storedMail(to)
      assert.deepEqual([state, attempts, error], ['waiting', 1, `${command === 'RCPT' ? 'EENVELOPE' : 'EMESSAGE'} ${code}`])
      assert.equal(await carried.runOnce(), 0)
      for (let i = 0; i < 2; i++) {
        await hurry()
        await carried.runOnce()
      }
      const after = await storedMail(to)
      assert.deepEqual([after.state, after.attempts, after.error], ['sent', 3, null])
      assert.deepEqual(
        server.taken.map(({ id }) => id),
        [`<${after.id}@clinic.example>`],
      )
    })

  for (const [command, code] of [
    ['RCPT', 550],
    ['DATA', 554],
  ] as const)
    test(`that is rejected with ${code} at ${command} fails permanently, and keeps its text`, async () => {
      const server = await mailServer((smtpCommand) => (smtpCommand === command ? code : undefined))
      const to = await writeMail()
      const carried = plainSenderTo(server)
      await carried.runOnce()
      await hurry()
      await carried.runOnce()
      const { state, attempts, error, body } = await storedMail(to)
      assert.deepEqual([state, attempts, body], ['failed', 1, 'A text'])
      assert.match(error, new RegExp(` ${code}$`))
      assert.equal(server.asked.filter((smtpCommand) => smtpCommand === command).length, 1)
    })

  test('is tried seven times and no more', async () => {
    const to = await writeMail()
    const carried = senderTo('smtp://127.0.0.1:1?tls=off')
    for (let i = 0; i < 9; i++) {
      await carried.runOnce()
      await hurry()
    }
    const { state, attempts, error } = await storedMail(to)
    assert.deepEqual([state, attempts, error], ['failed', 7, 'ESOCKET'])
  })

  test('is marked failed after seven interrupted attempts', async () => {
    const server = await mailServer()
    const to = await writeMail()
    await cells.control.pool.query('update mail set attempts = 7 where recipient = $1', [to])
    await plainSenderTo(server).runOnce()
    const { state, error } = await storedMail(to)
    assert.deepEqual([state, error, server.taken], ['failed', 'interrupted', []])
  })

  test('that has waited too long is not sent any more', async () => {
    const server = await mailServer()
    const to = await writeMail({ lifetime_s: -1 })
    await plainSenderTo(server).runOnce()
    const { state, attempts, error } = await storedMail(to)
    assert.deepEqual([state, attempts, error, server.taken], ['failed', 0, 'expired', []])
  })

  test('of a killed sender is sent when its lease ends, and a late failure of the former owner changes nothing', async () => {
    const to = await writeMail()
    const lapsed = Promise.withResolvers<void>()
    const inHand = Promise.withResolvers<void>()
    const stuck = await mailServer(async (smtpCommand) => {
      if (smtpCommand !== 'RCPT') return undefined
      inHand.resolve()
      await lapsed.promise
      return 450
    })
    const former = plainSenderTo(stuck).runOnce()
    await inHand.promise
    const server = await mailServer()
    await plainSenderTo(server).runOnce()
    assert.equal(server.taken.length, 0, 'it is leased')
    await cells.control.pool.query(
      `update mail set leased_until = now() - interval '1 second', due_at = created_at where recipient = $1`,
      [to],
    )
    await plainSenderTo(server).runOnce()
    lapsed.resolve()
    await former
    const { state, attempts, error } = await storedMail(to)
    assert.deepEqual([state, attempts, error, server.taken.map((mail) => mail.to)], ['sent', 2, null, [[to]]])
  })

  test('is neither lost nor sent if the password is wrong', async () => {
    const server = await mailServer()
    const to = await writeMail()
    await senderTo(`smtp://someone:wrong@127.0.0.1:${server.port}?tls=off`).runOnce()
    const { state, error } = await storedMail(to)
    assert.deepEqual([state, error, server.taken], ['waiting', 'EAUTH 535', []])
    await hurry()
    await senderTo(`smtp://some%40one:right@127.0.0.1:${server.port}?tls=off`).runOnce()
    assert.deepEqual(
      server.taken.map(({ user }) => user),
      ['some@one'],
    )
  })

  test('has one recipient for any form of address', async () => {
    const server = await mailServer()
    await writeMail({ to: 'testa@example.com, other@example.com' })
    await plainSenderTo(server).runOnce()
    assert.deepEqual(
      server.taken.filter(({ to }) => to.length > 1 || to.includes('other@example.com')),
      [],
    )
    await assert.rejects(writeMail({ to: 'testa@example.com\r\nBcc: other@example.com' }))
    await assert.rejects(writeMail({ subject: 'A subject\nBcc: other@example.com' }))
  })

  test('is deleted after thirty days', async () => {
    const to = await writeMail()
    await cells.control.pool.query(`update mail set created_at = created_at - interval '29 days' where recipient = $1`, [to])
    await expire(cells.control, mailCleanup)
    assert.equal((await storedMail(to)).state, 'waiting')
    await cells.control.pool.query(`update mail set created_at = created_at - interval '2 days' where recipient = $1`, [to])
    await expire(cells.control, mailCleanup)
    const { rowCount } = await cells.control.pool.query('select 1 from mail where recipient = $1', [to])
    assert.equal(rowCount, 0)
  })
})

describe('nothing is sent in plain text', () => {
  for (const [what, options] of Object.entries({
    'to a server that offers no TLS': { disabledCommands: ['STARTTLS'] },
    'to a server whose certificate nobody vouches for': {},
  }))
    test(`${what}, unless the settings say so`, async () => {
      const server = await mailServer(undefined, options)
      const to = await writeMail()
      await senderTo(server.url).runOnce()
      const { state, error } = await storedMail(to)
      assert.equal(state, 'waiting')
      assert.match(error, /^E(TLS|SOCKET)/)
      assert.deepEqual([server.taken, server.asked], [[], []])
      await hurry()
      await plainSenderTo(server).runOnce()
      assert.deepEqual(
        server.taken.map(({ tls }) => tls),
        [false],
      )
    })
})

describe('the email settings', () => {
  test('have the standard ports', () => {
    const ports = ['smtps://mail.example', 'smtp://mail.example', 'smtp://mail.example?tls=off', 'smtp://mail.example:2525'].map(
      (url) => smtpSettings(url).port,
    )
    assert.deepEqual(ports, [465, 587, 25, 2525])
  })
})

test('log lines about email have ids and codes; no address, text or password', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-log-'))
  const path = join(folder, 'log')
  const written_to = createLog('trace', { path })
  const server = await mailServer((smtpCommand, recipient) =>
    smtpCommand === 'RCPT' && recipient.startsWith('refused') ? 550 : undefined,
  )
  await writeMail({ to: 'tunafish@example.com', subject: 'marlin', text: 'marlin' })
  await writeMail({ to: 'refused-tunafish@example.com', subject: 'marlin', text: 'marlin' })
  await new MailSender({
    cells,
    smtp: smtpSettings(`smtp://herring:herring@127.0.0.1:${server.port}?tls=off`),
    log: written_to,
    isHeld: noAddresses,
  }).runOnce()
  await new Promise<void>((resolve) => written_to.flush(() => resolve()))
  const text = readFileSync(path, 'utf8')
  rmSync(folder, { recursive: true })
  assert.deepEqual([text.split('mail sent').length, text.split('mail rejected').length], [2, 2])
  for (const word of ['tunafish', 'marlin', 'herring', 'swordfish', 'example.com']) assert(!text.includes(word), word)
})
