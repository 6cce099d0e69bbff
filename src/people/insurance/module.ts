import type { Module } from '../../platform/module/module.ts'
import { eraseTables, eraseTablesOfUser } from '../../platform/db/erasure.ts'
import { loadInsuranceData } from './load.ts'
import { insuranceRoutes } from './routes.ts'

export const insurance: Module = {
  name: 'people/insurance',
  about: 'payors, diagnoses, insurances',
  tag: 'insurance',
  tables: { ofTeams: ['insurance'], others: ['icd_code', 'icd_exclusion', 'insurance_data_version', 'payor'] },
  operations: insuranceRoutes,
  erasers: { user: eraseTablesOfUser('insurance'), team: eraseTables('insurance', 'payor') },
  referenceData: loadInsuranceData,
}
