import type { Module } from '../../platform/module/module.ts'
import { constraints, type DomainNeeds } from './domains.ts'
import { routes } from './routes.ts'

export const domains = (needs: DomainNeeds): Module => ({
  name: 'tenancy/domains',
  tag: 'management',
  tables: { others: ['org_domain'] },
  operations: routes(needs),
  constraints,
})
