import type { Module } from '../module/module.ts'

export const sms: Module = {
  name: 'platform/sms',
  about: 'sends one text message to a gateway',
}
