import type { Module } from '../../platform/module/module.ts'
import type { SmsSettings } from '../../platform/sms/sms-gateway.ts'
import { SmsSender, type SmsSenderOptions } from './sms-sender.ts'

export interface SmsDependencies extends Omit<SmsSenderOptions, 'sms'> {
  /** The gateway for text messages; undefined: messages are recorded but not sent. */
  sms: SmsSettings | undefined
}

export const sms = ({ cells, sms: gateway, log }: SmsDependencies): Module => ({
  name: 'notifications/sms',
  about: 'the sender of text messages',
  workers: gateway ? [() => new SmsSender({ cells, sms: gateway, log })] : [],
})
