// The modules of lab reports, from the bottom up.
import type { Module } from '../platform/module/module.ts'
import { parsingJobs } from './parsing-jobs/module.ts'

export const labReports: Module[] = [parsingJobs]
