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
      about: 'what rows of reports mean: LOINC terms, names, units, plausibility; changes no value',
      tables: { others: ['loinc_release_term'] },
    },
    {
      name: 'lab-reports/pages',
      about: 'the words of a page with their places, pictures of pages',
    },
    {
      name: 'lab-reports/ocr',
      about: 'the words of pictures of pages: upright, straight, recognized',
    },
    {
      name: 'lab-reports/texts',
      about: 'what texts of a report say by themselves: dates, labels, names, antibiotics, the patient',
    },
    {
      name: 'lab-reports/tables',
      about: 'from words to lines, cells, columns and rows of results',
    },
    {
      name: 'lab-reports/heading',
      about: 'labels and metadata: patient, dates, specimen, laboratory',
    },
    {
      name: 'lab-reports/reading',
      about: 'a report from its files to its results, stage by stage',
    },
    parsingJobs(parts),
    review(parts),
  ]
}
