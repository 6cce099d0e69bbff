import type { Vault } from '../../platform/crypto/vault.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import type { Module } from '../../platform/module/module.ts'
import { cleanup } from '../../platform/queue/retention.ts'
import { eraseImports } from './imports.ts'
import { fileImportsRoutes } from './routes.ts'
import { ImportRunner } from './run-import.ts'
import { encryptedKeyColumn } from './stored-file.ts'

export function fileImports(dependencies: { vault: Vault }): Module {
  const runner = new ImportRunner(dependencies)
  return {
    name: 'connections/file-imports',
    about: 'files of health data, and their readers',
    tag: 'file-imports',
    tables: { ofTeams: ['file_import', 'file_import_part'] },
    operations: fileImportsRoutes(dependencies),
    jobs: Object.values(runner.handlers),
    workers: [() => runner],
    // With each row up to 1 GiB of parts are deleted.
    periodicTasks: [cleanup({ table: 'file_import', column: 'expires_at', rows_max: 1 })],
    encryptedColumns: [encryptedKeyColumn],
    erasers: { user: eraseImports, team: eraseTables('file_import_part', 'file_import') },
  }
}
