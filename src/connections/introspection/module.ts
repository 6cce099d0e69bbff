import type { Module } from '../../platform/module/module.ts'
import { routes } from './routes.ts'

export const introspection: Module = {
  name: 'connections/introspection',
  about: 'what came in from whom, and what did not',
  tag: 'introspection',
  operations: routes,
}
