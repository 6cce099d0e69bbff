import type { Cells } from '../../platform/db/cells.ts'
import type { Module } from '../../platform/module/module.ts'
import type { SmsSettings } from '../../platform/sms/sms-gateway.ts'
import type { Log } from '../../platform/telemetry/log.ts'
import { SmsSender } from './sms-sender.ts'

export interface SmsDependencies {
  cells: Cells
  /** The gateway for text messages; undefined: messages are recorded but not sent. */
  sms: SmsSettings | undefined
  log: Log
}

export const sms = ({ cells, sms: gateway, log }: SmsDependencies): Module => ({
  name: 'notifications/sms',
  about: 'the sender of text messages',
  workers: gateway ? [() => new SmsSender({ cells, sms: gateway, log })] : [],
})
