import type { Module } from '../../platform/module/module.ts'

export const loinc: Module = {
  name: 'lab-reports/loinc',
  about: 'what rows of reports mean: LOINC terms, names, units, plausibility; changes no value',
  tables: { others: ['loinc_release_term'] },
}
