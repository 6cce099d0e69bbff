// The modules of lab reports, from the bottom up.
import type { Vault } from '../platform/crypto/vault.ts'
import type { Module } from '../platform/module/module.ts'
import type { StoredFiles } from '../platform/stored-files/stored-files.ts'
import { parsingJobs, type ReportDependencies } from './parsing-jobs/module.ts'
import { ReportFiles } from './parsing-jobs/report-files.ts'
import { FileProcesses } from './reading/opened-files.ts'
import { review } from './review/module.ts'

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
  return [
    {
      name: 'lab-reports/loinc',
      about: 'LOINC terms, names, units, plausibility of rows',
      tables: { others: ['loinc_release_term'] },
    },
    {
      name: 'lab-reports/pages',
      about: 'words and pictures of pages',
    },
    {
      name: 'lab-reports/ocr',
      about: 'text recognition',
    },
    {
      name: 'lab-reports/texts',
      about: 'meaning of single texts: dates, labels, names, antibiotics',
    },
    {
      name: 'lab-reports/tables',
      about: 'from words to rows of results',
    },
    {
      name: 'lab-reports/heading',
      about: 'metadata: patient, dates, specimen, laboratory',
    },
    {
      name: 'lab-reports/reading',
      about: 'a report from its files to its results',
    },
    parsingJobs(parts),
    review(parts),
  ]
}
