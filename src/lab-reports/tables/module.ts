import type { Module } from '../../platform/module/module.ts'

export const tables: Module = {
  name: 'lab-reports/tables',
  about: 'from words to lines, cells, columns and rows of results',
}
