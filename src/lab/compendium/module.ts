import type { Module } from '../../platform/module/module.ts'
import { routes } from './routes.ts'

export const compendium = (): Module => ({ name: 'lab/compendium', tag: 'catalog', operations: routes() })
