import type { Module } from '../../platform/module/module.ts'

export const catalog: Module = {
  name: 'events/catalog',
  about: 'the types of events of all modules, and their samples',
}
