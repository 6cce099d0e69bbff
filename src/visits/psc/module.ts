import type { Module } from '../../platform/module/module.ts'
import { isProduction } from '../../lab/catalog/load.ts'
import { loadSandboxSites } from './load-sandbox-sites.ts'
import { pscRoutes, type PscDependencies } from './routes.ts'

export const psc = (dependencies: PscDependencies): Module => ({
  name: 'visits/psc',
  about: 'service centers: directory, search, import',
  tag: 'psc',
  tables: { others: ['psc_directory_version', 'psc_site'] },
  operations: pscRoutes(dependencies),
  referenceData: async (db, offers) => {
    if (offers && !isProduction(db)) await loadSandboxSites(db)
  },
})
