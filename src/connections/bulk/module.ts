import { eraseTables, eraseTablesOfUser } from '../../platform/db/erasure.ts'
import type { Module } from '../../platform/module/module.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import type { VendorAccess } from '../grants/access.ts'
import { encryptedRecipeColumn } from './bulk-operations.ts'
import { bulkRoutes } from './routes.ts'
import { bulkHandler } from './run-operation.ts'

export const bulk = (access: VendorAccess): Module => ({
  name: 'connections/bulk',
  about: 'operations on connections of many users',
  tag: 'link',
  tables: { ofTeams: ['bulk_operation', 'bulk_operation_user'] },
  operations: bulkRoutes(access),
  jobs: [bulkHandler(access)],
  // With each row up to 10,000 rows of users are deleted.
  periodicTasks: [cleanup({ table: 'bulk_operation', column: 'expires_at', rows_max: 10 })],
  encryptedColumns: [encryptedRecipeColumn],
  erasers: { user: eraseTablesOfUser('bulk_operation_user'), team: eraseTables('bulk_operation_user', 'bulk_operation') },
})
