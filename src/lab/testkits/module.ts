import type { Module } from '../../platform/module/module.ts'
import { routes } from './routes.ts'

export const testkits: Module = { name: 'lab/testkits', tag: 'testkits', operations: routes }
