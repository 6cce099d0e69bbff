import type { Cells } from '../db/cells.ts'
import type { Module } from '../module/module.ts'
import type { Log } from '../telemetry/log.ts'
import { mailCleanup } from './mail-outbox.ts'
import { MailSender, type MailSenderOptions } from './mail-sender.ts'
import type { SmtpSettings } from './smtp.ts'

export interface MailDependencies {
  cells: Cells
  /** The SMTP server; undefined: emails stay in the outbox, where the operator reads them. */
  smtp: SmtpSettings | undefined
  log: Log
  /** Which emails of a cell must not be sent now. */
  isHeld: MailSenderOptions['isHeld']
}

export const mail = ({ cells, smtp, log, isHeld: held }: MailDependencies): Module => ({
  name: 'platform/mail',
  about: 'email outbox, sender, SMTP',
  tables: { others: ['mail'] },
  periodicTasks: [mailCleanup],
  workers: smtp ? [() => new MailSender({ cells, smtp, log, isHeld: held })] : [],
})
