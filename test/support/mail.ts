// Emails in the outbox, and senders that the tests call themselves, so that nothing waits.
import { randomUUID } from 'node:crypto'
import { cells } from './server.ts'
import { createLog } from '../../src/platform/telemetry/log.ts'
import { MailSender } from '../../src/platform/mail/mail-sender.ts'
import { sendMail, type NewMail } from '../../src/platform/mail/mail-outbox.ts'
import { parseSmtpUrl, type SmtpSettings } from '../../src/platform/mail/smtp.ts'

const log = createLog('silent')
export const smtpSettings = (url: string, sender = 'Fictional Clinic <clinic@clinic.example>'): SmtpSettings => ({
  ...parseSmtpUrl(url)!,
  from: sender,
})
/** No email of these tests has a subject who is a user. */
export const noAddresses = async () => new Set<string>()
export const senderTo = (url: string, sender?: string) =>
  new MailSender({ cells, smtp: smtpSettings(url, sender), log, isHeld: noAddresses })
export const plainSenderTo = ({ url }: { url: string }) => senderTo(`${url}?tls=off`)
export const mailAddress = () => `testa-${randomUUID()}@example.com`

export async function writeMail(changes: Partial<NewMail> = {}): Promise<string> {
  const to = changes.to ?? mailAddress()
  await cells.control.plainTx(async (tx) => sendMail(tx, { to, subject: 'A subject', text: 'A text', ...changes }))
  return to
}
export const storedMail = async (recipient: string) => {
  const { rows } = await cells.control.pool.query(
    'select id, state, attempts, error, body, due_at from mail where recipient = $1',
    [recipient],
  )
  const { id, state, attempts, error, body } = rows[0]
  return { id, state, attempts, error, body }
}
