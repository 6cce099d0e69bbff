import type { Module } from '../module/module.ts'

export const telemetry: Module = {
  name: 'platform/telemetry',
  about: 'log and metrics, both without patient data',
}
