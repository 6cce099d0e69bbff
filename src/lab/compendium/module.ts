import type { Module } from '../../platform/module/module.ts'
import { routes } from './routes.ts'

export const compendium = (): Module => ({
  name: 'lab/compendium',
  about: 'comparison of the tests that laboratories offer; only reads',
  tag: 'catalog',
  operations: routes(),
})
