import type { Module } from '../../platform/module/module.ts'
import { domainConstraints, type DomainDependencies } from './domains.ts'
import { domainsRoutes } from './routes.ts'

export const domains = (dependencies: DomainDependencies): Module => ({
  name: 'tenancy/domains',
  about: 'white-label domains',
  tag: 'management',
  tables: { others: ['org_domain'] },
  operations: domainsRoutes(dependencies),
  constraints: domainConstraints,
})
