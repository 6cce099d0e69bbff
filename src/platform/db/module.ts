import type { Module } from '../module/module.ts'

export const db: Module = {
  name: 'platform/db',
  about: 'transactions, statements, connections, cells, migrations, row-level security, leases of rows',
  tables: { others: ['migration', 'readiness'] },
}
