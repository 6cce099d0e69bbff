// Documents that are rendered on request: read, then render, so that no database connection is held while a thread renders.
import type { Tx } from '../db/transaction.ts'
import { unavailable } from '../runtime/problem.ts'
import { WorkerPoolBusy, type WorkerPool } from '../runtime/worker-pool.ts'
import type { MultiTransactionContext } from '../http/operation.ts'
import { FileReply } from '../http/operation.ts'

/** A render job: the file name, and the input of the task. */
export interface RenderJob<I = unknown> {
  name: string
  input: I
}

/** `<id>.pdf`, without characters that a header or a file system rejects. */
export const pdfFileName = (id: string): string => `${id.replace(/[^\w.-]/g, '_').slice(0, 100)}.pdf`

/**
 * Renders the result of `read` with a task, by the default export of its module or the named one. 503: too many documents are being
 * rendered.
 */
export async function renderPdf(
  pool: WorkerPool,
  { tenant, cells }: MultiTransactionContext,
  task: { url: URL; name?: string },
  read: (tx: Tx) => Promise<RenderJob>,
): Promise<FileReply> {
  const { name, input } = await cells.db(tenant.cell).read(tenant, read)
  try {
    const bytes = await pool.run<Uint8Array>(task.url, input, task.name === undefined ? {} : { name: task.name })
    return new FileReply('application/pdf', name, bytes)
  } catch (error) {
    throw error instanceof WorkerPoolBusy ? unavailable('Too many documents are being rendered; try again', 2) : error
  }
}
