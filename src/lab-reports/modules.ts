// The modules of lab reports, from the bottom up.
import type { Module } from '../platform/module/module.ts'
import { layout } from './layout/module.ts'
import { loinc } from './loinc/module.ts'
import { ocr } from './ocr/module.ts'
import { pages } from './pages/module.ts'
import { parsingJobs, type ReportDependencies } from './parsing-jobs/module.ts'
import { reading } from './reading/module.ts'
import { FileThreads } from './reading/opened-files.ts'
import { review } from './review/module.ts'

export function labReports(dependencies: Omit<ReportDependencies, 'threads'>): Module[] {
  const threads = new FileThreads()
  return [loinc, pages, ocr, layout, reading, parsingJobs({ ...dependencies, threads }), review({ ...dependencies, threads })]
}
