import type { Module } from '../module/module.ts'

export const db: Module = { name: 'platform/db', tables: { others: ['migration', 'readiness'] } }
