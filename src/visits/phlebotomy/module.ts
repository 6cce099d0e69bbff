import type { Vault } from '../../platform/crypto/vault.ts'
import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { visitEnded } from './booking.ts'
import { phlebotomyRoutes } from './routes.ts'
import { simulateVisitHandler } from './sandbox-visit-job.ts'
import { scheduleVisitHandler } from './visit-progress.ts'
import { visitConstraints } from './visits.ts'

export const phlebotomy = ({ vault }: { vault: Vault }): Module => ({
  name: 'visits/phlebotomy',
  about: 'at-home phlebotomy',
  tag: 'phlebotomy',
  tables: { ofTeams: ['phlebotomy_visit'], others: ['phlebotomist'] },
  operations: phlebotomyRoutes(vault),
  jobs: [scheduleVisitHandler, simulateVisitHandler],
  hooks: [visitEnded],
  constraints: visitConstraints,
  erasers: { team: eraseTables('phlebotomy_visit') },
})
