import type { Module } from '../../platform/module/module.ts'

export const connectorsModule: Module = {
  name: 'connections/connectors',
  about: 'protocols of clouds of vendors: consent, tokens, data, notifications; stores nothing',
}
