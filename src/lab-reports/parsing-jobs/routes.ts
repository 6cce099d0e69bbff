import { badRequest } from '../../platform/http/errors.ts'
import { multiTransactionOperation, operation } from '../../platform/http/operation.ts'
import { WorkerLimitExceeded } from '../../platform/runtime/worker-pool.ts'
import type { Inspection } from '../reading/file.task.ts'
import type { FileProcesses } from '../reading/opened-files.ts'
import type { ReportFile } from '../reading/read-report.ts'
import { exampleReport } from './example-report.ts'
import { assertMayUpload, createJob, readJob } from './parsing-jobs.ts'
import type { ReportFiles } from './report-files.ts'
import { JobParams, ParsingJob } from './schema.ts'
import { BODY_BYTES_MAX, contentOf, readUpload } from './upload.ts'

export interface UploadDependencies {
  files: ReportFiles
  /** Opens uploads. */
  processes: FileProcesses
  /** The most bytes of one file. */
  file_bytes_max: () => number
}

const problems: Record<Extract<Inspection, { problem: string }>['problem'], string> = {
  corrupt: 'The PDF is damaged or cannot be read',
  encrypted: 'The PDF is encrypted',
  no_pages: 'The PDF has no pages',
  too_many_pages: 'The PDF has more than 30 pages',
  picture: 'The image cannot be decoded',
}

export const parsingJobsRoutes = ({ files, processes, file_bytes_max }: UploadDependencies) => [
  multiTransactionOperation({
    id: 'create_lab_report_parser_job',
    logsAccess: true,
    method: 'POST',
    path: '/lab_report/v1/parser/job',
    summary: 'Upload a lab report of a user for parsing',
    description:
      'A form of type `multipart/form-data` with the report in `file` (one PDF, or up to 8 images, which are its pages in that order), the `user_id`, and optionally `needs_human_review`. The report is read on this server in the background: `lab_report.parsing_job.created` and `lab_report.parsing_job.updated` tell how far it is. 400: a file that is empty, damaged, no PDF, JPEG or PNG or not what it was sent as, more than 30 pages, more than 8 files, several files with a PDF among them, or 300 reports of a sandbox team. 413: a file of more than 10 MB (`REPORT_FILE_MAX`), or 30 MiB together. 429: nine uploads of the team are waiting to be opened already. 503: too many uploads wait, or the storage of the files cannot be reached.',
    file: true,
    form_file: {
      required: ['file', 'user_id'],
      properties: {
        file: { type: 'array', items: { type: 'string', format: 'binary' } },
        user_id: { type: 'string', format: 'uuid' },
        needs_human_review: { type: 'boolean', default: false },
      },
    },
    // The text of the file that is sent.
    example: { user_id: '01890000-0000-7000-8000-000000000001', file: exampleReport },
    body_bytes_max: BODY_BYTES_MAX,
    reply: ParsingJob,
    idempotency: { scope: 'create_lab_report_parser_job', retention_s: 86_400 },
    run: async ({ tenant, cells, headers, changes }, { file, hasIdempotencyKey }) => {
      const upload = readUpload(file, headers['content-type'] as string | undefined, { file_bytes_max: file_bytes_max() })
      if (hasIdempotencyKey) changes.bind(contentOf(upload))
      const earlier = await changes.earlier<ParsingJob>()
      if (earlier) return earlier
      const db = cells.db(tenant.cell)
      await db.tx(tenant, (tx) => assertMayUpload(tx, upload))
      const found = await inspectInProcess(processes, tenant.team, upload.files)
      if ('problem' in found) throw badRequest(problems[found.problem])
      const storedFiles = await files.store((execute) => db.tx(tenant, execute), upload.files)
      return changes.make((tx) => createJob(tx, storedFiles, upload, found.pages))
    },
  }),
  operation({
    id: 'get_lab_report_parser_job',
    logsAccess: true,
    method: 'GET',
    path: '/lab_report/v1/parser/job/{job_id}',
    summary: 'Show a lab report that was uploaded for parsing',
    description: '`data` is filled once the `status` is `completed`.',
    params: JobParams,
    reply: ParsingJob,
    run: (tx, { params }) => readJob(tx, params.job_id),
  }),
]

const task = new URL('../reading/file.task.ts', import.meta.url)

/** Opens the files in a child process: a document that takes it too long or too much memory is refused as damaged. */
async function inspectInProcess(processes: FileProcesses, team: string, files: ReportFile[]): Promise<Inspection> {
  try {
    return await processes.run<Inspection>(team, task, 'inspectFiles', files)
  } catch (error) {
    if (error instanceof WorkerLimitExceeded) return { problem: 'corrupt' }
    throw error
  }
}
