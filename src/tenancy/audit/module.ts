import type { Module } from '../../platform/module/module.ts'
import { routes } from './routes.ts'

export const audit: Module = { name: 'tenancy/audit', tag: 'management', operations: routes }
