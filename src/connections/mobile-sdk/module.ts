import type { Module } from '../../platform/module/module.ts'
import { routes } from './routes.ts'

export const mobileSdk: Module = {
  name: 'connections/mobile-sdk',
  about: 'what phones send',
  tag: 'mobile-sdk',
  operations: routes,
}
