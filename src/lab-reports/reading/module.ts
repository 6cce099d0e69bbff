import type { Module } from '../../platform/module/module.ts'

export const reading: Module = {
  name: 'lab-reports/reading',
  about: 'a report from its files to its results, stage by stage',
}
