import type { Module } from '../module/module.ts'

export const config: Module = {
  name: 'platform/config',
  about: 'settings, read once at the start',
}
