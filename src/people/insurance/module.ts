import type { Module } from '../../platform/module/module.ts'
import { inOrder } from '../../platform/db/erasure.ts'
import { eraseInsurances, eraseTeamInsurances } from './insurances.ts'
import { loadInsuranceData } from './load.ts'
import { eraseTeamPayors } from './payors.ts'
import { routes } from './routes.ts'

export const insurance: Module = {
  name: 'people/insurance',
  tag: 'insurance',
  tables: { ofTeams: ['insurance'], others: ['icd_code', 'icd_exclusion', 'insurance_load', 'payor'] },
  operations: routes,
  erasers: { user: eraseInsurances, team: inOrder(eraseTeamInsurances, eraseTeamPayors) },
  referenceData: loadInsuranceData,
}
