import type { Module } from '../module/module.ts'
import { mailCleanup } from './mail-outbox.ts'
import { MailSender, type MailSenderOptions } from './mail-sender.ts'
import type { SmtpSettings } from './smtp.ts'

export interface MailDependencies extends Omit<MailSenderOptions, 'smtp'> {
  /** The SMTP server; undefined: emails stay in the outbox, where the operator reads them. */
  smtp: SmtpSettings | undefined
}

export const mail = ({ smtp, ...options }: MailDependencies): Module => ({
  name: 'platform/mail',
  about: 'email outbox, sender, SMTP',
  tables: { others: ['mail'] },
  periodicTasks: [mailCleanup],
  workers: smtp ? [() => new MailSender({ ...options, smtp })] : [],
})
