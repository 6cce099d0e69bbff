import type { Module } from '../../platform/module/module.ts'

export const heading: Module = {
  name: 'lab-reports/heading',
  about: 'labels and metadata: patient, dates, specimen, laboratory',
}
