// The stored files of lab reports, as the server of the tests has them.
import { ReportFiles } from '../../src/lab-reports/parsing-jobs/report-files.ts'
import { openStorages } from '../../src/platform/stored-files/open-storages.ts'
import { StoredFiles } from '../../src/platform/stored-files/stored-files.ts'
import { settings, vault } from './server.ts'

export const storedFiles = new StoredFiles({ kind: () => settings.report_storage, storages: () => openStorages(settings) })
export const reportFiles = new ReportFiles(vault, storedFiles)
