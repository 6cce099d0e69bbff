import type { Module } from '../../platform/module/module.ts'
import type { Log } from '../../platform/telemetry/log.ts'
import type { FileProcesses } from '../reading/opened-files.ts'
import { eventTypes } from './event-types.ts'
import { humanReview } from './features.ts'
import { eraseJobs, eraseJobsOfTeam } from './parsing-jobs.ts'
import { encryptedKeyColumn, type ReportFiles } from './report-files.ts'
import { parsingJobsRoutes } from './routes.ts'
import { ReportParser } from './run-job.ts'

interface ReportSettings {
  report_file_max_mb: number
  report_threads: number
  report_files_days: number
  report_ocr_models?: string | undefined
  thread_idle_ms?: number | undefined
}

export interface ReportDependencies {
  files: ReportFiles
  log: Log
  settings: ReportSettings
  /** Opens uploads. */
  processes: FileProcesses
}

const MB = 1024 * 1024

export function parsingJobs({ files, log, settings, processes }: ReportDependencies): Module {
  const parser = new ReportParser(() => ({
    files,
    processes: settings.report_threads,
    files_kept_days: settings.report_files_days,
    ocr_models: settings.report_ocr_models,
    idle_ms: settings.thread_idle_ms,
    log,
    onConfined: ({ isMemoryLimited, isOffline }) => {
      const fields = { memory: isMemoryLimited ? 'limited by the kernel' : 'watched', network: isOffline ? 'none' : 'open' }
      log[isMemoryLimited ? 'info' : 'warn'](fields, 'lab reports are read in a process of their own')
    },
  }))
  return {
    name: 'lab-reports/parsing-jobs',
    about: 'uploaded reports, files, parsed results',
    tag: 'lab-reports',
    tables: { ofTeams: ['parsing_job'] },
    operations: parsingJobsRoutes({ files, processes, file_bytes_max: () => settings.report_file_max_mb * MB }),
    jobs: [parser.handler],
    services: [{ start: () => {}, stop: () => processes.close() }],
    workers: [() => parser],
    // With each row up to 1 MiB is deleted.
    eventTypes,
    features: [humanReview],
    encryptedColumns: [encryptedKeyColumn],
    erasers: { user: eraseJobs, team: eraseJobsOfTeam },
  }
}
