import type { Module } from '../../platform/module/module.ts'

export const fanOut: Module = {
  name: 'events/fan-out',
  about: 'copies the events of outbox entries to destinations',
}
