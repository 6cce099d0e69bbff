import type { Module } from '../../platform/module/module.ts'

export const layout: Module = {
  name: 'lab-reports/layout',
  about: 'from words to lines, columns, rows and metadata',
}
