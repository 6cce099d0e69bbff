import type { Module } from '../../platform/module/module.ts'

export const fanOut: Module = {
  name: 'events/fan-out',
  about: 'from outbox entries to destinations',
}
