import { eraseTables } from '../../platform/db/erasure.ts'
import type { Module } from '../../platform/module/module.ts'
import type { ReportFiles } from '../parsing-jobs/report-files.ts'
import type { FileProcesses } from '../reading/opened-files.ts'
import { PagePictures } from './pictures.ts'
import { reviewRoutes } from './routes.ts'
import { DAY_S } from '../../platform/runtime/durations.ts'

export interface ReviewModuleDependencies {
  files: ReportFiles
  settings: { report_files_days: number }
  processes: FileProcesses
}

export const review = ({ files, settings, processes }: ReviewModuleDependencies): Module => ({
  name: 'lab-reports/review',
  about: 'corrections and approval by people',
  tag: 'lab-reports',
  tables: { ofTeams: ['parsing_job_correction'] },
  operations: reviewRoutes({
    pictures: new PagePictures(files, processes),
    files_kept_s: () => settings.report_files_days * DAY_S,
  }),
  // Those of a user go with the job.
  erasers: { team: eraseTables('parsing_job_correction') },
})
