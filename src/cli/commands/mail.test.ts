// Emails by command: listed, shown, and sent again.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { cells } from '../../../test/support/server.ts'
import { mailServer } from '../../../test/support/smtp-server.ts'
import { command } from '../../../test/support/commands.ts'
import { plainSenderTo, writeMail, storedMail } from '../../../test/support/mail.ts'

describe('by command', () => {
  test('emails are listed with their state, and shown with their text', async () => {
    const server = await mailServer((smtpCommand, recipient) =>
      smtpCommand === 'RCPT' && recipient.startsWith('refused') ? 550 : undefined,
    )
    const sent = await writeMail()
    const refused = await writeMail({ to: `refused-${randomUUID()}@example.com` })
    await plainSenderTo(server).runOnce()
    const waiting = await writeMail()
    const listed = (await command(cells, ['mail', 'list', '--cell', 'all'])).split('\n')
    const line = (recipient: string) => listed.find((text) => text.includes(recipient))!
    assert.match(line(sent), /control +\S+ {2}sent, 1 attempts {2}/)
    assert.match(line(refused), /failed, 1 attempts, EENVELOPE 550 {2}/)
    assert.match(line(waiting), /waiting, 0 attempts {2}/)
    const show = (recipient: string) => command(cells, ['mail', 'show', line(recipient).split(' ')[0]!, '--cell', 'control'])
    assert.match(await show(waiting), /Subject {2}A subject\n\nA text\n/)
    assert.match(await show(refused), /\nA text\n/)
    assert.doesNotMatch(await show(sent), /A text/)
  })
  test('failed emails are listed without recipient and text, and sent again when retried', async () => {
    let code: number | undefined = 550
    const server = await mailServer((smtpCommand, recipient) =>
      smtpCommand === 'RCPT' && recipient.startsWith('refused') ? code : undefined,
    )
    const to = await writeMail({ to: `refused-${randomUUID()}@example.com` })
    const expired = await writeMail({ lifetime_s: -1 })
    await plainSenderTo(server).runOnce()
    const { id } = await storedMail(to)
    const listed = JSON.parse(await command(cells, ['mail', 'failed', '--cell', 'all', '--json'])) as Record<string, unknown>[]
    const one = listed.find((row) => row.id === id)!
    assert.deepEqual(
      { ...one, created_at: typeof one.created_at, failed_at: typeof one.failed_at },
      {
        id,
        cell: 'control',
        attempts: 1,
        error: 'EENVELOPE 550',
        next_at: null,
        created_at: 'string',
        failed_at: 'string',
      },
    )
    assert.doesNotMatch(JSON.stringify(listed), /example\.com|A subject|A text/)
    code = undefined
    const { id: expiredId } = await storedMail(expired)
    const retried = JSON.parse(await command(cells, ['mail', 'retry', id, expiredId, '--cell', 'control', '--json']))
    assert.deepEqual(retried, { retried: [{ id, cell: 'control' }], not_found: [expiredId] })
    await plainSenderTo(server).runOnce()
    assert.equal((await storedMail(to)).state, 'sent')
  })
  test('an invalid id is rejected', async () => {
    for (const words of [['mail'], ['mail', 'show'], ['mail', 'show', 'x'], ['mail', 'show', randomUUID()]])
      await assert.rejects(command(cells, words), { name: 'Error' })
  })
})
