import { defineHook } from '../../platform/db/hooks.ts'
import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { teamPlaced } from '../../tenancy/teams/team-hooks.ts'
import { seedStandardTests } from './lab-tests.ts'
import type { LabAccess } from './labs.ts'
import { loadCatalog } from './load.ts'
import { catalogRoutes } from './routes.ts'

/** @param access what lab accounts say of a lab */
export const catalog = (access: LabAccess): Module => ({
  name: 'lab/catalog',
  about: 'labs, markers, lab tests, order sets, prices',
  tag: 'catalog',
  tables: {
    ofTeams: ['lab_test', 'lab_test_marker'],
    others: ['analyte', 'catalog_data_version', 'lab', 'marker', 'marker_analyte'],
  },
  operations: catalogRoutes(access),
  // A new sandbox team gets lab tests that it can order.
  hooks: [
    defineHook(teamPlaced, (tx) => {
      if (tx.tenant.cell.startsWith('sandbox')) return seedStandardTests(tx)
    }),
  ],
  erasers: { team: eraseTables('lab_test_marker', 'lab_test') },
  referenceData: (db, offers) => loadCatalog(db, { offers }),
})
