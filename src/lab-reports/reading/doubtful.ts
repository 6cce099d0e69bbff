// Whether a row may be misread. The process that serves requests imports it, and nothing that reads files.
import type { ReportResult } from './result.ts'

/** Whether something of a row cannot be right, in how it was read or in what it means. */
export const isDoubtful = ({ findings }: Pick<ReportResult, 'findings'>): boolean => findings.length > 0
