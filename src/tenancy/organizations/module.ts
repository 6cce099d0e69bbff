import type { Module } from '../../platform/module/module.ts'
import { routes } from './routes.ts'

export const organizations: Module = {
  name: 'tenancy/organizations',
  about: 'name, plan, expiry, lock; not their teams',
  tag: 'management',
  tables: { others: ['org'] },
  operations: routes,
}
