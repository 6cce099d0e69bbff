// The modules of lab reports, from the bottom up.
import type { Vault } from '../platform/crypto/vault.ts'
import type { Module } from '../platform/module/module.ts'
import type { StoredFiles } from '../platform/stored-files/stored-files.ts'
import { heading } from './heading/module.ts'
import { loinc } from './loinc/module.ts'
import { ocr } from './ocr/module.ts'
import { pages } from './pages/module.ts'
import { parsingJobs, type ReportDependencies } from './parsing-jobs/module.ts'
import { ReportFiles } from './parsing-jobs/report-files.ts'
import { reading } from './reading/module.ts'
import { FileProcesses } from './reading/opened-files.ts'
import { review } from './review/module.ts'
import { tables } from './tables/module.ts'
import { texts } from './texts/module.ts'

export interface LabReportDependencies extends Omit<ReportDependencies, 'processes' | 'files'> {
  vault: Vault
  storedFiles: StoredFiles
}

export function labReports({ vault, storedFiles, ...dependencies }: LabReportDependencies): Module[] {
  const parts = {
    ...dependencies,
    processes: new FileProcesses({ idle_ms: dependencies.settings.thread_idle_ms }),
    files: new ReportFiles(vault, storedFiles),
  }
  return [loinc, pages, ocr, texts, tables, heading, reading, parsingJobs(parts), review(parts)]
}
