// Pictures of the pages of a report, for the person who reviews it. The job draws each page once and stores its picture with the files. A page
// whose picture is not there is drawn when it is asked for: one that the job could not draw in time, or of a report that an earlier
// program has read.
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { FileReply } from '../../platform/http/operation.ts'
import { Problem, unavailable } from '../../platform/runtime/problem.ts'
import { StorageUnavailable } from '../../platform/stored-files/file-storage.ts'
import { findPage, type FoundPage } from '../parsing-jobs/jobs-in-review.ts'
import { ReportFileMissing, type ReportFiles, type RunTx } from '../parsing-jobs/report-files.ts'
import type { FileProcesses } from '../reading/opened-files.ts'

const task = new URL('../reading/file.task.ts', import.meta.url)

export class PagePictures {
  readonly #files: ReportFiles
  readonly #processes: FileProcesses

  constructor(files: ReportFiles, processes: FileProcesses) {
    this.#files = files
    this.#processes = processes
  }

  /**
   * The picture of a page, at most 2,400 pixels high and wide. Errors: those of `findPage` and `FileProcesses`; 400 the page cannot be drawn
   * within its limits; 404 its file is lost; 503 the storage of the files cannot be reached.
   */
  async draw(runRead: RunTx, job_id: string, number: number): Promise<FileReply> {
    const { found, team } = await runRead(async (tx: Tx) => ({
      found: await findPage(tx, this.#files, job_id, number),
      team: tx.team,
    }))
    try {
      const picture =
        (found.picture && (await this.#files.readPicture(found.job, found.picture))) ?? (await this.#drawn(team, found))
      return new FileReply('image/png', `${job_id}-${number}.png`, picture)
    } catch (error) {
      if (error instanceof StorageUnavailable) throw unavailable('The files of this report cannot be reached now; try again', 5)
      if (error instanceof ReportFileMissing) throw notFound('The files of this report cannot be found')
      throw error
    }
  }

  async #drawn(team: string, { job, files, file: index, page }: FoundPage): Promise<Uint8Array> {
    const file = await this.#files.read(job, files, index)
    try {
      return await this.#processes.run<Uint8Array>(team, task, 'drawPageAsPng', { file, page })
    } catch (error) {
      throw error instanceof Problem ? error : badRequest('The page cannot be drawn')
    }
  }
}
