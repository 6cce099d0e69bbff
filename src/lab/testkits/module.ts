import type { Module } from '../../platform/module/module.ts'
import { routes } from './routes.ts'

export const testkits: Module = {
  name: 'lab/testkits',
  about: 'kits, registration, shipments',
  tag: 'testkits',
  operations: routes,
}
