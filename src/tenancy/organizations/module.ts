import type { Module } from '../../platform/module/module.ts'
import { routes } from './routes.ts'

export const organizations: Module = {
  name: 'tenancy/organizations',
  tag: 'management',
  tables: { others: ['org'] },
  operations: routes,
}
