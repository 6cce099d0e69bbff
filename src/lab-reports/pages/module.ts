import type { Module } from '../../platform/module/module.ts'

export const pages: Module = {
  name: 'lab-reports/pages',
  about: 'the words of a page with their places, pictures of pages',
}
