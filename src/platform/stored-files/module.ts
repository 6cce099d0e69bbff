import type { Module } from '../module/module.ts'
import type { StoredFiles } from './stored-files.ts'

export const storedFiles = (files: StoredFiles): Module => ({
  name: 'platform/stored-files',
  about: 'files of other modules, on disk, in an object store or in the database. Not what they hold, nor their encryption',
  tables: { others: ['stored_file'] },
  periodicTasks: [files.cleanup],
  services: [{ start: () => {}, stop: () => files.close() }],
})
