import type { Module } from '../../platform/module/module.ts'
import { routes } from './routes.ts'

export const audit: Module = {
  name: 'tenancy/audit',
  about: 'reading the audit log and the access log',
  tag: 'management',
  operations: routes,
}
